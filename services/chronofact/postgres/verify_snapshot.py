"""Snapshots of projections that all workers of a verification share, and how far each had come in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from types import TracebackType
from typing import Final, Self

from psycopg import sql

from chronofact.contracts.verification import Aspects, Cut
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import IDLE_IN_SNAPSHOT_MS, alive
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.postgres.verify_side import VerifySide
from chronofact.runtime.failures import Unfit

SETTINGS: Final[dict[str, str | int]] = {
    # a server that computes hears of a client's death only if it looks
    "client_connection_check_interval": 2_000,
    "statement_timeout": 30 * 60_000,
    "idle_in_transaction_session_timeout": IDLE_IN_SNAPSHOT_MS,
    "jit": "off",
    # both sides are at work at once, each partition by itself
    "max_parallel_workers_per_gather": 0,
    # what is read is summed at once and by the core that read it: another process to read ahead only costs
    "effective_io_concurrency": 0,
    "work_mem": "64MB",
    "hash_mem_multiplier": 4,
}


class Snapshot:
    """One REPEATABLE READ snapshot, held until it is closed."""

    def __init__(self, conninfo: str, projections: Sequence[str]) -> None:
        """Takes it.

        Raises:
            Unfit: ``projection_missing``.
        """
        self._conninfo = conninfo
        self._open = ExitStack()
        with failures_named():
            self._connection = self._open.enter_context(
                closing(connect(conninfo, "verify", autocommit=False, **SETTINGS))
            )
            try:
                self._connection.execute("set transaction isolation level repeatable read, read only")
                exported = self._connection.execute("select pg_export_snapshot()").fetchone()
                self._id = "" if exported is None else str(exported[0])
                self.cuts = self._cuts(projections)
                self._open.enter_context(alive(self._connection))
            except BaseException:
                self._open.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @contextmanager
    def sides(self, *projections: str, aspects: Aspects, partitions: int) -> Iterator[tuple[VerifySide, ...]]:
        """A worker's look at each of these projections, in ranges of so many partitions, on one connection."""
        with failures_named(), connect(self._conninfo, "verify", autocommit=False, **SETTINGS) as connection:
            connection.execute("set transaction isolation level repeatable read, read only")
            connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(self._id)))
            yield tuple(
                VerifySide(connection, one, self.cuts[one].topic_id, aspects, partitions=partitions)
                for one in projections
            )

    def _cuts(self, projections: Sequence[str]) -> dict[str, Cut]:
        found = self._connection.execute(
            script("verify", "cut").filled(self._connection), {"projections": list(projections)}
        ).fetchall()
        cuts = {
            name: Cut(rule, state, topic_id, dict(zip(partitions, offsets, strict=True)), serves, leaves)
            for name, rule, state, serves, topic_id, partitions, offsets, leaves in found
        }
        for one in projections:
            if one not in cuts:
                raise Unfit("projection_missing", f"there is no projection {one}", remedy="name another")
        return cuts


class Snapshots:
    """Takes them, of one database."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def take(self, *projections: str) -> Snapshot:
        """What these projections hold now.

        Raises:
            Unfit: ``projection_missing``.
        """
        return Snapshot(self._conninfo, projections)

    def look(self, *projections: str) -> Mapping[str, Cut]:
        """How far these have come now, and no more.

        Raises:
            Unfit: ``projection_missing``.
        """
        with self.take(*projections) as snapshot:
            return snapshot.cuts
