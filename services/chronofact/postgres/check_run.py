"""One check at work: a snapshot that all its workers share, what they found, and the table of answers they leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg import Connection, sql

from chronofact.contracts.checking import CheckWanted, Divergence, Tally
from chronofact.postgres.check_cut import CheckCut
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import IDLE_IN_SNAPSHOT_MS, alive
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.runtime.failures import Transient, Unfit

KEPT_MAX: Final = 10_000
"""Divergences that a run keeps; all are counted."""
CHUNK_EVENTS: Final = 8_000
DROP_LOCK_TIMEOUT_MS: Final = 50
WATCHED: Final[dict[str, str | int]] = {
    # a server that computes hears of a client's death only if it looks: a check that was killed would go on for long
    "client_connection_check_interval": 2_000,
    "statement_timeout": 15 * 60_000,
}
"""Bounds, in milliseconds, on what a check whose client is gone, or that has gone astray, costs."""
SETTINGS: Final[dict[str, str | int]] = {
    **WATCHED,
    "idle_in_transaction_session_timeout": IDLE_IN_SNAPSHOT_MS,
    "jit": "off",
    "max_parallel_workers_per_gather": 0,
    "work_mem": "64MB",
    "temp_buffers": "64MB",
    # every step joins whole chunks by key: a plan made for small tables would not be one for these
    "enable_nestloop": "off",
    "enable_mergejoin": "off",
    # in the order written: every other one may pair a fact's versions before an edge picks two of them
    "join_collapse_limit": 1,
    "from_collapse_limit": 1,
}


class CheckRun:
    """A run; ``connection`` holds its lock and says how far it has come."""

    def __init__(self, conninfo: str, connection: Connection[Any], run_id: int, wanted: CheckWanted) -> None:
        self._conninfo = conninfo
        self._connection = connection
        self._open = ExitStack()
        self._snapshot: Connection[Any] | None = None
        self._snapshot_id = ""
        self._kept = 0
        self.run_id = run_id
        self.wanted = wanted
        self.topic_id: UUID | None = None
        self.next_offsets: Mapping[int, int] = {}
        self.facts_total = 0
        self.cut_at: datetime | None = None
        self._table: str | None = None
        self._shares: Sequence[tuple[int, int]] = ()

    def chunks(self) -> Sequence[tuple[int, int]]:
        """Ranges of fact numbers, both ends in; between them they hold every line that there is or could be."""
        with failures_named():
            found = self._reader().execute(
                script("check", "chunks").filled(self._reader(), schema=self.wanted.projection), (CHUNK_EVENTS,)
            )
            starts: list[tuple[int, int]] = found.fetchall()
        self.facts_total = sum(facts for _, facts in starts)
        firsts = [-(2**63), *(first for first, _ in starts[1:])]
        lasts = [*(first - 1 for first in firsts[1:]), 2**63 - 1]
        return list(zip(firsts, lasts, strict=True))

    def take_snapshot(self) -> None:
        """The cut: what the projection holds now, and the offsets that it holds it up to.

        Raises:
            Unfit: ``projection_missing``.
        """
        with failures_named():
            connection = connect(self._conninfo, "check", autocommit=False, **SETTINGS)
            self._snapshot = self._open.enter_context(closing(connection))
            self._snapshot.execute("set transaction isolation level repeatable read, read only")
            found = self._snapshot.execute(
                script("check", "cut").filled(self._snapshot), {"projection": self.wanted.projection}
            ).fetchone()
            if found is None:
                raise Unfit(
                    "projection_missing", f"there is no projection {self.wanted.projection}", remedy="name another"
                )
            self._snapshot_id, self.cut_at, self.topic_id, partitions, offsets = found
            self.next_offsets = dict(zip(partitions, offsets, strict=True))
            self._open.enter_context(alive(connection))
            listed = [self.next_offsets.get(one, 0) for one in range(max(self.next_offsets, default=-1) + 1)]
            self._connection.execute(
                script("check", "took_cut").filled(self._connection),
                {"run_id": self.run_id, "cut_at": self.cut_at, "topic_id": self.topic_id, "next_offsets": listed},
            )

    @contextmanager
    def cut(self, share: int | None = None) -> Iterator[CheckCut]:
        """A worker's look at the snapshot; what it leaves of its share is there once the block ends well."""
        assert self.cut_at is not None  # noqa: S101 - taken before anything is read
        leaf = None if share is None or self._table is None else self._leaf(share)
        with failures_named(), connect(self._conninfo, "check", autocommit=False, **SETTINGS) as connection:
            connection.execute("set transaction isolation level repeatable read")
            connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(self._snapshot_id)))
            yield CheckCut(connection, self.wanted, topic_id=self.topic_id, cut_at=self.cut_at, leaf=leaf)

    def make_table(self, shares: Sequence[tuple[int, int]]) -> None:
        """An empty table of answers, with a leaf for each share of fact numbers."""
        self._table = f"adjudicated_{self.run_id}"
        self._shares = shares
        with failures_named():
            self._execute("adjudicated_table", adjudicated=self._table)
            for share in range(len(shares)):
                self._execute("adjudicated_leaf", adjudicated=self._table, leaf=self._leaf(share))
            self._connection.execute(
                "update chronofact.reconciliation_run set adjudicated = %s where run_id = %s",
                (self._table, self.run_id),
            )

    def adjudicate(self, share: int) -> list[Divergence]:
        """Names overlaps in a worker's share, then puts the rest under the constraint that there are none."""
        assert self._table is not None  # noqa: S101 - made before anything is kept in it
        leaf, (first, last) = self._leaf(share), self._shares[share]
        with failures_named(), connect(self._conninfo, "check", autocommit=True, **SETTINGS) as connection:
            connection.execute("set maintenance_work_mem to '256MB'")
            found = connection.execute(script("check", "adjudicated_overlaps").filled(connection, leaf=leaf)).fetchall()
            if found:
                drop = script("check", "adjudicated_without").filled(connection, leaf=leaf)
                connection.execute(drop, {"fact_nos": [line[0] for line in found]})
            constraint = script("check", "adjudicated_constraint")
            connection.execute(constraint.filled(connection, leaf=leaf, constraint=f"{leaf}_one_answer"))
            low = sql.SQL("minvalue") if share == 0 else sql.Literal(first)
            high = sql.SQL("maxvalue") if share == len(self._shares) - 1 else sql.Literal(last + 1)
            attach = script("check", "adjudicated_attach")
            connection.execute(attach.filled(connection, adjudicated=self._table, leaf=leaf, low=low, high=high))
        return [
            Divergence(fact_no, fact_id, "adjudicated", "overlap", f"lane {lane}", during, beside)
            for fact_no, fact_id, lane, during, beside in found
        ]

    def found(self, divergences: Iterable[Divergence]) -> None:
        """Keeps what differs, up to a limit."""
        kept = [(self.run_id, *_told(one)) for one in divergences][: KEPT_MAX - self._kept]
        self._kept += len(kept)
        with failures_named(), self._connection.cursor() as cursor:
            cursor.executemany(script("check", "keep").filled(self._connection), kept)

    def progress(self, tally: Tally) -> None:
        """How far it has come."""
        with failures_named():
            self._connection.execute(
                script("check", "progress").filled(self._connection),
                {
                    "run_id": self.run_id,
                    "facts": tally.facts,
                    "facts_total": tally.facts_total,
                    "events": tally.events,
                    "messages": tally.messages,
                    "messages_total": tally.messages_total,
                    "divergences": tally.divergences,
                    "bounded": tally.bounded,
                },
            )

    def finish(self) -> None:
        """The run is whole; older tables of answers are dropped, unless somebody is just reading them."""
        self._end_snapshot()
        with failures_named():
            self._connection.execute(script("check", "finish").filled(self._connection), {"run_id": self.run_id})
        self._drop_old()

    def fail(self, why: str) -> None:
        """The run came to nothing."""
        self._end_snapshot()
        if not self._connection.closed:
            with failures_named():
                parameters = {"run_id": self.run_id, "failure": why[:200]}
                self._connection.execute(script("check", "fail").filled(self._connection), parameters)
            self._drop_old()

    def _drop_old(self) -> None:
        with failures_named():
            found = self._connection.execute(script("check", "old_tables").filled(self._connection)).fetchall()
            for (name,) in found:
                with suppress(Transient):  # somebody reads it: the next run will drop it
                    self._drop(name)

    def _drop(self, name: str) -> None:
        with failures_named(), self._connection.transaction():
            self._connection.execute(f"set local lock_timeout = {DROP_LOCK_TIMEOUT_MS}")
            self._connection.execute(sql.SQL("drop table chronofact.{}").format(sql.Identifier(name)))

    def _execute(self, name: str, **slots: str) -> None:
        self._connection.execute(script("check", name).filled(self._connection, **slots))

    def _leaf(self, share: int) -> str:
        return f"{self._table}_{share}"

    def _reader(self) -> Connection[Any]:
        assert self._snapshot is not None  # noqa: S101 - taken before anything is read
        return self._snapshot

    def _end_snapshot(self) -> None:
        self._open.close()
        self._snapshot = None


def _told(one: Divergence) -> tuple[Any, ...]:
    return (one.fact_no, one.fact_id, one.relation, one.aspect, one.place, one.expected, one.found)
