"""The picture of a fact over valid time as known now: who is eligible where, and why nobody is (semantics §4, §5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from enum import IntEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from chronofact.domain.spans import EVERYWHERE, NEG, NOWHERE, POS, Span, Spans, contains, joined, subtract, union

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chronofact.domain.standing import Standing


class Kind(IntEnum):
    """What an answer is; LANES on lane 0 says that the fact is many-valued and each version has its lane."""

    UNKNOWN = 0
    VALUE = 1
    CONFLICT = 2
    LANES = 3


class Reason(IntEnum):
    """Why an answer is unknown; the lowest that fits some version counts (semantics §4)."""

    EXCLUDED = 1
    ENDED = 2
    SUPERSEDED = 3
    NOT_YET_VALID = 4
    REVOKED = 5
    PROPOSED_ONLY = 6
    NEVER_RECORDED = 7


_VALUE: Final = Kind.VALUE
_CONFLICT: Final = Kind.CONFLICT
"""At hand: a member of an enumeration is looked up twice each time that it is named, also in machine code."""


class Cell:
    """What holds over one stretch; ``mask`` has bit ``n`` set when version number n is eligible. Never changed."""

    __slots__ = ("kind", "mask", "reason")

    def __init__(self, kind: Kind, reason: Reason | None, mask: int) -> None:
        self.kind = kind
        self.reason = reason
        self.mask = mask

    def same(self, other: Cell) -> bool:
        """Whether the other says the same."""
        return self is other or (self.mask == other.mask and self.kind is other.kind and self.reason is other.reason)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.same(other)

    def __hash__(self) -> int:
        return hash((self.kind, self.reason, self.mask))


Stroke: TypeAlias = tuple[int, int, Cell]
"""A span whose cell an event changed: start, end, cell."""

BLANK: Final = Cell(Kind.UNKNOWN, None, 0)
"""Before the first event."""
UNANSWERED: Final = {reason: Cell(Kind.UNKNOWN, reason, 0) for reason in Reason}
MANY_VALUED: Final = Cell(Kind.LANES, None, 0)
CROWD_MIN: Final = 16
"""More versions than this behind one stretch are a crowd."""
CROWD_CONFLICT: Final = Cell(_CONFLICT, None, -1)


class Reasons:
    """What decides why nobody is eligible at an instant; cheap to compare before and after an event. Never changed."""

    __slots__ = ("end", "excluded", "latest", "otherwise", "start", "superseded")

    def __init__(
        self,
        excluded: Spans,
        start: int,
        end: int,
        otherwise: Reason,
        superseded: Spans | None = None,
        latest: int = NEG,
    ) -> None:
        self.excluded = excluded
        self.start = start
        """The earliest start of an active version, POS without one."""
        self.end = end
        """The earliest end of an active version, POS without one."""
        self.otherwise = otherwise
        """The reason when no version is active."""
        self.superseded = superseded
        """Where active versions are covered, if that is not everywhere that one holds: near duplicates were merged."""
        self.latest = latest
        """The latest start of an active version, asked only where ``superseded`` is."""

    def same(self, other: Reasons) -> bool:
        """Whether the other gives the same reasons everywhere."""
        return (
            self.start == other.start
            and self.end == other.end
            and self.otherwise is other.otherwise
            and self.excluded == other.excluded
            and self.superseded == other.superseded
            and self.latest == other.latest
        )

    def at(self, instant: int) -> Reason:
        """The reason at an instant where no version is eligible."""
        if self.excluded and contains(self.excluded, instant):
            return Reason.EXCLUDED
        if self.start == POS:
            return self.otherwise
        if instant >= self.end:
            return Reason.ENDED
        if self.superseded is not None and not contains(self.superseded, instant):
            return Reason.NOT_YET_VALID if instant < self.latest else self.otherwise
        return Reason.SUPERSEDED if instant >= self.start else Reason.NOT_YET_VALID

    def bounds(self) -> list[int]:
        """The instants where it may change."""
        found = [self.start, self.end]
        for start, end in self.excluded:
            found += (start, end)
        if self.superseded is not None:
            found.append(self.latest)
            for start, end in self.superseded:
                found += (start, end)
        return found

    def changed(self, before: Reasons) -> Spans:
        """Where it differs from what it was before."""
        if self.same(before):
            return NOWHERE
        if POS in (self.start, before.start) or self.superseded is not None or before.superseded is not None:
            return EVERYWHERE
        spans = union(subtract(self.excluded, before.excluded), subtract(before.excluded, self.excluded))
        for old, new in ((before.start, self.start), (before.end, self.end)):
            if old != new:
                spans = union(spans, ((min(old, new), max(old, new)),))
        return spans


def reasons_of(standing: Standing) -> Reasons:
    """The reasons as the events stand now."""
    excluded = NOWHERE
    for pair in standing.pairs.values():
        if pair.counts:
            for version in (pair.left, pair.right):
                if version.active and pair.excludes(version):
                    own = ((version.start, version.end),) if version.capable else NOWHERE
                    excluded = union(excluded, _common(own, pair.overlap()))
    active = standing.active_starts
    otherwise = Reason.NEVER_RECORDED
    if standing.numbered:
        otherwise = Reason.REVOKED if standing.any_revoked else Reason.PROPOSED_ONLY
    if not active:
        return Reasons(excluded, POS, POS, otherwise)
    if not standing.has_groups:
        return Reasons(excluded, active[0], standing.active_ends[0], otherwise)
    covered = joined(span for version in standing.numbered if version.active for span in version.covered)
    return Reasons(excluded, active[0], standing.active_ends[0], otherwise, covered, active[-1])


def _common(left: Spans, right: Spans) -> Spans:
    return subtract(left, subtract(((NEG, POS),), right))


class Picture:
    """Stretches of valid time with their cells, neighbours always different; blank before the first event."""

    def __init__(self) -> None:
        self.starts: list[int] = [NEG]
        self.cells: list[Cell] = [BLANK]

        self.fresh: Spans = NOWHERE
        """Where stretches have no hash yet."""
        self.hashes: list[int | None] = [None]
        self.hash_sum = 0
        self.conflicts = 0
        """How many stretches are conflicts."""

    @property
    def shows_answers(self) -> bool:
        """Whether it shows answers, rather than nothing yet or that the fact is many-valued."""
        return self.cells[0] is not BLANK and self.cells[0] is not MANY_VALUED

    def clear(self) -> None:
        """Blank again."""
        self._become(BLANK)

    def reason_at(self, instant: int) -> Reason:
        """Why nobody is eligible at an instant where nobody is."""
        return self.cells[bisect_right(self.starts, instant) - 1].reason or Reason.NEVER_RECORDED

    def index_of(self, instant: int, low: int = 0) -> int:
        """The place of the stretch over an instant, looked for from ``low`` on."""
        return bisect_right(self.starts, instant, max(low - 1, 0)) - 1

    def stretch(self, at: int) -> Stroke:
        """The stretch at a place."""
        return (self.starts[at], self._end(at), self.cells[at])

    def stretches(self) -> Iterator[Stroke]:
        """All stretches, in order."""
        for at in range(len(self.starts)):
            yield self.stretch(at)

    def conflicts_over(self, start: int, end: int) -> int:
        """The mask of the versions that are in conflict somewhere in ``[start, end)``."""
        mask = 0
        for cell in self.cells[bisect_right(self.starts, start) - 1 : bisect_left(self.starts, end)]:
            if cell.kind is _CONFLICT:
                mask |= cell.mask
        return mask

    def repaint(
        self, toggles: Iterable[tuple[Spans, int]], dirty: Spans, standing: Standing, reasons: Reasons
    ) -> list[Stroke]:
        """Flips the bits of versions over spans; the strokes that changed, also where only the reason did (``dirty``)."""
        dirty = self._unanswered(dirty) if dirty else dirty
        flips: dict[int, int] = {}
        for spans, bit in toggles:
            dirty = union(dirty, spans)
            for a, b in spans:
                flips[a] = flips.get(a, 0) ^ bit
                flips[b] = flips.get(b, 0) ^ bit
        cuts = sorted(set(flips).union(reasons.bounds()))
        strokes: list[Stroke] = []
        for span in dirty:
            strokes += self._repaint(span, cuts, flips, standing, reasons)
        return strokes

    def _unanswered(self, spans: Spans) -> Spans:
        """What of the spans has no eligible version."""
        found: list[Span] = []
        for start, end in spans:
            first, last = bisect_right(self.starts, start) - 1, bisect_left(self.starts, end)
            blank = [at for at, cell in enumerate(self.cells[first:last], first) if not cell.mask]
            found += [(max(self.starts[at], start), min(self._end(at), end)) for at in blank]
        return joined(found)

    def fill(self, cell: Cell) -> list[Stroke]:
        """One cell over the whole axis; no stroke when it was so already."""
        if self.cells == [cell]:
            return []
        self._become(cell)
        return [(NEG, POS, cell)]

    def _become(self, cell: Cell) -> None:
        self.starts, self.cells, self.hashes = [NEG], [cell], [None]
        self.hash_sum, self.conflicts, self.fresh = 0, 0, NOWHERE

    def _end(self, at: int) -> int:
        return self.starts[at + 1] if at + 1 < len(self.starts) else POS

    def _repaint(
        self, span: Span, cuts: list[int], flips: dict[int, int], standing: Standing, reasons: Reasons
    ) -> list[Stroke]:
        start, end = span
        first, last = bisect_right(self.starts, start) - 1, bisect_left(self.starts, end)
        # the stretch before the span is taken along when they meet, so that equal neighbours join
        lead = first - 1 if first and self.starts[first] == start else first
        starts, cells = [self.starts[lead]], [self.cells[lead]]
        if self.starts[lead] == start:
            starts, cells = [], []
        strokes: list[Stroke] = []
        flipped = 0
        bounds = [*cuts[bisect_left(cuts, start) :], POS]
        cut = 0
        for at in range(first, last):
            old = self.cells[at]
            a, stop = max(self.starts[at], start), min(self._end(at), end)
            while a < stop:
                while bounds[cut] <= a:
                    flipped ^= flips.get(bounds[cut], 0)
                    cut += 1
                b = min(stop, bounds[cut])
                mask = old.mask ^ flipped
                # who joins a conflict leaves it one
                joins = old.kind is _CONFLICT and not flipped & old.mask
                cell = Cell(_CONFLICT, None, mask) if joins else _cell(mask, a, standing, reasons)
                if not cell.same(old):
                    _stroke(strokes, a, b, cell, old, standing)
                if not cells or not cells[-1].same(cell):
                    starts.append(a)
                    cells.append(cell)
                a = b
        is_within = self._end(last - 1) > end
        if is_within or last < len(self.starts):
            at = last - 1 if is_within else last
            if not cells[-1].same(self.cells[at]):
                starts.append(end)
                cells.append(self.cells[at])
            last = at + 1
        self._splice(lead, last, starts, cells)
        return strokes

    def _splice(self, lead: int, last: int, starts: list[int], cells: list[Cell]) -> None:
        for number in self.hashes[lead:last]:
            self.hash_sum -= number or 0
        for cell in self.cells[lead:last]:
            self.conflicts -= cell.kind is _CONFLICT
        for cell in cells:
            self.conflicts += cell.kind is _CONFLICT
        self.starts[lead:last] = starts
        self.cells[lead:last] = cells
        self.hashes[lead:last] = [None] * len(starts)
        self.fresh = union(self.fresh, ((starts[0], self._end(lead + len(starts) - 1)),))


def _stroke(strokes: list[Stroke], start: int, end: int, cell: Cell, old: Cell, standing: Standing) -> None:
    if cell.mask.bit_count() > CROWD_MIN:
        if cell.kind is _CONFLICT and old.kind is _CONFLICT and old.mask.bit_count() > CROWD_MIN:
            return
        cell = look(cell, standing)
        if cell.same(look(old, standing)):
            return
    if strokes:
        before, stop, last = strokes[-1]
        if stop == start and last.same(cell):
            strokes[-1] = (before, end, cell)
            return
    strokes.append((start, end, cell))


def look(cell: Cell, standing: Standing) -> Cell:
    """The cell as it is painted: a crowd names no versions there, its lanes do."""
    if cell.mask.bit_count() <= CROWD_MIN:
        return cell
    if cell.kind is _CONFLICT:
        return CROWD_CONFLICT
    lowest = (cell.mask & -cell.mask).bit_length() - 1
    return Cell(_VALUE, None, -2 - standing.numbered[lowest - 1].value_no)


def _cell(mask: int, instant: int, standing: Standing, reasons: Reasons) -> Cell:
    if not mask:
        return UNANSWERED[reasons.at(instant)]
    lowest = (mask & -mask).bit_length() - 1
    same = standing.value_masks[standing.numbered[lowest - 1].value_no]
    return Cell(_CONFLICT if mask & ~same else _VALUE, None, mask)
