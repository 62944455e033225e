"""One worker's look at the snapshot of a check: chunk after chunk is recomputed from its events and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg import Connection, sql

from chronofact.contracts.checking import CheckWanted, Divergence, StoredLine, Tally
from chronofact.postgres.errors import failures_named
from chronofact.postgres.rules import known_rule
from chronofact.postgres.template import Script, script, scripts
from chronofact.runtime.failures import Unfit

LIMITS: Final = {
    "heavy_min": 400,
    "heavy_past_max": 3,
    "heavy_instants_max": 12,
    "pairs_max": 1_000_000,
    "codes_max": 40_000,
    "rivals_max": 100,
}
"""Above ``heavy_min`` versions a fact is looked at by samples; the others bound what one slice may cost."""
FOUND_MAX: Final = 2_000
"""Divergences that one comparison of one chunk tells."""
LINES_AT_ONCE: Final = 2_000
_LOOK_UPS: Final = ("now",)
_LOOKING_UP: Final = (
    "set enable_nestloop to on; set enable_hashjoin to off; set enable_seqscan to off;"
    " set plan_cache_mode to force_generic_plan"
)
_JOINING: Final = (
    "set enable_nestloop to off; set enable_hashjoin to on; set enable_seqscan to on; set plan_cache_mode to auto"
)
_HEAD_OF: Final = (
    "select d.fact_no, h.fact_id, d.relation, d.aspect, d.place, d.expected, d.found, count(*) over ()"
    " from ({compared}) as d left join head as h on d.fact_no = h.fact_no limit {limit}"
)


class CheckCut:
    """A connection whose transaction sees the snapshot; its tables are temporary.

    It judges by the rule version of the projection as the snapshot has it. Facts that lie apart are copied out of it and
    judged at once: ``schema`` then names where they lie (see ``shadow_judge``).

    Raises:
        Unfit: ``projection_missing``, ``rule_unknown``.
    """

    def __init__(
        self,
        connection: Connection[Any],
        wanted: CheckWanted,
        *,
        topic_id: UUID | None,
        cut_at: datetime,
        leaf: str | None,
        schema: str | None = None,
    ) -> None:
        self._connection = connection
        self._wanted = wanted
        self._schema = schema or wanted.projection
        self._topic_id = topic_id
        self._parameters = {
            **LIMITS,
            "seed": wanted.seed,
            "past_max": wanted.past_max,
            "past_instants_max": wanted.past_instants_max,
            "with_ids": wanted.with_ids,
            "now": int(cut_at.timestamp()) * 1_000_000 + cut_at.microsecond,
            "now_at": cut_at,
        }
        rule = _rule_of(connection, wanted.projection)
        for one in scripts("check", "prepare"):
            connection.execute(one.filled(connection, rule=rule))
        found = connection.execute(script("check", "own_tables").filled(connection)).fetchall()
        self._truncate = sql.SQL("truncate {}").format(sql.SQL(", ").join(sql.Identifier(name) for (name,) in found))
        self._steps = [self._filled(one) for one in scripts("check", "steps")]
        self._comparisons = [(self._compared(one), one.name.endswith(_LOOK_UPS)) for one in scripts("check", "compare")]
        self._counts = self._filled(script("check", "counts"))
        self._keep = None if leaf is None else script("check", "adjudicate").filled(connection, adjudicated=leaf)

    def judge(self, first: int, last: int) -> tuple[list[Divergence], Tally]:
        """Compares the facts of these numbers, both ends in, with their events; what differs, and what was done."""
        parameters = {**self._parameters, "first": first, "last": last}
        found: list[Divergence] = []
        tally = Tally()
        with failures_named():
            self._connection.execute(self._truncate)
            for step in self._steps:
                self._connection.execute(step, parameters)
            for comparison, is_look_up in self._comparisons:
                lines = self._compare(comparison, parameters, is_look_up=is_look_up)
                found += [Divergence(*line[:-1]) for line in lines]
                tally.divergences += lines[0][-1] if lines else 0
            if self._keep is not None:
                self._connection.execute(self._keep)
            counted = self._connection.execute(self._counts, parameters).fetchone()
        assert counted is not None  # noqa: S101 - an aggregate has one line
        tally.facts, tally.events, tally.bounded = counted
        return found, tally

    def stored(self, partition: int) -> Iterator[StoredLine]:
        """What the projection keeps of each message of a partition, by offset."""
        statement = script("check", "stored_lines").filled(self._connection, schema=self._wanted.projection)
        parameters = {"projection": self._wanted.projection, "topic_id": self._topic_id, "partition": partition}
        with failures_named(), self._connection.cursor("stored", binary=True) as cursor:
            cursor.itersize = LINES_AT_ONCE
            cursor.execute(statement, parameters)
            for line in cursor:
                yield StoredLine(*line)

    def known(self, messages: Sequence[tuple[bytes, bytes, int]]) -> set[int]:
        """Which of these (fact id, event id, offset) were applied from an earlier offset, by their places."""
        statement = script("check", "known_events").filled(self._connection, schema=self._wanted.projection)
        parameters = {
            "keys": [UUID(bytes=key) for key, _, _ in messages],
            "event_ids": [UUID(bytes=event_id) for _, event_id, _ in messages],
            "offsets": [offset for _, _, offset in messages],
        }
        with failures_named():
            return {place - 1 for (place,) in self._connection.execute(statement, parameters).fetchall()}

    def first_asserted(self, events: Sequence[tuple[int | None, int]]) -> set[int]:
        """Which of these (fact number, event sequence) first asserted a version, by their places."""
        statement = script("check", "first_asserted").filled(self._connection, schema=self._wanted.projection)
        parameters = {"fact_nos": [fact_no for fact_no, _ in events], "event_seqs": [seq for _, seq in events]}
        with failures_named():
            return {place - 1 for (place,) in self._connection.execute(statement, parameters).fetchall()}

    def _compare(
        self, comparison: sql.Composed, parameters: Mapping[str, Any], *, is_look_up: bool
    ) -> list[tuple[Any, ...]]:
        if not is_look_up:
            return self._connection.execute(comparison, parameters).fetchall()
        # a read is a few steps in an index for each fact, whatever is best for whole chunks
        self._connection.execute(_LOOKING_UP)
        found = self._connection.execute(comparison, parameters, prepare=True).fetchall()
        self._connection.execute(_JOINING)
        return found

    def _filled(self, one: Script) -> sql.SQL:
        return one.filled(self._connection, schema=self._schema)

    def _compared(self, one: Script) -> sql.Composed:
        return sql.SQL(_HEAD_OF).format(compared=self._filled(one), limit=sql.Literal(FOUND_MAX))


def _rule_of(connection: Connection[Any], projection: str) -> int:
    found = connection.execute("select rule from chronofact.projection where name = %s", (projection,)).fetchone()
    if found is None:
        raise Unfit("projection_missing", f"there is no projection {projection}", remedy="name another")
    return known_rule(projection, found[0])
