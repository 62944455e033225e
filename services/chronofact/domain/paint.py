"""Painting: the stretches an event changed, as lines of the append-only timeline (architecture, The timeline)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from chronofact.domain.lanes import lane_of
from chronofact.domain.picture import Cell, Kind, look
from chronofact.domain.rivals import bits
from chronofact.domain.spans import NEG, POS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from chronofact.domain.picture import Picture, Stroke
    from chronofact.domain.standing import Standing, Version

REPAINT_MIN: Final = 64
"""Stretches painted since the last whole repaint that never ask for another."""
LANE_WHOLE_MAX: Final = 8
"""A lane of at most so many stretches is always painted whole."""
_UNKNOWN: Final = Kind.UNKNOWN
_CONFLICT: Final = Kind.CONFLICT
_LANES: Final = Kind.LANES


class Painting(NamedTuple):
    """One line of the timeline: over ``[valid_from, valid_to)`` the answer of this lane is so from this event on.

    ``versions`` are version numbers, ascending; None where a crowd's lanes, or a many-valued fact's, name them.
    ``winner`` is the number of the version that answers for a value.
    """

    lane: int
    valid_from: int | None
    valid_to: int | None
    kind: int
    reason: int | None
    answer_key: bytes | None
    versions: tuple[int, ...] | None
    winner: int | None


class Painter:
    """Turns strokes into paintings, and repaints a lane whole before look-ups would have to walk far."""

    def __init__(self) -> None:
        self.keeps_lanes = False
        self.painted = 0
        self._lane_painted: dict[int, int] = {}

    def resume(self, standing: Standing, *, painted: int, keeps_lanes: bool) -> None:
        """Goes on after a load: what was painted last is what holds now."""
        self.painted, self.keeps_lanes = painted, keeps_lanes
        if keeps_lanes:
            for version in standing.numbered:
                version.lane = lane_of(version)

    def paint(
        self, standing: Standing, picture: Picture, strokes: list[Stroke], affected: Iterable[Version]
    ) -> list[Painting]:
        """The lines for one event; those of one lane never overlap."""
        paintings: list[Painting] = []
        if strokes:
            if self.painted + len(strokes) > max(REPAINT_MIN, 2 * len(picture.starts)):
                strokes = _whole(standing, picture)
                self.painted = 0
            else:
                self.painted += len(strokes)
            paintings = [_painting(standing, stroke) for stroke in strokes]
            if not self.keeps_lanes and any(cell.mask < 0 or cell.kind is _LANES for _, _, cell in strokes):
                self.keeps_lanes = True
                affected = standing.numbered
        if self.keeps_lanes:
            for version in affected:
                if version.no:
                    self._paint_lane(version, paintings)
        return paintings

    def _paint_lane(self, version: Version, paintings: list[Painting]) -> None:
        lane = lane_of(version)
        before, version.lane = version.lane, lane
        if lane == before:
            return
        painted = self._lane_painted.get(version.no, REPAINT_MIN)
        changed = lane
        if before is not None and len(lane) > LANE_WHOLE_MAX:
            known = set(before)
            changed = [stroke for stroke in lane if stroke not in known]
            painted += len(changed)
            if painted > max(REPAINT_MIN, 2 * len(lane)):
                changed, painted = lane, 0
            self._lane_painted[version.no] = painted
        for start, end, cell in changed:
            paintings.append(_line(version.no, start, end, cell, None, None, None))


def _whole(standing: Standing, picture: Picture) -> list[Stroke]:
    """The whole picture as it is painted, equal neighbours joined."""
    strokes: list[Stroke] = []
    for start, end, cell in picture.stretches():
        seen = look(cell, standing)
        if strokes and strokes[-1][2].same(seen):
            strokes[-1] = (strokes[-1][0], end, seen)
        else:
            strokes.append((start, end, seen))
    return strokes


def _painting(standing: Standing, stroke: Stroke) -> Painting:
    start, end, cell = stroke
    kind, mask = cell.kind, cell.mask
    if kind is _UNKNOWN:
        return _line(0, start, end, cell, None, (), None)
    if kind is _LANES or (mask < 0 and kind is _CONFLICT):
        return _line(0, start, end, cell, None, None, None)
    if mask < 0:
        key = next(key for key, no in standing.values.items() if no == -2 - mask)
        return _line(0, start, end, cell, key[:16], None, None)
    if not mask & (mask - 1):
        only = standing.numbered[mask.bit_length() - 2]
        return _line(0, start, end, cell, only.value_key[:16], (only.no,), only.no)
    numbers = tuple(bits(mask))
    versions = [standing.numbered[no - 1] for no in numbers]
    if kind is _CONFLICT:
        return _line(0, start, end, cell, conflict_key(versions), numbers, None)
    winner = winner_of(versions)
    return _line(0, start, end, cell, winner.value_key[:16], numbers, winner.no)


def winner_of(versions: Collection[Version]) -> Version:
    """Of agreeing versions the one that answers: the latest start, ties lowest id."""
    return min(versions, key=lambda version: (-version.start, version.id))


def conflict_key(versions: Iterable[Version]) -> bytes:
    """16 bytes that are equal for equal sets of values."""
    return sha256(b"".join(sorted({version.value_key for version in versions}))).digest()[:16]


def _line(
    lane: int,
    start: int,
    end: int,
    cell: Cell,
    answer_key: bytes | None,
    versions: tuple[int, ...] | None,
    winner: int | None,
) -> Painting:
    return Painting(
        lane,
        None if start == NEG else start,
        None if end == POS else end,
        cell.kind,
        cell.reason,
        answer_key,
        versions,
        winner,
    )
