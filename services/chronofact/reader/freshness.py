"""How fresh an answer is: where its projection stood, and how far and how long behind the log that was."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from chronofact.contracts.position import Position
from chronofact.contracts.reading import Standing, Watermarks
from chronofact.reader.ports import LogEnds
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health

LOOK_S: Final = 1.0
LOOKS_KEPT: Final = 3_600
LOOK_IS_OLD_S: Final = 5.0
"""Once the log was not heard of for so long, nothing is called fresh."""

PART: Final = "log"
"""Of /readyz, beside what readiness depends on: answers come without the log, and say how old they are."""

LOG_UNHEARD: Final = "log_unheard"
LOG_IS_ANOTHER: Final = "topic_recreated"
BEHIND: Final = "behind"
HELD: Final = "held"


class LogWatch:
    """Asks again and again where the log ends, and remembers when each end was first seen."""

    def __init__(self, ends: LogEnds, health: Health | None = None) -> None:
        self._ends = ends
        self._health = health or Health()
        self._health.counts(PART, is_needed=False)
        self._looks: deque[tuple[float, Mapping[int, int]]] = deque(maxlen=LOOKS_KEPT)
        self._topic_id: bytes | None = None
        self._seen_at = time.monotonic()
        self._asked_at = float("-inf")
        self._look: asyncio.Task[None] | None = None
        self.is_away = False
        """Whether the last look failed."""

    async def run(self) -> None:
        """Until cancelled; a broker that is away leaves the last known ends."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_S)

    async def look(self) -> None:
        """One look at the log; who asks while one is under way waits for that."""
        if self._look is None or self._look.done():
            self._look = asyncio.create_task(self._ask())
        await asyncio.shield(self._look)

    async def _ask(self) -> None:
        asked_at = time.monotonic()
        try:
            ends = await asyncio.to_thread(self._ends)
        except (Transient, Unfit) as failure:
            self.is_away = True
            self._health.hindered(PART, failure)
            return
        self.saw(ends, time.monotonic(), asked_at=asked_at)
        self.is_away = False
        self._health.ready(PART)

    def saw(self, ends: Watermarks, now: float, *, asked_at: float | None = None) -> None:
        """What a look at the log showed."""
        self._seen_at = now
        self._asked_at = now if asked_at is None else asked_at
        if ends.topic_id != self._topic_id:
            self._looks.clear()
            self._topic_id = ends.topic_id
        if not self._looks or self._looks[-1][1] != ends.next_offsets:
            self._looks.append((now, dict(ends.next_offsets)))

    def ends_since(self, instant: float) -> Watermarks | None:
        """Where the log ends, by a look that was begun at that (monotonic) instant or later."""
        if self._asked_at < instant or self._topic_id is None:
            return None
        return Watermarks(self._topic_id, self._looks[-1][1])

    def has_reached(self, position: Position) -> bool:
        """Whether the log was seen to reach a position."""
        return bool(self._looks) and position.topic_id == self._topic_id and position.is_passed_by(self._looks[-1][1])

    def behind(self, position: Position | None, now: float) -> tuple[int | None, float]:
        """Events that a position lacks (None: nobody knows), and for how many seconds it has lacked some."""
        unseen_s = round(now - self._seen_at, 3)
        if not self._looks or self._is_of_another(position):
            return None, unseen_s
        reached: Mapping[int, int] = {} if position is None else position.next_offsets
        lag_events = _lacking(self._looks[-1][1], reached)
        lag_s = 0.0
        if lag_events:
            since = next(at for at, ends in self._looks if _lacking(ends, reached))
            lag_s = round(now - since, 3)
        if unseen_s > LOOK_IS_OLD_S:
            return None, max(lag_s, unseen_s)
        return lag_events, lag_s

    def doubt(self, position: Position | None, now: float) -> str | None:
        """Why nothing at this position can be called fresh, if so."""
        if now - self._seen_at > LOOK_IS_OLD_S:
            return LOG_UNHEARD
        return LOG_IS_ANOTHER if self._is_of_another(position) else None

    def _is_of_another(self, position: Position | None) -> bool:
        return position is not None and self._topic_id is not None and position.topic_id != self._topic_id


def _lacking(ends: Mapping[int, int], reached: Mapping[int, int]) -> int:
    return sum(max(0, end - reached.get(partition, 0)) for partition, end in ends.items())


def freshness_body(
    standing: Standing,
    watch: LogWatch,
    *,
    because: str | None = None,
    lacks: Position | None = None,
    tail_events: int | None = None,
    held: int = 0,
) -> dict[str, Any]:
    """What each answer says of itself; ``because`` is why it may be older than what was asked for, ``lacks``."""
    now = time.monotonic()
    lag_events, lag_s = watch.behind(standing.position, now)
    if lacks is not None and lag_events is not None:  # the last look at the log may be older than what was asked for
        reached: Mapping[int, int] = {} if standing.position is None else standing.position.next_offsets
        lag_events = max(lag_events, _lacking(lacks.next_offsets, reached))
    because = because or watch.doubt(standing.position, now)
    body: dict[str, Any] = {
        "projection": standing.projection,
        "rule": standing.rule,
        "position": None if standing.position is None else standing.position.encode(),
        "lag_events": lag_events,
        "lag_s": lag_s,
        "stale": because is not None,
    }
    if tail_events is not None:
        body["tail_events"] = tail_events
    if because is not None:
        body["because"] = because
    return with_held(body, held)


def with_held(body: dict[str, Any], held: int) -> dict[str, Any]:
    """The same, of a fact with so many parked messages."""
    return {**body, "stale": True, "because": body.get("because", HELD), "held": held} if held else body
