"""Feeds every projection that is to be fed, each in a thread of its own; what becomes of one is of no matter to the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Final, Protocol, TypeAlias

import structlog

from chronofact.projecting.parking import ParkingLimit
from chronofact.projector.loop import Projector
from chronofact.projector.stall import Stall
from chronofact.projector.telling import Telling
from chronofact.projector.turns import OfTurns
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.health import Health

PART: Final = "projections"
LOOK_S: Final = 1.0
LEAVE_S: Final = 15.0
"""How long all feeds together may take to finish their batches and leave, at the end of the process."""
SILENT_S: Final = 6.0
"""A roster that tells nothing for so long, more than a statement of it may take, is waited for no more."""
PAUSE_MIN_S: Final = 0.05
PAUSE_MAX_S: Final = 2.0
"""Between two tries of a feed to begin while Kafka or Postgres is away."""
AGAIN_S: Final = 30.0
"""A feed that something was wrong with begins anew after so long, while others go on."""


Guard: TypeAlias = Callable[[Callable[[], None], Callable[[str, str], None]], None]
"""Runs a feed to its end, and tells code and message of what ended it early."""


class Roster(Protocol):
    """Which projections are to be fed, and which of them tenants may read."""

    def to_feed(self) -> Mapping[str, bool]: ...
    def cut(self) -> None:
        """End a wait for it, from another thread."""


def refusals_told(feed: Callable[[], None], failed: Callable[[str, str], None]) -> None:
    """Feeds until it is over; tells what has to stop it."""
    try:
        feed()
    except (ParkingLimit, Corruption) as fault:
        failed(type(fault).__name__, str(fault))


class Feed:
    """One projection being fed, until it is stopped or something is wrong with us."""

    def __init__(
        self,
        projection: str,
        make: Callable[[], Projector],
        telling: Telling,
        stall: Stall,
        *,
        turn: OfTurns,
    ) -> None:
        self.projection = projection
        self.telling = telling
        self.stall = stall
        self._make = make
        self._turn = turn
        self._projector: Projector | None = None
        self._stopping = threading.Event()
        self.guard: Guard = refusals_told
        self.has_failed = False
        self._failed_at = 0.0
        self._thread = threading.Thread(target=self._run, name=f"feed-{projection}", daemon=True)

    def start(self, guard: Guard = refusals_told) -> None:
        """Begin."""
        self.guard = guard
        self._thread.start()

    def counts(self, *, is_serving: bool) -> None:
        """Whether tenants may read it: readiness depends on it then, and it goes first."""
        self._turn.is_serving = is_serving
        self.telling.counts(is_serving=is_serving)
        self.stall.counts(is_serving=is_serving)

    @property
    def may_begin_anew(self) -> bool:
        """Whether it failed, and that is a while ago."""
        return self.has_failed and time.monotonic() - self._failed_at >= AGAIN_S

    def share(self, cache_bytes_max: int) -> None:
        """How much memory its histories may take from the next batch on."""
        if self._projector is not None:
            self._projector.applier.cache.limit(cache_bytes_max)

    def ask_to_stop(self) -> None:
        """Return at once."""
        self._stopping.set()

    @property
    def is_leaving(self) -> bool:
        """Whether it was told to."""
        return self._stopping.is_set()

    @property
    def has_left(self) -> bool:
        """Whether nothing of it runs any more."""
        return not self._thread.is_alive()

    def wait(self, until: float) -> None:
        """Until it has left, or takes too long over it."""
        self._thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        structlog.contextvars.bind_contextvars(projection=self.projection)
        self.guard(self._feed, self._failed)

    def _feed(self) -> None:
        projector = self._projector = self._made()
        if projector is None:
            return
        try:
            while not self._stopping.is_set():
                self.stall.turned()
                projector.step()
        finally:
            projector.close()

    def _made(self) -> Projector | None:
        """It asks Postgres and Kafka which topic the projection is of, until both answer; None when it is told to leave."""
        pause_s = PAUSE_MIN_S
        while not self._stopping.is_set():
            self.stall.turned()
            try:
                return self._make()
            except (Transient, Unfit) as failure:
                self.telling.hindered(failure)
            self._stopping.wait(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)
        return None

    def _failed(self, code: str, message: str) -> None:
        self.telling.failed(code, message)
        self._failed_at = time.monotonic()
        self.has_failed = True


class Feeder:
    """Starts and ends feeds as the roster tells."""

    def __init__(
        self,
        roster: Roster,
        make: Callable[[str], Feed],
        health: Health,
        *,
        only: Collection[str] = (),
        cache_bytes_max: int,
        guard: Guard = refusals_told,
    ) -> None:
        self._guard = guard
        self._roster = roster
        self._make = make
        self._health = health
        self._only = only
        self._cache_bytes_max = cache_bytes_max
        self._asked_at: float | None = None
        self.feeds: dict[str, Feed] = {}
        """Those that were told to leave, too, until they have left: no other feed of the same begins before."""

    def look(self) -> bool:
        """Once a second; False when nothing is left that could go on."""
        try:
            wanted = self._wanted()
        except (Transient, Unfit) as failure:
            if not self.feeds:  # they say it themselves
                self._health.hindered(PART, failure)
            return True
        self._end([one for one in self.feeds if one not in wanted], within_s=LOOK_S)
        for projection in wanted:
            before = self.feeds.get(projection)
            if before is not None and before.is_leaving:
                self._end([projection], within_s=0)
                before = self.feeds.get(projection)
            if before is None or before.may_begin_anew:
                self.feeds[projection] = feed = self._make(projection)
                feed.start(self._guard)
        self._tell(wanted)
        for projection, feed in self.feeds.items():
            feed.counts(is_serving=wanted.get(projection, False))
            feed.share(self._cache_bytes_max // len(self.feeds))
        staying = [feed for feed in self.feeds.values() if not feed.is_leaving]
        return not staying or any(not feed.has_failed for feed in staying)

    def look_at_stalls(self) -> None:
        """Once a second, from beside all loops."""
        if (asked_at := self._asked_at) is not None and time.monotonic() - asked_at >= SILENT_S:
            self._roster.cut()
        for feed in list(self.feeds.values()):
            if not feed.has_failed:
                feed.stall.look()

    def close(self) -> None:
        """Let every feed finish its batch and leave."""
        self._end(list(self.feeds), within_s=LEAVE_S)

    def _wanted(self) -> Mapping[str, bool]:
        self._asked_at = time.monotonic()
        try:
            found = self._roster.to_feed()
        finally:
            self._asked_at = None
        return {name: serves for name, serves in found.items() if not self._only or name in self._only}

    def _tell(self, wanted: Mapping[str, bool]) -> None:
        if wanted:
            self._health.ready(PART)
            return
        named = " or ".join(sorted(self._only)) or "any"
        remedy = "run `chronofact migrate`, or start a rebuild; CHRONOFACT_FEEDS restricts which are fed here"
        missing = Unfit("projection_missing", f"there is no projection to feed, {named}", remedy=remedy)
        self._health.hindered(PART, missing)

    def _end(self, projections: Collection[str], *, within_s: float) -> None:
        """Has these leave, and forgets those that have."""
        until = time.monotonic() + within_s
        for projection in projections:
            self.feeds[projection].ask_to_stop()
        for projection in projections:
            feed = self.feeds[projection]
            feed.wait(until)
            if feed.has_left:
                del self.feeds[projection]
                feed.telling.forget()
                feed.stall.forget()
