"""One projection as it was in one snapshot, for one worker of a verification: sums of hashes first, lines where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

from psycopg import Connection, sql

from chronofact.contracts.verification import TABLES, Aspects, NamedFact
from chronofact.postgres.errors import failures_named
from chronofact.postgres.projections import PARTITION_SHIFT
from chronofact.postgres.template import Script, Slot, script

FIRST_NO: Final = -(2**63)
LAST_NO: Final = 2**63 - 1
SPAN_SPARSE: Final = 4
"""So many times as many numbers as facts, and the numbers are no places of an array any more."""
SPAN_SMALL: Final = 1_000_000
FETCHED: Final = 5_000
_BY_NUMBER: Final = "hashint4extended(0, t.fact_no)"
"""A line's fact, where both sides give it the same number."""
_BY_PLACE: Final = "coalesce((select k.keys from k)[least(greatest(t.fact_no - {base}, 0), 2147483647)::integer], 0)"
"""Its fact's id from an array: a look-up a line is cheaper than any join or group."""
_NOT_AT_ALL: Final = "0"
_ALL: Final = "true"
_IN_RANGE: Final = "{table}.fact_no between {first} and {last}"
_OF_FACTS: Final = "{table}.fact_no = any(%(fact_nos)s)"
_OF_NONE: Final = (
    "{table}.fact_no between {first} and {last}"
    " and not exists (select from {schema}.fact as known where known.fact_no = {table}.fact_no)"
)

Total = tuple[int, Decimal | None]
"""How many lines, and the sum of their hashes."""


class Heads(NamedTuple):
    """The same of a partition's facts, and which numbers they have."""

    total: Total
    numbers: Decimal | None


class FactTotal(NamedTuple):
    """The same of one table of one fact."""

    fact_id: UUID | None
    aspect: str
    total: Total


class LaneLine(NamedTuple):
    """One stretch painted on the lane of a version; instants in microseconds."""

    lane: int
    event_seq: int
    known_from: str
    valid_from: int | None
    valid_to: int | None
    kind: int
    reason: int | None
    answer_key: UUID | None
    versions: Sequence[int] | None
    winner: int | None


class VerifySide:
    """A connection whose transaction sees the snapshot."""

    def __init__(
        self,
        connection: Connection[Any],
        projection: str,
        topic_id: UUID | None,
        aspects: Aspects,
        *,
        partitions: int,
    ) -> None:
        self._connection = connection
        self._partitions = partitions
        self.projection = projection
        self._topic_id = topic_id
        self._aspects = TABLES[aspects]

    def heads(self) -> dict[int, Heads]:
        """Of each partition that has facts."""
        with failures_named():
            found = self._by_partition("heads", self._aspects[0])
        return {partition: Heads((lines, total), numbers) for partition, lines, total, numbers in found}

    def spread(self, aspect: str) -> dict[int, Total]:
        """Of each partition that has lines in a table without leaves, its facts told by their numbers."""
        with failures_named():
            found = self._by_partition("spread", aspect)
        return {partition: (lines, total) for partition, lines, total in found}

    def leaf(self, aspect: str, partition: int) -> Total:
        """Of a partition's leaf of a table, its facts told by their numbers."""
        rows = self._rows(aspect, _BY_NUMBER, **self._range(partition))
        with failures_named():
            _, lines, total = self._all("total", None, table=sql.Literal(aspect), rows=rows)[0]
        return lines, total

    def totals(self, partition: int) -> dict[str, Total] | None:
        """Of each table of a partition, its facts told by their ids; None where fact numbers lie too far apart for this."""
        slots = self._range(partition)
        with failures_named():
            facts, span = self._all("span", None, **slots)[0]
            if span > SPAN_SPARSE * facts + SPAN_SMALL:
                return None
            each = [self._total(one, **slots) for one in self._aspects]
            heads = self._heads(facts, span, **slots)
            found = self._all("totals", None, heads=heads, totals=sql.SQL(" union all ").join(each))
        return {aspect: (lines, total) for aspect, lines, total in found}

    def facts(self, partition: int, aspects: Iterable[str]) -> Iterator[FactTotal]:
        """Of each fact of a partition and each of these tables, by fact and table; those of no fact last."""
        slots = self._range(partition)
        each = [
            self._filled("facts_part", table=sql.Literal(one), rows=self._rows(one, _NOT_AT_ALL, **slots))
            for one in aspects
        ]
        statement = self._filled("facts", schema=self.projection, rows=sql.SQL(" union all ").join(each))
        with failures_named(), self._connection.cursor(f"facts_{uuid4().hex}") as cursor:
            cursor.itersize = FETCHED
            cursor.execute(statement)
            for fact_id, aspect, lines, total in cursor:
                yield FactTotal(fact_id, aspect, (lines, total))

    def named(self, fact_ids: Sequence[UUID]) -> dict[UUID, tuple[int, NamedFact]]:
        """Number and name of those of the facts that are known here."""
        with failures_named():
            found = self._all("names", {"fact_ids": list(fact_ids)}, schema=self.projection)
        return {line[1]: (line[0], NamedFact(*line[1:])) for line in found}

    def lines(self, aspect: str, fact_nos: Sequence[int]) -> list[tuple[int, str]]:
        """A table's lines of these facts as JSON, with the fact's number; values as hashes."""
        with failures_named():
            return self._shown(aspect, _OF_FACTS, {"fact_nos": list(fact_nos)})

    def stray(self, aspect: str, partition: int) -> list[str]:
        """A table's lines of numbers that no fact of this partition has."""
        with failures_named():
            return [said for _, said in self._shown(aspect, _OF_NONE, {}, **self._range(partition))]

    def lanes(self, fact_no: int) -> list[LaneLine]:
        """What was painted on the lanes of a fact's versions, lane by lane, in order."""
        with failures_named():
            return [LaneLine(*line) for line in self._all("lanes", {"fact_no": fact_no}, schema=self.projection)]

    def places_total(self, table: str) -> Total:
        """Of all that is parked, or dropped."""
        with failures_named():
            lines, total = self._all(f"{table}_total", self._where())[0]
        return lines, total

    def places(self, table: str) -> Iterator[tuple[tuple[int, int], UUID | None, str]]:
        """Each with its place, its fact where it has one, and itself as JSON, in the order of the log."""
        with failures_named(), self._connection.cursor(f"places_{uuid4().hex}") as cursor:
            cursor.itersize = FETCHED
            cursor.execute(self._filled(table), self._where())
            for partition, offset, fact_id, said in cursor:
                yield (partition, offset), fact_id, said

    def _where(self) -> dict[str, Any]:
        return {"projection": self.projection, "topic_id": self._topic_id}

    def _range(self, partition: int) -> dict[str, Slot]:
        """Every line lies in some range, wherever its number puts it."""
        base = partition << PARTITION_SHIFT
        first = FIRST_NO if partition == 0 else base
        last = LAST_NO if partition == self._partitions - 1 else base + (1 << PARTITION_SHIFT) - 1
        # bare, a minus sign would follow `between` as it should, but after another one begin a comment
        numbers = {"base": base, "first": first, "last": last}
        return {"schema": self.projection, **{name: sql.SQL(f"({number})") for name, number in numbers.items()}}

    def _by_partition(self, name: str, aspect: str) -> list[tuple[Any, ...]]:
        rows = self._of_lines("rows", aspect, _ALL, _BY_NUMBER, schema=self.projection)
        return self._all(name, None, rows=rows, shift=PARTITION_SHIFT, last_partition=self._partitions - 1)

    def _heads(self, facts: int, span: int, **slots: Slot) -> sql.SQL:
        """The heads of a range in order, with a line for every place."""
        rows = self._rows(self._aspects[0], _NOT_AT_ALL, **slots)
        return rows if facts == span else self._filled("heads_apart", rows=rows, span=span, **slots)

    def _total(self, aspect: str, **slots: Slot) -> sql.SQL:
        table = sql.Literal(aspect)
        if aspect == self._aspects[0]:
            return self._filled("total_of_heads", table=table)
        return self._filled("total", table=table, rows=self._rows(aspect, _BY_PLACE, **slots))

    def _rows(self, aspect: str, key: str, **slots: Slot) -> sql.SQL:
        return self._of_lines("rows", aspect, _IN_RANGE, key, **slots)

    def _shown(self, aspect: str, which: str, parameters: dict[str, Any], **slots: Slot) -> list[tuple[int, str]]:
        slots = {"schema": self.projection, **slots}
        shown = self._of_lines("lines", aspect, which, _NOT_AT_ALL, **slots)
        return self._connection.execute(shown, parameters).fetchall()

    def _of_lines(self, folder: str, aspect: str, which: str, key: str, **slots: Slot) -> sql.SQL:
        """A table's statement over those lines; and over their newest labels, where it looks at them."""
        chosen = {"which": self._made(which, table="t", **slots), "newest": self._made(which, table="n", **slots)}
        key_made = self._made(key, **slots)
        return script("verify", folder, aspect).filled(
            self._connection, **slots, **chosen, key=key_made, shift=PARTITION_SHIFT
        )

    def _made(self, text: str, **slots: Slot) -> sql.SQL:
        return Script("which", text).filled(self._connection, **slots)

    def _filled(self, name: str, **slots: Slot) -> sql.SQL:
        return script("verify", name).filled(self._connection, **slots)

    def _all(self, name: str, parameters: dict[str, Any] | None, **slots: Slot) -> list[tuple[Any, ...]]:
        return self._connection.execute(self._filled(name, **slots), parameters).fetchall()
