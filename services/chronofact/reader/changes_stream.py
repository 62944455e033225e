"""One listener's stream of server-sent events, and how many of them there may be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from chronofact.contracts.changes import ChangesWanted, EventApplied, Place, Reached
from chronofact.contracts.position import Position
from chronofact.domain.errors import Rejected
from chronofact.reader.changes_feed import Entry
from chronofact.reader.changes_hub import AWAY_S, Hub, Kept, any_of
from chronofact.reader.changes_ports import ChangesSource
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.metrics import Metrics

HEARTBEAT_S: Final = 10.0
RETRY_MS: Final = 500
"""After how long a listener whose stream ended comes again."""
CATCHING_UP_MAX: Final = 2
"""Listeners that read pages of their own at once; the others wait for their turn."""


class Changes:
    """All listeners of a process: one hub a projection, and limits."""

    def __init__(
        self, source: ChangesSource, metrics: Metrics, *, listeners_max: int, heartbeat_s: float = HEARTBEAT_S
    ) -> None:
        self.source = source
        self.heartbeat_s = heartbeat_s
        self.closing = asyncio.Event()
        self.turns = asyncio.Semaphore(CATCHING_UP_MAX)
        self.sent = metrics.counter("chronofact_reader_changes_total")
        self.caught_up = metrics.counter("chronofact_reader_catch_ups_total")
        self._listeners = metrics.gauge("chronofact_reader_listeners")
        self._listeners_max = listeners_max
        self._listening = 0
        self.hubs: dict[str, Hub] = {}

    async def listen(self, tenant_id: UUID, wanted: ChangesWanted, after: Place | Position | None) -> Listener:
        """A listener from a place on, or from now; ``close`` it.

        Raises:
            Rejected: ``listeners_too_many``, ``shutting_down``, ``position_of_other_topic``.
            Transient, Unfit: Postgres is away, or nothing is projected.
        """
        if self.closing.is_set():
            raise Rejected("shutting_down", "the service is about to stop; another one takes you")
        if self._listening >= self._listeners_max:
            raise Rejected("listeners_too_many", f"{self._listeners_max} listeners follow changes here already")
        self._count(1)
        try:
            projection = await self.source.projection_of(tenant_id)
            hub = self.hubs.setdefault(projection, Hub(self.source, projection))
            joined, now = await hub.join(tenant_id)
        except BaseException:
            self._count(-1)
            raise
        listener = Listener(self, hub, tenant_id, wanted, joined, now)
        try:
            await listener.start_at(after)
        except BaseException:
            listener.close()
            raise
        return listener

    def close(self) -> None:
        """Ends every stream, each with the id to go on from."""
        self.closing.set()

    async def close_once(self, stopping: asyncio.Event) -> None:
        """Waits for the process to be told to stop, then closes."""
        await stopping.wait()
        self.close()

    def left(self) -> None:
        """One listener less."""
        self._count(-1)

    def _count(self, change: int) -> None:
        self._listening += change
        self._listeners.set(self._listening)


@dataclass(slots=True)
class Listener:
    """One stream: from its place through pages of its own to the hub's ring, and back when it was too slow for that."""

    changes: Changes
    hub: Hub
    tenant_id: UUID
    wanted: ChangesWanted
    at: int
    """Where in the ring it goes on, once ``place`` is ``until``."""
    until: Place
    place: Place = field(init=False)
    _is_in_step: bool = field(init=False, default=False)
    """Whether it has nothing that the hub had not when it kept an entry: then that entry's token is its own too."""
    _told_at: float = field(init=False, default=0.0)
    _is_open: bool = field(init=False, default=True)

    async def start_at(self, after: Place | Position | None) -> None:
        """From a place or a position on; None is now.

        Raises:
            Rejected: ``position_of_other_topic``.
            Transient: Postgres is away.
        """
        if after is None:
            self.place = self.until.copy()
            return
        if after.topic_id != self.until.topic_id:
            raise Rejected("position_of_other_topic", "the position is of another topic than the one that is read")
        if isinstance(after, Place) and after.projection == self.until.projection:
            self.place = after.copy()
            return
        named = after.reached if isinstance(after, Place) else {}
        offsets = (
            after.next_offsets if isinstance(after, Position) else {p: one.next_offset for p, one in named.items()}
        )
        # releases are counted by each projection for itself, and positions do not speak of them: those come that are
        # of offsets from there on, with all that were released after the first of these
        since = await self.changes.source.released_since(self.until, offsets)
        self.place = self.until.copy()
        for partition, next_offset in offsets.items():
            now = self.until.at(partition).released
            self.place.move(partition, Reached(next_offset, min(since.get(partition, now), now)))

    def close(self) -> None:
        """Gives its place among the listeners back; again does nothing."""
        if self._is_open:
            self._is_open = False
            self.hub.leave(self.tenant_id)
            self.changes.left()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The stream, until the service stops or the tenant's reads go elsewhere."""
        yield b"retry: %d\n" % RETRY_MS + self._token_only()
        while self._goes_on():
            async for chunk in self._catching_up():
                yield chunk
            async for chunk in self._live():
                yield chunk
        yield b": ends here, to be gone on with from this id\n" + self._token_only()

    def _goes_on(self) -> bool:
        return not self.changes.closing.is_set() and self.hub.serves(self.tenant_id)

    async def _catching_up(self) -> AsyncIterator[bytes]:
        """From the database, until where it joined the ring."""
        if self.place.is_past(self.until):
            return
        self.changes.caught_up.inc()
        while self._goes_on() and not self.place.is_past(self.until):
            try:
                async with self.changes.turns:
                    page = await self.hub.feed.page(self.place, self.until, self.wanted)
            except (Transient, Unfit):
                await any_of(self.changes.closing, timeout_s=AWAY_S)
            else:
                chunk = self._of_page(page.entries)
                self.place = page.place
                if chunk:
                    yield chunk
            if self._is_silent():
                yield self._heartbeat()

    async def _live(self) -> AsyncIterator[bytes]:
        """From the ring, as long as it keeps up."""
        self._is_in_step = self.until.is_past(self.place)
        while self._goes_on():
            moved = self.hub.moved
            taken = self.hub.take(self.at)
            if taken is None:
                self.at, self.until = self.hub.end_now()
                return
            chunk = self._of_ring(taken.kept)
            self.at = taken.end
            if taken.place is not None and taken.place.is_past(self.place):
                self.place, self._is_in_step = taken.place, True
            if chunk:
                yield chunk
            elif not taken.kept:
                left_s = self._told_at + self.changes.heartbeat_s - time.monotonic()
                await any_of(moved, self.changes.closing, timeout_s=max(left_s, 0.01))
                if self._is_silent():
                    yield self._heartbeat()

    def _of_ring(self, kept: Iterable[Kept]) -> bytes:
        """What of the ring it wants and has not had."""
        chunk: list[bytes] = []
        for entry, token in kept:
            partition, here = entry.event.partition, self.place.at(entry.event.partition)
            if entry.reached.next_offset <= here.next_offset and entry.reached.released <= here.released:
                continue
            self.place.move(partition, Reached(*map(max, entry.reached, here)))
            if self._wants(entry.event):
                chunk.append(_message(entry, token if self._is_in_step else self.place.encode()))
        return self._sent(chunk)

    def _of_page(self, entries: Iterable[Entry]) -> bytes:
        chunk: list[bytes] = []
        for entry in entries:
            self.place.move(entry.event.partition, entry.reached)
            chunk.append(_message(entry, self.place.encode()))
        return self._sent(chunk)

    def _sent(self, chunk: Sequence[bytes]) -> bytes:
        if chunk:
            self._told_at = time.monotonic()
            self.changes.sent.inc(len(chunk))
        return b"".join(chunk)

    def _wants(self, event: EventApplied) -> bool:
        wanted = self.wanted
        if event.tenant_id != str(self.tenant_id):
            return False
        if wanted.subject_id is not None and event.subject_id != str(wanted.subject_id):
            return False
        if wanted.scope is not None and (event.scope_kind, event.scope_key) != wanted.scope:
            return False
        if wanted.key is not None and event.fact_key != wanted.key:
            return False
        if wanted.prefix is not None and not event.fact_key.startswith(wanted.prefix):
            return False
        if wanted.scopes is None:
            return True
        spelled = f"{event.scope_kind}:{event.scope_key}"
        return spelled in wanted.scopes.exact or spelled.startswith(wanted.scopes.prefixes)

    def _is_silent(self) -> bool:
        return time.monotonic() - self._told_at >= self.changes.heartbeat_s

    def _heartbeat(self) -> bytes:
        return b": heartbeat\n" + self._token_only()

    def _token_only(self) -> bytes:
        """A block without data: no event for the listener, but the id to come again with."""
        self._told_at = time.monotonic()
        return b"id: " + self.place.encode().encode() + b"\n\n"


def _message(entry: Entry, token: str) -> bytes:
    return b"event: change\nid: " + token.encode() + b"\ndata: " + entry.data + b"\n\n"
