"""Pages of changed answers: each event that changed one, once, by partition in offset order, from a place on.

A message that was parked first comes when it was released: before any later event of its fact, and in the order of
releases. So whoever goes on from the id of any message misses nothing and gets nothing twice (ADR 20).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from chronofact.contracts.changes import ChangesWanted, EventApplied, Place, Reached, Release, Stroke, Window
from chronofact.reader.changes_diff import Stretch, changed, changed_plainly, needs_more, touched
from chronofact.reader.changes_ports import ChangesSource
from chronofact.reader.changes_spelling import spelled, versions_named

PAGE_EVENTS: Final = 250
LIMIT_MIN: Final = 25
PAGE_BYTES: Final = 4 * 2**20
WINDOW_OFFSETS: Final = 5_000
"""Offsets that one statement passes over at most, however few of their events are wanted."""
SAID_MAX: Final = 100
"""Versions read by one statement, and spelled between two turns of the event loop: their values are up to 64 KiB each."""
LANES_MAX: Final = 200
"""Versions side by side whose values are told; of facts with more only where the answer changed."""
STROKES_MAX: Final = 8_192
_LANE_STROKES: Final = 512


class Entry(NamedTuple):
    """One changed answer, ready to be sent but for its id; ``reached`` is where its partition is behind it."""

    event: EventApplied
    reached: Reached
    data: bytes


class Page(NamedTuple):
    """Entries in order, and the place behind all that was looked at."""

    entries: Sequence[Entry]
    place: Place


class _Step(NamedTuple):
    """What a partition comes to next: an event by its offset, or by the number of its release."""

    partition: int
    reached: Reached
    event: EventApplied | None


@dataclass(slots=True)
class Feed:
    """Reads pages; keeps nothing between them."""

    source: ChangesSource

    async def page(self, place: Place, standing: Place, wanted: ChangesWanted) -> Page:
        """The next page on the way from a place to what the projection had applied when it was looked at."""
        steps, ends = await self._steps(place, standing, wanted)
        events = await self._events(place.projection, steps[:PAGE_EVENTS], wanted)
        bodies = await self._bodies(place.projection, [event for _, event in events])
        whole = events[len(bodies)][0] if len(bodies) < len(events) else min(len(steps), PAGE_EVENTS)
        behind = place.copy()
        for step in steps[:whole]:
            behind.move(step.partition, step.reached)
        cut = {step.partition for step in steps[whole:]}
        for partition, reached in ends.items():
            if partition not in cut:
                behind.move(partition, reached)
        entries = [
            Entry(event, steps[at].reached, body)
            for (at, event), body in zip(events, bodies, strict=False)
            if body is not None
        ]
        return Page(entries, behind)

    async def _events(
        self, projection: str, steps: Sequence[_Step], wanted: ChangesWanted
    ) -> list[tuple[int, EventApplied]]:
        """The events of steps, each with its step's place."""
        numbers = [step.reached.released for step in steps if step.event is None]
        released = await self.source.released(projection, numbers, wanted) if numbers else {}
        found = [(at, step.event or released.get(step.reached.released)) for at, step in enumerate(steps)]
        return [(at, event) for at, event in found if event is not None]

    async def _steps(
        self, place: Place, standing: Place, wanted: ChangesWanted
    ) -> tuple[list[_Step], dict[int, Reached]]:
        """What comes next in each partition, and where each is behind that."""
        windows = list(_windows(place, standing))
        limit = max(PAGE_EVENTS // max(len(windows), 1), LIMIT_MIN)
        events = defaultdict[int, list[EventApplied]](list)
        for event in await self.source.events(place, windows, wanted, limit=limit) if windows else ():
            events[event.partition].append(event)
        steps: list[_Step] = []
        ends: dict[int, Reached] = {}
        for window in windows:
            partition, until = window.partition, standing.at(window.partition)
            here = events[partition]
            end = here[-1].offset + 1 if len(here) == limit else window.end
            pending: Sequence[Release] = ()
            if until.released > place.at(partition).released:
                pending = await self.source.releases(place, partition, upto=until.released)
            made = list(_in_order(partition, here, pending, place.at(partition), is_last=end >= until.next_offset))
            steps += made
            last = made[-1].reached.released if made else place.at(partition).released
            released = max(last, until.released) if end >= until.next_offset else last
            ends[partition] = Reached(max(end, place.at(partition).next_offset), released)
        return steps, ends

    async def _bodies(self, projection: str, events: Sequence[EventApplied]) -> list[bytes | None]:
        """What to say of each event, None where no answer changed; of fewer events where that is a lot already."""
        stretches = await self.stretches(projection, events)
        bodies: list[bytes | None] = []
        start = 0
        while start < len(events) and sum(map(len, filter(None, bodies))) < PAGE_BYTES:
            end, wanted = start, dict[tuple[int, int], None]()
            while end < len(events) and len(wanted) < SAID_MAX:
                wanted |= dict.fromkeys(versions_named(events[end].fact_no, stretches[end]))
                end += 1
            said = await self.source.said(projection, list(wanted)) if wanted else {}
            bodies += [
                spelled(event, found, said, projection=projection) if found else None
                for event, found in zip(events[start:end], stretches[start:end], strict=True)
            ]
            start = end
        return bodies

    async def stretches(self, projection: str, events: Sequence[EventApplied]) -> list[Sequence[Stretch]]:
        """Where each event changed the answer, and what it is there since."""
        plain = [event for event in events if not event.lane_mode]
        painted = defaultdict[tuple[int, int], list[Stroke]](list)
        for stroke in await self.source.painted(projection, plain) if plain else ():
            painted[stroke.fact_no, stroke.event_seq].append(stroke)
        return [
            await self._of_lanes(projection, event)
            if event.lane_mode
            else await self._of_lane_0(projection, event, painted)
            for event in events
        ]

    async def _of_lane_0(
        self, projection: str, event: EventApplied, painted: Mapping[tuple[int, int], list[Stroke]]
    ) -> Sequence[Stretch]:
        here = painted.get((event.fact_no, event.event_seq), [])
        if not needs_more(here):
            return changed_plainly(here)
        before: list[Stroke] = []
        limit = _LANE_STROKES
        while event.event_seq > 1:
            before = await self.source.lane_before(projection, event, limit=limit)
            if len(before) < limit or _covers_all(before):
                break
            limit *= 8
        return changed([*before, *here], event.event_seq)

    async def _of_lanes(self, projection: str, event: EventApplied) -> Sequence[Stretch]:
        if event.versions <= LANES_MAX:
            strokes = await self.source.lanes(projection, event, first_seq=0, limit=STROKES_MAX + 1)
            if len(strokes) <= STROKES_MAX:
                return changed(strokes, event.event_seq)
        return touched(await self.source.lanes(projection, event, first_seq=event.event_seq, limit=STROKES_MAX))


def _windows(place: Place, standing: Place) -> Iterator[Window]:
    for partition, until in sorted(standing.reached.items()):
        here = place.at(partition)
        if here.next_offset < until.next_offset or here.released < until.released:
            first = min(here.next_offset, until.next_offset)
            yield Window(partition, first, min(first + WINDOW_OFFSETS, until.next_offset))


def _in_order(
    partition: int, events: Sequence[EventApplied], pending: Sequence[Release], here: Reached, *, is_last: bool
) -> Iterator[_Step]:
    """Events by offset; releases by number, each before the first later event of its fact."""
    due: dict[str, list[Release]] = {}
    for one in pending:
        due.setdefault(one.fact_id, []).append(one)
    numbers = iter(pending)
    at = here
    for event in events:
        first = max((one.number for one in due.get(event.fact_id, ()) if one.offset < event.offset), default=0)
        while at.released < first:
            at = at._replace(released=next(numbers).number)
            yield _Step(partition, at, None)
        at = Reached(event.offset + 1, at.released)
        yield _Step(partition, at, event)
    if is_last:
        for one in numbers:
            at = at._replace(released=one.number)
            yield _Step(partition, at, None)


def _covers_all(strokes: Sequence[Stroke]) -> bool:
    """Whether a whole repaint is among the strokes of one lane, newest first; the oldest event's may be cut off."""
    by_event = defaultdict[int, list[Stroke]](list)
    for stroke in strokes:
        by_event[stroke.event_seq].append(stroke)
    return any(needs_more(one) for one in by_event.values())
