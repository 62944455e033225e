"""Follows a projection once for all listeners, and keeps what changed lately for them to take.

A listener takes from that ring while it keeps up; once it has fallen out of it, it reads pages of its own from where it
is, and joins again. So a slow listener costs nothing but its place.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from chronofact.contracts.changes import ChangesWanted, Place
from chronofact.reader.changes_feed import Entry, Feed
from chronofact.reader.changes_ports import ChangesSource
from chronofact.runtime.failures import Transient, Unfit

LOOK_S: Final = 0.02
LOOK_MAX_S: Final = 0.1
"""Between two looks at the checkpoints: the first after news, the second once nothing has come for a while."""
AWAY_S: Final = 0.5
ROUTES_S: Final = 1.0
"""Between two looks at the routes: for so long a listener still follows what its tenant was switched away from."""
RING_ENTRIES: Final = 8_192
RING_BYTES: Final = 8 * 2**20
TAKE_ENTRIES: Final = 1_000
TAKE_BYTES: Final = 256 * 2**10


class Kept(NamedTuple):
    """An entry in the ring, with the token of the place behind it."""

    entry: Entry
    token: str


class Taken(NamedTuple):
    """Some of the ring."""

    kept: list[Kept]
    end: int
    place: Place | None
    """Where the ring ends, if this reaches so far."""


class Hub:
    """One projection's news; does nothing while nobody listens."""

    def __init__(self, source: ChangesSource, projection: str) -> None:
        self.projection = projection
        self.feed = Feed(source)
        self._source = source
        self._place: Place | None = None
        self._ring: deque[Kept] = deque()
        self._bytes = 0
        self._end = 0
        self._tenants: Counter[UUID] = Counter()
        self._moved = asyncio.Event()
        self._looking = asyncio.Lock()
        self._following: asyncio.Task[None] | None = None
        self._unserved: set[UUID] = set()
        self._is_away = False
        self._is_behind = False
        """Whether the last look saw more than its page held."""

    async def join(self, tenant_id: UUID) -> tuple[int, Place]:
        """From here on the tenant's changes are kept: where in the ring, and the place there; ``leave`` ends it.

        Raises:
            Transient: Postgres is away, or no projector has begun with the projection.
        """
        async with self._looking:
            if self._place is None:
                standing = await self._source.standing(self.projection)
                if standing is None:
                    raise Transient("projection_idle", "no projector has begun with the projection yet")
                self._place = standing
            self._unserved.discard(tenant_id)
            self._tenants[tenant_id] += 1
            if self._following is None:
                self._following = asyncio.create_task(self._follow())
                self._following.add_done_callback(self._ended)
            return self._end, self._place.copy()

    def leave(self, tenant_id: UUID) -> None:
        """One listener less; the last one lets the hub forget everything."""
        self._tenants[tenant_id] -= 1
        if not self._tenants[tenant_id]:
            del self._tenants[tenant_id]
        if not self._tenants and self._following is not None:
            self._following.cancel()
            self._following = None
            self._place = None
            self._ring.clear()
            self._bytes = 0

    def take(self, at: int) -> Taken | None:
        """What the ring holds from there on, within limits; None when that has fallen out of it."""
        first = self._end - len(self._ring)
        if at < first or self._place is None:
            return None
        kept: list[Kept] = []
        size = 0
        for one in islice(self._ring, at - first, at - first + TAKE_ENTRIES):
            kept.append(one)
            size += len(one.entry.data)
            if size >= TAKE_BYTES:
                break
        end = at + len(kept)
        return Taken(kept, end, self._place.copy() if end == self._end else None)

    def end_now(self) -> tuple[int, Place]:
        """Where the ring ends, and the place there; for who has joined."""
        assert self._place is not None  # noqa: S101 - who has joined is followed for
        return self._end, self._place.copy()

    @property
    def is_followed(self) -> bool:
        """Whether anyone listens."""
        return bool(self._tenants)

    @property
    def moved(self) -> asyncio.Event:
        """Is set, and another takes its place, when the hub has come further."""
        return self._moved

    def serves(self, tenant_id: UUID) -> bool:
        """Whether the tenant was routed here when that was last looked at."""
        return tenant_id not in self._unserved

    async def look(self) -> bool:
        """One look at the projection, and a page of what is new; whether there was any.

        Raises:
            Transient, Unfit: it could not be read.
        """
        async with self._looking:
            self._is_behind = False
            standing = await self._source.standing(self.projection)
            if standing is None or self._place is None:
                return False
            if standing.topic_id != self._place.topic_id:
                self._unserved |= self._tenants.keys()
                self._tell()
                return False
            if self._place.is_past(standing):
                return False
            page = await self.feed.page(self._place, standing, ChangesWanted(tuple(self._tenants)))
            self._keep(page.entries)
            self._place = page.place
            self._is_behind = not page.place.is_past(standing)
            self._tell()
            return True

    def _keep(self, entries: Sequence[Entry]) -> None:
        assert self._place is not None  # noqa: S101 - whoever looks has one
        for entry in entries:
            self._place.move(entry.event.partition, entry.reached)
            self._ring.append(Kept(entry, self._place.encode()))
            self._bytes += len(entry.data)
        self._end += len(entries)
        while len(self._ring) > RING_ENTRIES or self._bytes > RING_BYTES:
            self._bytes -= len(self._ring.popleft().entry.data)

    def _tell(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def _follow(self) -> None:
        pause_s, routed_at = LOOK_S, time.monotonic()
        while True:
            try:
                has_news = await self.look()
                if time.monotonic() - routed_at >= ROUTES_S:
                    routed_at = time.monotonic()
                    await self._look_at_routes()
                self._say(away=False)
            except (Transient, Unfit) as failure:
                self._say(away=True, code=failure.code)
                has_news, pause_s = False, AWAY_S
            else:
                pause_s = LOOK_S if has_news else min(1.2 * max(pause_s, LOOK_S), LOOK_MAX_S)
                pause_s = 0.0 if self._is_behind else pause_s
            await asyncio.sleep(pause_s)

    async def _look_at_routes(self) -> None:
        tenants = set(self._tenants)
        gone = tenants - await self._source.served(self.projection, tenants) if tenants else set()
        if gone:
            self._unserved |= gone
            self._tell()

    def _ended(self, following: asyncio.Task[None]) -> None:
        """A fault of ours ends every stream; what it was, the event loop logs."""
        if following is self._following and not following.cancelled():
            self._following = None
            self._unserved |= self._tenants.keys()
            self._tell()

    def _say(self, *, away: bool, code: str = "") -> None:
        if away != self._is_away:
            self._is_away = away
            structlog.get_logger().warning("changes_away" if away else "changes_back", code=code)


async def any_of(*events: asyncio.Event, timeout_s: float) -> None:
    """Returns once one of them is set, or the time is over."""
    waiting = {asyncio.ensure_future(event.wait()) for event in events}
    try:
        await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
