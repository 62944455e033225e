"""A fact's answers over both clocks from its events: the canonical cut of semantics §5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from chronofact.contracts.reading import Rectangle
from chronofact.domain.events import Event
from chronofact.domain.history import History
from chronofact.domain.interval import format_bound, format_instant
from chronofact.domain.lanes import lane_of
from chronofact.domain.picture import Kind, Reason
from chronofact.domain.rivals import bits
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.domain.spans import NEG, POS

_KINDS = {Kind.UNKNOWN: 0, Kind.VALUE: 1, Kind.CONFLICT: 2, Kind.LANES: 3}


class Stretch(NamedTuple):
    """A stretch of valid time that says one thing; ``mask`` has the bit of each version behind it."""

    start: int
    end: int
    kind: int
    reason: int | None
    mask: int


def rectangles_of(events: Sequence[Event], rule: int = RULE_DEFAULT) -> list[Rectangle]:
    """Every answer with how long it held and how long that was known, by when it became known, then by valid time."""
    history = History(rule)
    since: dict[Stretch, int] = {}
    closed: list[tuple[Stretch, int, int | None]] = []
    for recorded_at, known_together in groupby(events, key=lambda event: event.recorded_at):
        for event in known_together:
            history.apply(event)
        now = _stretches(history)
        closed += [(gone, start, recorded_at) for gone, start in since.items() if gone not in now]
        since = {one: since.get(one, recorded_at) for one in now}
    closed += [(one, start, None) for one, start in since.items()]
    closed.sort(key=lambda known: (known[1], known[0].start))
    return [_rectangle(*known) for known in closed]


def _rectangle(one: Stretch, known_from: int, known_to: int | None) -> Rectangle:
    return Rectangle(
        one.kind,
        one.reason,
        [number for number in bits(one.mask) if number] if one.mask else [],
        None if one.start == NEG else format_instant(one.start),
        None if one.end == POS else format_instant(one.end),
        format_instant(known_from),
        format_bound(known_to),
    )


def _stretches(history: History) -> dict[Stretch, None]:
    """In order, neighbours different."""
    drawn = _many_valued(history) if history.standing.is_many_valued else _drawn(history)
    whole: list[Stretch] = []
    for one in drawn:
        if whole and whole[-1][2:] == one[2:]:
            whole[-1] = whole[-1]._replace(end=one.end)
        else:
            whole.append(one)
    return dict.fromkeys(whole)


def _drawn(history: History) -> Iterator[Stretch]:
    for start, end, cell in history.picture.stretches():
        reason = None if cell.kind is not Kind.UNKNOWN else int(cell.reason or Reason.NEVER_RECORDED)
        yield Stretch(start, end, _KINDS[cell.kind], reason, cell.mask)


def _many_valued(history: History) -> Iterator[Stretch]:
    """Every version's lane laid beside the others: who is eligible, else the least reason why nobody is."""
    flips: dict[int, int] = {}
    whys: dict[int, list[int]] = {}
    for version in history.standing.numbered:
        for start, end, cell in lane_of(version):
            if cell.kind is Kind.VALUE:
                for at in (start, end):
                    flips[at] = flips.get(at, 0) ^ 1 << version.no
            elif cell.reason is not None:
                whys.setdefault(start, [0] * 9)[cell.reason] += 1
                whys.setdefault(end, [0] * 9)[cell.reason] -= 1
    bounds = sorted({NEG, POS, *flips, *whys})
    mask, counts = 0, [0] * 9
    for start, end in pairwise(bounds):
        mask ^= flips.get(start, 0)
        if start in whys:
            counts = [was + more for was, more in zip(counts, whys[start], strict=True)]
        if mask:
            yield Stretch(start, end, 3, None, mask)
        else:
            reason = next((number for number, count in enumerate(counts) if count), int(Reason.NEVER_RECORDED))
            yield Stretch(start, end, 0, reason, 0)
