"""Whoever comes again, anywhere, with any id, gets each change once and each fact's in order, released ones included."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final
from uuid import UUID

import orjson
import pytest

from chronofact.contracts.changes import (
    OPEN_END,
    OPEN_START,
    ChangesWanted,
    EventApplied,
    Place,
    Reached,
    Release,
    Said,
    Stroke,
    Window,
)
from chronofact.reader import changes_feed, changes_hub, changes_stream
from chronofact.reader.changes_hub import Hub
from chronofact.reader.changes_stream import Changes, Listener
from chronofact.runtime.metrics import Metrics

SEEDS: Final = 150
STEPS: Final = 60
PARTITIONS: Final = 3
FACTS: Final = 6
TENANTS: Final = (UUID(int=1), UUID(int=2))
TOPIC: Final = bytes(16)


@dataclass
class Applied:
    """What a projector committed, commit by commit; a view is how many of them one sees."""

    commits: int = 0
    ends: list[dict[int, Reached]] = field(default_factory=lambda: [dict.fromkeys(range(PARTITIONS), Reached(0))])
    events: list[tuple[int, EventApplied]] = field(default_factory=list)
    released: list[tuple[int, int, Release]] = field(default_factory=list)
    parked: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    seqs: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def happen(self, rng: Random) -> None:
        """One commit: some messages of a partition, or the release of a fact."""
        now = dict(self.ends[-1])
        if any(self.parked.values()) and rng.random() < 0.15:
            self._release(rng.choice([fact for fact, offsets in self.parked.items() if offsets]), now)
        else:
            partition = rng.randrange(PARTITIONS)
            for _ in range(rng.randint(1, 6)):
                self._message(partition, rng, now)
        self.commits += 1
        self.ends.append(now)

    def _message(self, partition: int, rng: Random, now: dict[int, Reached]) -> None:
        offset = now[partition].next_offset
        now[partition] = now[partition]._replace(next_offset=offset + 1)
        fact = partition + PARTITIONS * rng.randrange(FACTS)
        if self.parked[fact] or rng.random() < 0.08:
            self.parked[fact].append(offset)
        elif rng.random() < 0.9:  # else a message of no consequence
            self._event(fact, offset)

    def _release(self, fact: int, now: dict[int, Reached]) -> None:
        partition = fact % PARTITIONS
        for offset in self.parked.pop(fact):
            number = len(self.released) + 1
            self.released.append((self.commits, partition, Release(number, str(fact), offset)))
            now[partition] = now[partition]._replace(released=number)
            self._event(fact, offset)

    def _event(self, fact: int, offset: int) -> None:
        self.seqs[fact] += 1
        tenant = str(TENANTS[fact % 2])
        event = EventApplied(
            fact % PARTITIONS, offset, self.seqs[fact], f"{fact}.{self.seqs[fact]}", "FactAsserted", "", fact,
            str(fact), tenant, tenant, None, "user", "self", "key", 0, 1,
        )  # fmt: skip
        self.events.append((self.commits, event))


class View:
    """A projection as one reader sees it, some commits late."""

    def __init__(self, applied: Applied) -> None:
        self.applied = applied
        self.sees = applied.commits

    async def projection_of(self, _tenant: UUID) -> str:
        return "p1"

    async def served(self, _projection: str, tenants: Collection[UUID]) -> set[UUID]:
        return set(tenants)

    async def standing(self, projection: str) -> Place | None:
        return Place.of(TOPIC, projection, self.applied.ends[self.sees])

    def _seen(self, wanted: ChangesWanted) -> list[EventApplied]:
        tenants = {str(one) for one in wanted.tenant_ids}
        return [one for commit, one in self.applied.events if commit < self.sees and one.tenant_id in tenants]

    def _releases(self) -> dict[tuple[int, int], Release]:
        seen = (one for one in self.applied.released if one[0] < self.sees)
        return {(partition, one.offset): one for _, partition, one in seen}

    async def events(
        self, _place: Place, windows: Sequence[Window], wanted: ChangesWanted, *, limit: int
    ) -> list[EventApplied]:
        released = self._releases()
        found: list[EventApplied] = []
        for partition, first, end in windows:
            here = [one for one in self._seen(wanted) if one.partition == partition and first <= one.offset < end]
            plain = [one for one in here if (partition, one.offset) not in released]
            found += sorted(plain, key=lambda one: one.offset)[:limit]
        return found

    async def releases(self, place: Place, partition: int, *, upto: int) -> list[Release]:
        after = place.at(partition).released
        return [
            one for (there, _), one in self._releases().items() if there == partition and after < one.number <= upto
        ]

    async def released_since(self, _place: Place, next_offsets: Mapping[int, int]) -> Mapping[int, int]:
        since: dict[int, int] = {}
        for (partition, offset), one in self._releases().items():
            if offset >= next_offsets.get(partition, offset + 1):
                since[partition] = min(since.get(partition, one.number), one.number - 1)
        return since

    async def released(
        self, _projection: str, numbers: Sequence[int], wanted: ChangesWanted
    ) -> Mapping[int, EventApplied]:
        by_place = {(one.partition, one.offset): one for one in self._seen(wanted)}
        found = {one.number: by_place.get(place) for place, one in self._releases().items()}
        return {number: event for number in numbers if (event := found.get(number)) is not None}

    async def painted(self, _projection: str, events: Sequence[EventApplied]) -> list[Stroke]:
        return [
            Stroke(one.fact_no, one.event_seq, 0, "2026-01-01T00:00:00", OPEN_END, 1, None, (1,), 1) for one in events
        ]

    async def lane_before(self, _projection: str, _event: EventApplied, *, limit: int) -> list[Stroke]:
        raise AssertionError(limit)

    async def lanes(self, _projection: str, _event: EventApplied, *, first_seq: int, limit: int) -> list[Stroke]:
        raise AssertionError(first_seq, limit)

    async def said(self, _projection: str, versions: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], Said]:
        return {one: Said("v", b"1", "s", OPEN_START) for one in versions}


class SteppedHub(Hub):
    """Looks only when told."""

    async def _follow(self) -> None:
        await asyncio.Event().wait()


class Reader:
    """One reader process, which dies and comes back as another."""

    def __init__(self, applied: Applied) -> None:
        self.view = View(applied)
        self.changes = Changes(self.view, Metrics("reader"), listeners_max=9, heartbeat_s=0)
        self.hub = SteppedHub(self.view, "p1")
        self.changes.hubs["p1"] = self.hub

    async def go_on(self, rng: Random) -> None:
        """Sees some more, and its hub perhaps too."""
        self.view.sees = rng.randint(self.view.sees, self.view.applied.commits)
        while rng.random() < 0.7 and self.hub.is_followed:
            await self.hub.look()


class Customer:
    """A listener that comes and goes, and keeps what it got."""

    def __init__(self, tenant: UUID) -> None:
        self.tenant = tenant
        self.got: list[str] = []
        self.last: str | None = None
        self._listener: Listener | None = None
        self._stream: AsyncIterator[bytes] | None = None

    async def come(self, reader: Reader) -> None:
        await self.leave()
        after = None if self.last is None else Place.parse(self.last)
        self._listener = await reader.changes.listen(self.tenant, ChangesWanted((self.tenant,)), after)
        self._stream = self._listener.chunks()

    async def leave(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._listener = self._stream = None

    @property
    def is_away(self) -> bool:
        return self._stream is None

    def has_reached(self, applied: Applied) -> bool:
        place = Place.parse(self.last or "")
        assert isinstance(place, Place)
        return place.is_past(Place.of(TOPIC, "p1", applied.ends[-1]))

    async def read(self, rng: Random, *, chunks: int) -> None:
        """Some of what there is, perhaps cut off within a chunk."""
        for _ in range(chunks):
            if self._stream is None:
                return
            blocks = (await anext(self._stream)).decode().split("\n\n")[:-1]
            is_cut = self.last is not None and rng.random() < 0.1
            cut = rng.randint(0, len(blocks)) if is_cut else len(blocks)
            for block in blocks[:cut]:
                fields = dict(line.split(": ", 1) for line in block.split("\n"))
                self.last = fields["id"]
                if "data" in fields:
                    self.got.append(orjson.loads(fields["data"])["event_id"])
            if cut < len(blocks):
                await self.leave()


async def _resumed(seed: int) -> None:
    rng = Random(f"resumed {seed}")
    applied = Applied()
    for _ in range(rng.randint(0, 5)):
        applied.happen(rng)
    applied_before = len(applied.events)
    readers = [Reader(applied) for _ in range(2)]
    customers = [Customer(tenant) for tenant in (*TENANTS, TENANTS[0])]
    for one in customers:
        await one.come(rng.choice(readers))
        await one.read(rng, chunks=1)
    for _ in range(STEPS):
        applied.happen(rng)
        await rng.choice(readers).go_on(rng)
        one = rng.choice(customers)
        if rng.random() < 0.3:
            await one.come(rng.choice(readers))
        if rng.random() < 0.1:
            readers[rng.randrange(2)] = Reader(applied)
        await one.read(rng, chunks=rng.randint(0, 3))
    last = Reader(applied)
    for one in customers:
        await one.come(last)
        while not one.has_reached(applied):
            if one.is_away:
                await one.come(last)
            await one.read(rng, chunks=1)
        await one.leave()
        wanted = [event.event_id for _, event in applied.events[applied_before:] if event.tenant_id == str(one.tenant)]
        assert sorted(one.got) == sorted(wanted), f"seed {seed}"
        assert in_order(one.got), f"seed {seed}"


def in_order(got: Sequence[str]) -> bool:
    """Whether each fact's events came in theirs."""
    seqs: dict[str, int] = defaultdict(int)
    for fact, _, seq in (one.partition(".") for one in got):
        if int(seq) < seqs[fact]:
            return False
        seqs[fact] = int(seq)
    return True


def test_nothing_is_missed_or_repeated_however_one_comes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(*_events: asyncio.Event, timeout_s: float) -> None:
        assert timeout_s >= 0
        await asyncio.sleep(0)

    monkeypatch.setattr(changes_stream, "any_of", at_once)
    monkeypatch.setattr(changes_feed, "PAGE_EVENTS", 7)
    monkeypatch.setattr(changes_feed, "LIMIT_MIN", 2)
    monkeypatch.setattr(changes_feed, "WINDOW_OFFSETS", 5)
    monkeypatch.setattr(changes_hub, "RING_ENTRIES", 6)
    monkeypatch.setattr(changes_hub, "TAKE_ENTRIES", 4)
    for seed in range(SEEDS):
        asyncio.run(_resumed(seed))
