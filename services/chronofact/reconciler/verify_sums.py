"""The sums of both sides, taken by several workers table by table, and which tables of which partitions differ by them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias, assert_never

from chronofact.contracts.verification import LEAVES, TABLES, Aspects
from chronofact.reconciler.verify_ports import Heads, Side, Total

NONE: Final[Total] = (0, None)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A table's leaf of a partition."""

    aspect: str
    partition: int


@dataclass(frozen=True, slots=True)
class Spread:
    """A table without leaves, all partitions at once."""

    aspect: str


@dataclass(frozen=True, slots=True)
class Renumbered:
    """All tables of a partition whose facts have other numbers on the other side."""

    partition: int


Unit: TypeAlias = Leaf | Spread | Renumbered
"""What a worker sums at a time."""


class Sums:
    """Shared by the workers; where both sides give each fact the same number, lines are told by that."""

    def __init__(
        self, left: Mapping[int, Heads], right: Mapping[int, Heads], aspects: Aspects, *, partitions: int
    ) -> None:
        self._head, *self._tables = TABLES[aspects]
        self._leaves = [one for one in self._tables if one in LEAVES]
        self._facts = {one: heads.total[0] for one, heads in left.items()}
        self._lock = threading.Lock()
        self._found: dict[int, dict[str, tuple[Total, Total]]] = {one: {} for one in range(partitions)}
        self._level = [one for one in self._found if _numbers(left, one) == _numbers(right, one)]
        for one in self._level:
            self._found[one][self._head] = (_total(left, one), _total(right, one))

    @property
    def facts(self) -> int:
        """How many the left side has."""
        return sum(self._facts.values())

    def units(self) -> Iterator[Unit]:
        """All there is to sum, the large ones first."""
        yield from (Renumbered(one) for one in self._found if one not in self._level)
        if self._level:
            yield from (Spread(one) for one in self._tables if one not in LEAVES)
        yield from (Leaf(one, partition) for partition in self._level for one in self._leaves)

    def take(self, unit: Unit, left: Side, right: Side) -> tuple[int, int]:
        """Sums it on both sides; how many facts of the left one are summed with it, and how many lines."""
        match unit:
            case Leaf(aspect, partition):
                return self._take(partition, {aspect: (left.leaf(aspect, partition), right.leaf(aspect, partition))})
            case Spread(aspect):
                mine, theirs = left.spread(aspect), right.spread(aspect)
                each = [self._take(one, {aspect: (mine.get(one, NONE), theirs.get(one, NONE))}) for one in self._level]
                return sum(facts for facts, _ in each), sum(lines for _, lines in each)
            case Renumbered(partition):
                summed, other = left.totals(partition), right.totals(partition)
                if summed is None or other is None:
                    return 0, 0
                return self._take(partition, {one: (summed[one], other[one]) for one in summed})
            case _:
                assert_never(unit)

    def differing(self) -> dict[int, Sequence[str]]:
        """The tables that differ, by partition; all of one whose facts must be walked over."""
        found = {
            partition: [one for one in (self._head, *self._tables) if _differs(sums.get(one))]
            for partition, sums in self._found.items()
        }
        return {partition: tables for partition, tables in found.items() if tables}

    def is_summed(self, partition: int) -> bool:
        """Else its facts are counted only by a walk over them."""
        return self._head in self._found[partition]

    def _take(self, partition: int, totals: Mapping[str, tuple[Total, Total]]) -> tuple[int, int]:
        with self._lock:
            found = self._found[partition]
            found.update(totals)
            is_whole = len(found) == 1 + len(self._tables)
        lines = sum(mine[0] for mine, _ in totals.values())
        facts = self._facts.get(partition, 0) if is_whole else 0
        return facts, lines if self._head in totals else lines + facts


def _numbers(heads: Mapping[int, Heads], partition: int) -> Decimal | None:
    return heads[partition].numbers if partition in heads else None


def _total(heads: Mapping[int, Heads], partition: int) -> Total:
    return heads[partition].total if partition in heads else NONE


def _differs(sums: tuple[Total, Total] | None) -> bool:
    return sums is None or sums[0] != sums[1]
