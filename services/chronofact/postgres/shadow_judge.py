"""Facts judged by the independent SQL and the rule of their projection, in the snapshot of a comparison, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from psycopg import Connection, sql

from chronofact.contracts.checking import CheckWanted, Divergence
from chronofact.contracts.shadow import Verdict
from chronofact.postgres.check_cut import CheckCut
from chronofact.postgres.check_run import CHUNK_EVENTS, SETTINGS
from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script

COPIED: Final = (
    "fact",
    "event",
    "version",
    "version_label",
    "edge",
    "ending",
    "decision",
    "relation",
    "conflict",
    "timeline",
    "memory",
    "checked",
)
FACTS_AT_ONCE: Final = 2_000
_TEMPORARY: Final = "pg_temp"
_ALL: Final = (-(2**63), 2**63 - 1)
_LOOKING_UP: Final = "set enable_seqscan to off; set enable_nestloop to on"
_JOINING: Final = "set enable_seqscan to on; set enable_nestloop to off"


class ShadowJudge:
    """Judges facts of one projection, as known now."""

    def __init__(self, connection: Connection[Any], projection: str, cut: CheckCut) -> None:
        self._connection = connection
        self._projection = projection
        self._cut = cut
        with failures_named():
            connection.execute(script("shadow", "copies_made").filled(connection, schema=projection))

    def judge(self, fact_nos: Iterable[int]) -> dict[int, Verdict]:
        """What the SQL says of each of them."""
        found: dict[int, Verdict] = {}
        waiting = list(self._chunks(sorted(fact_nos)))
        while waiting:
            some = waiting.pop()
            self._copy(some)
            divergences, tally = self._cut.judge(*_ALL)
            is_whole = tally.divergences == len(divergences) and not tally.bounded
            if is_whole or len(some) == 1:
                found |= dict(_verdicts(some, divergences, is_judged=not tally.bounded))
            else:
                waiting += [some[: len(some) // 2], some[len(some) // 2 :]]
        return found

    def _chunks(self, fact_nos: Sequence[int]) -> Iterator[Sequence[int]]:
        """By how many events they have; what is not there has none."""
        sized = self._connection.execute(
            sql.SQL("select f.fact_no, f.event_seq from {}.fact as f where f.fact_no = any(%s) order by 1").format(
                sql.Identifier(self._projection)
            ),
            (list(fact_nos),),
        ).fetchall()
        some: list[int] = []
        events = 0
        for fact_no, event_seq in sized:
            if some and (events + event_seq > CHUNK_EVENTS or len(some) >= FACTS_AT_ONCE):
                yield some
                some, events = [], 0
            some.append(fact_no)
            events += event_seq
        if some:
            yield some

    def _copy(self, fact_nos: Sequence[int]) -> None:
        with failures_named():
            copies = sql.SQL(", ").join(sql.Identifier(_TEMPORARY, name) for name in COPIED)
            self._connection.execute(sql.SQL("truncate {}").format(copies))
            self._connection.execute(_LOOKING_UP)
            for name in COPIED:
                statement = script("shadow", "copy").filled(
                    self._connection, copy=sql.Identifier(_TEMPORARY, name), schema=self._projection, whole=name
                )
                self._connection.execute(statement, {"fact_nos": list(fact_nos)})
            self._connection.execute(_JOINING)
            self._connection.execute(sql.SQL("analyze {}").format(copies))


@contextmanager
def judging(conninfo: str, snapshot_id: str, *, projection: str, cut_at: datetime) -> Iterator[ShadowJudge]:
    """A judge in a snapshot that another connection exported."""
    wanted = CheckWanted(projection, past_max=0, with_log=False, with_adjudicated=False)
    with failures_named(), connect(conninfo, "shadow", autocommit=False, **SETTINGS) as connection:
        connection.execute("set transaction isolation level repeatable read")
        connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(snapshot_id)))
        cut = CheckCut(connection, wanted, topic_id=None, cut_at=cut_at, leaf=None, schema=_TEMPORARY)
        yield ShadowJudge(connection, projection, cut)


def _verdicts(
    fact_nos: Sequence[int], divergences: Iterable[Divergence], *, is_judged: bool
) -> Iterator[tuple[int, Verdict]]:
    wrong = {one.fact_no: f"{one.relation}.{one.aspect}" for one in divergences}
    for fact_no in fact_nos:
        yield fact_no, Verdict(is_judged or fact_no in wrong, wrong.get(fact_no))
