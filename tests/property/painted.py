"""A reader of paintings as plain as it can be: what the SQL look-up must answer (architecture.md, The timeline)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from chronofact.domain.paint import Painting
from tests.property.oracle import OAnswer

UNKNOWN, VALUE, CONFLICT, LANES = range(4)
REASONS: Final = {
    1: "excluded",
    2: "ended",
    3: "superseded",
    4: "not_yet_valid",
    5: "revoked",
    6: "proposed_only",
    7: "never_recorded",
}


@dataclass(frozen=True)
class Painted:
    """One painting as it lies in the table."""

    known_from: int
    event_seq: int
    painting: Painting

    def covers(self, t: int) -> bool:
        start, stop = self.painting.valid_from, self.painting.valid_to
        return (start is None or start <= t) and (stop is None or t < stop)


@dataclass
class Canvas:
    """Every painting of one fact, and which version a number means and when it starts."""

    ids: Mapping[int, bytes]
    starts: Mapping[bytes, int | None]
    paintings: list[Painted] = field(default_factory=list)

    def add(self, known_from: int, event_seq: int, paintings: Iterable[Painting]) -> None:
        self.paintings += [Painted(known_from, event_seq, painting) for painting in paintings]

    def bounds(self) -> set[int]:
        """Every instant at which some painting starts or stops."""
        bounds = {bound for p in self.paintings for bound in (p.painting.valid_from, p.painting.valid_to)}
        return {bound for bound in bounds if bound is not None}

    def answer(self, valid_at: int, as_of: int | None) -> OAnswer:
        known = [p for p in self.paintings if as_of is None or p.known_from <= as_of]
        if not known:
            return OAnswer("unknown", "not_yet_known")
        top = _newest([p for p in known if p.painting.lane == 0], valid_at)
        if top is None or top.kind == LANES:
            return self._answer_of_lanes(_lanes(known, valid_at))
        if top.kind == UNKNOWN:
            return OAnswer("unknown", REASONS[top.reason or 0])
        versions = self._versions(top, known, valid_at)
        if top.kind == CONFLICT:
            return OAnswer("conflict", None, versions)
        winner = self._winner(versions) if top.winner is None else self.ids[top.winner]
        return OAnswer("value", None, versions, winner)

    def _winner(self, crowd: tuple[bytes, ...]) -> bytes:
        """The latest start, ties by the lowest id; None is the earliest of all."""
        starts = [start for version in crowd if (start := self.starts[version]) is not None]
        return min(version for version in crowd if self.starts[version] == max(starts, default=None))

    def _versions(self, top: Painting, known: list[Painted], valid_at: int) -> tuple[bytes, ...]:
        numbers = top.versions
        if numbers is None:
            numbers = tuple(p.lane for p in _lanes(known, valid_at) if p.kind == VALUE)
        else:
            assert list(numbers) == sorted(set(numbers)), "version numbers are ascending"
        return tuple(sorted(self.ids[number] for number in numbers))

    def _answer_of_lanes(self, lanes: list[Painting]) -> OAnswer:
        eligible = sorted(self.ids[painting.lane] for painting in lanes if painting.kind == VALUE)
        if eligible:
            return OAnswer("values", None, tuple(eligible))
        reasons = [painting.reason for painting in lanes]
        assert None not in reasons, "a many-valued fact's lanes say why not"
        return OAnswer("unknown", REASONS[min((reason or 0 for reason in reasons), default=7)])


def _newest(paintings: list[Painted], valid_at: int) -> Painting | None:
    """The newest painting that covers an instant: by ``known_from``, then ``event_seq``."""
    over = [p for p in paintings if p.covers(valid_at)]
    return max(over, key=lambda p: (p.known_from, p.event_seq)).painting if over else None


def _lanes(known: list[Painted], valid_at: int) -> list[Painting]:
    """What each version's own lane says at an instant."""
    lanes = sorted({p.painting.lane for p in known if p.painting.lane > 0})
    found = [_newest([p for p in known if p.painting.lane == lane], valid_at) for lane in lanes]
    return [painting for painting in found if painting is not None]


def overlaps(paintings: Iterable[Painting]) -> list[tuple[Painting, Painting]]:
    """Pairs of one event's paintings that share an instant within a lane."""
    ordered = sorted(paintings, key=lambda p: (p.lane, p.valid_from is not None, p.valid_from or 0))
    return [
        (a, b)
        for a, b in pairwise(ordered)
        if a.lane == b.lane and (a.valid_to is None or b.valid_from is None or b.valid_from < a.valid_to)
    ]
