"""Two sides held against each other: sums of tables, then of the facts of partitions that differ, then lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple
from uuid import UUID

from chronofact.contracts.verification import PLACES, TABLES, Aspects, Difference, NamedFact
from chronofact.reconciler.lanes_meant import mean_the_same
from chronofact.reconciler.side_by_side import side_by_side
from chronofact.reconciler.verify_ports import FactTotal, Side
from chronofact.reconciler.verify_sums import Sums, Unit
from chronofact.reconciler.verify_telling import Telling

FACTS_AT_ONCE: Final = 100
LINES_MAX: Final = 10
"""Lines of one table and fact that are kept of each side; all are counted."""
HEADS: Final = ("fact", "fact_said")


class _Suspect(NamedTuple):
    """A fact of which these tables differ."""

    fact_id: UUID
    aspects: frozenset[str]


class Comparer:
    """Compares two sides; what it finds it tells."""

    def __init__(self, left: Side, right: Side, aspects: Aspects, sums: Sums, telling: Telling) -> None:
        self._left = left
        self._right = right
        self._tables = TABLES[aspects]
        self._sums = sums
        self._telling = telling

    def sum(self, unit: Unit) -> None:
        """One of the sums."""
        self._telling.go_on()
        self._telling.compared(*self._sums.take(unit, self._left, self._right))

    def walk(self, partition: int, differing: Sequence[str]) -> None:
        """Over the facts of a partition of which these tables differ."""
        self._telling.go_on()
        mine, only_right = self._facts(partition, differing)
        self._telling.compared(only_right if self._sums.is_summed(partition) else mine + only_right, 0)

    def places(self) -> None:
        """What is parked and what is dropped; of a fact that differs anyway it is told with it."""
        for table in PLACES:
            if self._left.places_total(table) == self._right.places_total(table):
                continue
            found = side_by_side(self._left.places(table), self._right.places(table), key=itemgetter(0))
            for _, mine, theirs in found:
                left, right = [one[2] for one in mine], [one[2] for one in theirs]
                if left != right:
                    self._place(table, (mine or theirs)[0][1], left, right)

    def _place(self, table: str, fact_id: UUID | None, left: Sequence[str], right: Sequence[str]) -> None:
        name = None if fact_id is None else self._names([fact_id]).get(fact_id)
        self._telling.place(Difference(fact_id, name, table, len(left), len(right), left, right))

    def _facts(self, number: int, differing: Sequence[str]) -> tuple[int, int]:
        """Walks over the facts of both sides at once; how many the left one has by their heads, and how many only the right."""
        facts = only_right = 0
        suspects: list[_Suspect] = []
        sides = (self._left.facts(number, differing), self._right.facts(number, differing))
        for _, left, right in side_by_side(*sides, key=_by_id):
            fact_id = (left or right)[0].fact_id
            mine, theirs = ({one.aspect: one.total for one in side} for side in (left, right))
            aspects = frozenset(one for one in differing if mine.get(one) != theirs.get(one))
            if fact_id is None:
                for one in sorted(aspects):
                    self._stray(one, number)
                continue
            facts += any(one in mine for one in HEADS)
            only_right += any(one in theirs and one not in mine for one in HEADS)
            if aspects:
                suspects.append(_Suspect(fact_id, aspects))
            if len(suspects) == FACTS_AT_ONCE:
                self._settle(suspects)
                suspects = []
        self._settle(suspects)
        return facts, only_right

    def _stray(self, aspect: str, number: int) -> None:
        """Lines whose number no fact has."""
        gone, come = _only(self._left.stray(aspect, number), self._right.stray(aspect, number))
        self._telling.stray(_difference(None, None, aspect, gone, come))

    def _settle(self, suspects: Sequence[_Suspect]) -> None:
        """What it is that differs, as far as it is kept; a fact whose lanes are only painted otherwise is none."""
        self._telling.go_on()
        if not suspects:
            return
        keeps = self._telling.keeps
        looked_at = [one for one in suspects if keeps or one.aspects == {"timeline"}]
        self._telling.uncounted(len(suspects) - len(looked_at))
        if not looked_at:
            return
        ids = [one.fact_id for one in looked_at]
        mine, theirs = self._left.named(ids), self._right.named(ids)
        shown = self._shown(looked_at, mine, theirs)
        for one in looked_at:
            known = mine.get(one.fact_id) or theirs.get(one.fact_id)
            name = None if known is None else known[1]
            found = []
            for aspect in self._tables:
                if aspect not in one.aspects:
                    continue
                gone, come = shown[aspect].get(one.fact_id, ((), ()))
                if aspect == "timeline" and self._means_the_same(one.fact_id, mine, theirs, (*gone, *come)):
                    continue
                found.append(_difference(one.fact_id, name, aspect, gone, come))
            if found:
                self._telling.fact(one.fact_id, found)

    def _shown(
        self,
        suspects: Sequence[_Suspect],
        mine: Mapping[UUID, tuple[int, NamedFact]],
        theirs: Mapping[UUID, tuple[int, NamedFact]],
    ) -> dict[str, dict[UUID, tuple[Sequence[str], Sequence[str]]]]:
        """Of each table that differs somewhere: the lines of each fact that only one side has."""
        shown: dict[str, dict[UUID, tuple[Sequence[str], Sequence[str]]]] = {}
        for aspect in {aspect for one in suspects for aspect in one.aspects}:
            ids = [one.fact_id for one in suspects if aspect in one.aspects]
            left, right = _by_fact(self._left, aspect, ids, mine), _by_fact(self._right, aspect, ids, theirs)
            shown[aspect] = {one: _only(left.get(one, ()), right.get(one, ())) for one in ids}
        return shown

    def _means_the_same(
        self,
        fact_id: UUID,
        mine: Mapping[UUID, tuple[int, NamedFact]],
        theirs: Mapping[UUID, tuple[int, NamedFact]],
        lines: Sequence[str],
    ) -> bool:
        lanes = {json.loads(one)["lane"] for one in lines}
        if not lanes or 0 in lanes or fact_id not in mine or fact_id not in theirs:
            return False
        left, right = self._left.lanes(mine[fact_id][0]), self._right.lanes(theirs[fact_id][0])
        return mean_the_same(left, right, lanes)

    def _names(self, ids: Sequence[UUID]) -> Mapping[UUID, NamedFact]:
        named = {**self._right.named(ids), **self._left.named(ids)}
        return {fact_id: name for fact_id, (_, name) in named.items()}


def _by_fact(
    side: Side, aspect: str, ids: Iterable[UUID], known: Mapping[UUID, tuple[int, NamedFact]]
) -> dict[UUID, list[str]]:
    numbers = {known[one][0]: one for one in ids if one in known}
    lines: dict[UUID, list[str]] = {}
    for fact_no, said in side.lines(aspect, list(numbers)) if numbers else ():
        lines.setdefault(numbers[fact_no], []).append(said)
    return lines


def _only(left: Sequence[str], right: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What only one of them has, each as often as it has it more."""
    mine, theirs = Counter(left), Counter(right)
    return sorted((mine - theirs).elements()), sorted((theirs - mine).elements())


def _difference(
    fact_id: UUID | None, name: NamedFact | None, aspect: str, left: Sequence[str], right: Sequence[str]
) -> Difference:
    table = aspect.removesuffix("_said")
    table = "version_label" if table == "label" else table
    return Difference(fact_id, name, table, len(left), len(right), left[:LINES_MAX], right[:LINES_MAX])


def _by_id(one: FactTotal) -> tuple[bool, int]:
    """The order in which facts come; those of no fact last."""
    return one.fact_id is None, 0 if one.fact_id is None else one.fact_id.int
