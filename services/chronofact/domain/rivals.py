"""Conflict edges of a fact: how many pairs are rivals somewhere, and the first thousand of them (semantics §3, §5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chronofact.domain.picture import Picture
    from chronofact.domain.spans import Spans
    from chronofact.domain.standing import Standing, Version

OPEN_EDGES_MAX: Final = 1_000
RECOUNT_MAX: Final = 200
"""Versions up to which a loaded fact's pairs are counted anew; the cost grows with versions times stretches."""

PairIds = tuple[bytes, bytes]


def rivals_of(standing: Standing, picture: Picture, version: Version, eligible: Spans) -> int:
    """The mask of versions with another value that are eligible somewhere with this one, which is so over ``eligible``."""
    mask = 0
    for start, end in eligible if picture.conflicts else ():
        mask |= picture.conflicts_over(start, end)
    return mask & ~standing.value_masks[version.value_no]


def bits(mask: int) -> Iterator[int]:
    """The numbers of the set bits, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class OpenPairs:
    """The OPEN pairs of one fact: their exact number, and the first thousand by (left, right)."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[PairIds] = []
        self.is_changed = False
        self._ids: list[tuple[bytes, int]] = []

    def load(self, standing: Standing, picture: Picture, *, count: int | None) -> None:
        """Starts over from the picture; a fact of many versions trusts a count that it is given."""
        if count is None or len(standing.numbered) <= RECOUNT_MAX:
            self.count = self._counted(standing, picture)
        else:
            self.count = count
        self._refill(standing, picture)

    def change(self, standing: Standing, picture: Picture, changes: Iterable[tuple[Version, int, int]]) -> None:
        """Takes (version, rivals before, rivals after), the picture being the one after."""
        settled = 0
        gone_from: list[tuple[Version, int]] = []
        for version, old, new in changes:
            gone, come = old & ~new & ~settled, new & ~old & ~settled
            settled |= 1 << version.no
            self.count += come.bit_count() - gone.bit_count()
            if gone:
                gone_from.append((version, gone))
            if come:
                self._come(standing, version, come)
        for version, gone in gone_from:
            self._go(standing, version, gone)
        if len(self.first) < min(self.count, OPEN_EDGES_MAX):
            self._refill(standing, picture)

    def _by_id(self, standing: Standing) -> list[tuple[bytes, int]]:
        """Ids and numbers of all versions, by id."""
        for version in standing.numbered[len(self._ids) :]:
            insort(self._ids, (version.id, version.no))
        return self._ids

    def holds(self, standing: Standing, picture: Picture, pair: PairIds) -> bool:
        """Whether the pair is one of those counted."""
        left, right = (standing.version(version_id) for version_id in pair)
        return bool(rivals_of(standing, picture, left, left.eligible) >> right.no & 1)

    def _refill(self, standing: Standing, picture: Picture) -> None:
        self.first = []
        self.is_changed = True
        if not self.count:
            return
        for version_id, no in self._by_id(standing):
            version = standing.numbered[no - 1]
            mask = rivals_of(standing, picture, version, version.eligible)
            rights = sorted(i for i in (standing.numbered[bit - 1].id for bit in bits(mask)) if i > version_id)
            self.first += [(version_id, right) for right in rights[: OPEN_EDGES_MAX - len(self.first)]]
            if len(self.first) >= min(OPEN_EDGES_MAX, self.count):
                return

    def _counted(self, standing: Standing, picture: Picture) -> int:
        if not picture.shows_answers:
            return 0
        masks = (rivals_of(standing, picture, version, version.eligible) for version in standing.numbered)
        return sum(mask.bit_count() for mask in masks) // 2

    def _come(self, standing: Standing, version: Version, come: int) -> None:
        if len(self.first) >= OPEN_EDGES_MAX:
            highest = self.first[-1][0]
            if version.id > highest:
                ids = self._by_id(standing)
                low = ids[: bisect_right(ids, (highest, len(standing.numbered) + 1))]
                come &= sum(1 << no for _, no in low)
        for no in bits(come):
            other = standing.numbered[no - 1].id
            pair = (min(version.id, other), max(version.id, other))
            if len(self.first) < OPEN_EDGES_MAX or pair < self.first[-1]:
                insort(self.first, pair)
                self.is_changed = True
                del self.first[OPEN_EDGES_MAX:]

    def _go(self, standing: Standing, version: Version, gone: int) -> None:
        if gone.bit_count() <= 32:
            for no in bits(gone):
                other = standing.numbered[no - 1].id
                pair = (min(version.id, other), max(version.id, other))
                at = bisect_left(self.first, pair)
                if at < len(self.first) and self.first[at] == pair:
                    del self.first[at]
                    self.is_changed = True
            return
        ids = {standing.numbered[no - 1].id for no in bits(gone)}
        mine = version.id
        self.is_changed = True
        self.first = [p for p in self.first if not ((p[0] == mine and p[1] in ids) or (p[1] == mine and p[0] in ids))]
