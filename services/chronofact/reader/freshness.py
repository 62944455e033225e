"""How fresh an answer is: where its projection stood, and how far and how long behind the log that was."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import structlog

from chronofact.contracts.position import Position
from chronofact.contracts.reading import Standing, Watermarks
from chronofact.reader.ports import LogEnds
from chronofact.runtime.failures import Transient, Unfit

LOOK_S: Final = 1.0
LOOKS_KEPT: Final = 3_600
LOOK_IS_OLD_S: Final = 5.0


class LogWatch:
    """Asks again and again where the log ends, and remembers when each end was first seen."""

    def __init__(self, ends: LogEnds) -> None:
        self._ends = ends
        self._looks: deque[tuple[float, Mapping[int, int]]] = deque(maxlen=LOOKS_KEPT)
        self._seen_at = time.monotonic()
        self._is_away = False

    async def run(self) -> None:
        """Until cancelled; a broker that is away leaves the last known ends."""
        while True:
            try:
                self.saw(await asyncio.to_thread(self._ends), time.monotonic())
                self._tell(away=False)
            except (Transient, Unfit) as failure:
                self._tell(away=True, code=failure.code)
            await asyncio.sleep(LOOK_S)

    def saw(self, ends: Watermarks, now: float) -> None:
        """One look at the log."""
        self._seen_at = now
        if not self._looks or self._looks[-1][1] != ends.next_offsets:
            self._looks.append((now, dict(ends.next_offsets)))

    def behind(self, position: Position | None, now: float) -> tuple[int | None, float]:
        """Events that a position lacks (None: nobody knows), and for how many seconds it has lacked some."""
        if not self._looks:
            return None, round(now - self._seen_at, 3)
        reached: Mapping[int, int] = {} if position is None else position.next_offsets
        lag_events = _lacking(self._looks[-1][1], reached)
        unseen_s = now - self._seen_at
        if lag_events:
            since = next(at for at, ends in self._looks if _lacking(ends, reached))
            return lag_events, round(now - since, 3)
        return 0, round(unseen_s, 3) if unseen_s > LOOK_IS_OLD_S else 0.0

    def _tell(self, *, away: bool, code: str = "") -> None:
        if away != self._is_away:
            self._is_away = away
            structlog.get_logger().warning("log_away" if away else "log_back", code=code)


def _lacking(ends: Mapping[int, int], reached: Mapping[int, int]) -> int:
    return sum(max(0, end - reached.get(partition, 0)) for partition, end in ends.items())


def freshness_body(standing: Standing, watch: LogWatch, *, is_stale: bool, held: int = 0) -> dict[str, Any]:
    """What each answer says of itself."""
    lag_events, lag_s = watch.behind(standing.position, time.monotonic())
    body = {
        "projection": standing.projection,
        "rule": standing.rule,
        "position": None if standing.position is None else standing.position.encode(),
        "lag_events": lag_events,
        "lag_s": lag_s,
        "stale": is_stale or held > 0,
    }
    return {**body, "held": held} if held else body
