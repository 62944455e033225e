"""A worker's side of a load: parts claimed, buckets written with their checkpoints, indexes made, messages set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import starmap
from struct import Struct
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg import Connection, sql
from psycopg.pq import TransactionStatus

from chronofact.contracts.projection import Lines
from chronofact.contracts.rebuilding import RebuildCancelled, RebuildLost
from chronofact.postgres import copy
from chronofact.postgres.errors import failures_named
from chronofact.postgres.packed import encoded
from chronofact.postgres.session import connect
from chronofact.postgres.template import scripts

LOCK_CLASS: Final = 0x6C6F6164  # "load"
SETTINGS: Final[dict[str, str | int]] = {
    # a bucket and its checkpoint are one transaction: a server that dies loses both or none
    "synchronous_commit": "off",
    "statement_timeout": 0,
    "lock_timeout": 10_000,
    "client_connection_check_interval": 2_000,
    "max_parallel_maintenance_workers": 0,
    # enough for plans by key; the default's sample of 30,000 lines is most of a leaf, and cost more than its indexes
    "default_statistics_target": 25,
}
_aside_start: Final = Struct("!hiqihiqiqi").pack


def session_of_workers(rebuild_id: int) -> str:
    """How the sessions of a rebuild's workers are called, whichever runner they work for."""
    return f"rebuild {rebuild_id} worker"


class PartClaim(NamedTuple):
    """A partition to load, and how far it was loaded before; no bucket: their number is open."""

    partition: int
    target: int
    buckets: int
    buckets_done: int
    fact_no_last: int


class Bucket(NamedTuple):
    """What a bucket came to."""

    messages: int
    events: int
    facts: int
    aside: int
    fact_no_last: int


class AsideMessage(NamedTuple):
    """A message set aside, as it was read."""

    partition: int
    offset: int
    key: bytes
    value: bytes
    appended_at: int


class Encoded:
    """Lines as COPY takes them, by table."""

    def __init__(self) -> None:
        self.blocks: dict[str, list[bytes]] = {}
        self.size = 0

    def add(self, lines: Lines) -> None:
        """All of them but what a fact folded at once can't have: no heads, nothing gone, nothing parked."""
        for table, found in encoded(lines):
            self._put(table, found)
        if lines.conflicts_now:
            self._put("conflict", starmap(copy.conflict_line, lines.conflicts_now))

    def _put(self, table: str, lines: Iterable[bytes]) -> None:
        block = b"".join(lines)
        self.blocks.setdefault(table, []).append(block)
        self.size += len(block)


class LoadWork:
    """One worker's connection, opened when needed and again after it broke."""

    def __init__(
        self,
        conninfo: str,
        rebuild_id: int,
        *,
        epoch: int,
        worker: int,
        projection: str,
        step: Callable[[], None] = lambda: None,
    ) -> None:
        """``step`` is told whenever the work goes on."""
        self._conninfo = conninfo
        self.step = step
        self.rebuild_id = rebuild_id
        self.projection = projection
        self._named: dict[str, Any] = {
            "rebuild_id": rebuild_id,
            "epoch": epoch,
            "worker": worker,
            "projection": projection,
        }
        self._connection: Connection[Any] | None = None
        self._statements: Mapping[str, sql.SQL] = {}

    def planned(self) -> tuple[bytes, str, Sequence[int], int]:
        """Topic id, fingerprint of the fold, targets, and the rule.

        Raises:
            RebuildLost: another runner has it.
        """
        with self._transaction() as connection:
            topic_id, fingerprint, targets, rule, _ = self._line(connection, "planned")
        return topic_id.bytes, fingerprint, targets, rule

    def claim(self) -> PartClaim | None:
        """The next partition to load; None where the rest is others' or done."""
        with self._transaction() as connection:
            found = connection.execute(self._statements["claim_part"], self._named).fetchone()
        return None if found is None else PartClaim(*found)

    def dropped(self, topic_id: bytes, partition: int) -> frozenset[int]:
        """Offsets that any projection of the topic has given up."""
        with self._transaction() as connection:
            named = {"topic_id": UUID(bytes=topic_id), "partition": partition}
            return frozenset(offset for (offset,) in connection.execute(self._statements["dropped"], named))

    def read(self, partition: int, messages_read: int, *, buckets: int, state: str) -> int:
        """So much is read; fixes the number of buckets if it was open, and tells it.

        Raises:
            RebuildLost, RebuildCancelled: the part is not ours any more.
        """
        told = {"partition": partition, "messages_read": messages_read, "buckets": buckets, "state": state}
        with self._transaction() as connection:
            found, is_cancelled = self._line(connection, "read_part", **told)
        if is_cancelled:
            raise RebuildCancelled
        return int(found)

    @contextmanager
    def bucket(self, partition: int, number: int) -> Iterator[BucketWriter]:
        """One bucket's transaction, which begins with the first write.

        Raises:
            RebuildLost, RebuildCancelled, ConstraintBroken, Transient: nothing of it was written.
        """
        writer = BucketWriter(self, partition, number)
        try:
            with failures_named():
                yield writer
                writer.commit()
        finally:
            writer.close()

    def relations(self) -> list[tuple[str, bool]]:
        """Tables that lack indexes and may get them now, largest first; whether it is one over leaves, which waits for them."""
        with self._transaction() as connection:
            return connection.execute(self._statements["relations"], self._named).fetchall()

    def index(self, relation: str, *, is_over_leaves: bool) -> bool:
        """Make what a table lacks, then analyse it; False where another worker is at it.

        Raises:
            RebuildLost, RebuildCancelled: it was not made.
            ConstraintBroken: what was loaded breaks a constraint.
        """
        with self._transaction() as connection:
            key = f"{self._named['rebuild_id']} {relation}"
            found = connection.execute(
                "select pg_try_advisory_xact_lock(%s, hashtext(%s))", (LOCK_CLASS, key)
            ).fetchone()
            if not (found and found[0]):
                return False
            self._fence(connection)
            named = {**self._named, "relation": relation}
            for (definition,) in connection.execute(self._statements["missing"], named).fetchall():
                connection.execute(definition)
            if not is_over_leaves:
                connection.execute(
                    sql.SQL("analyze {}.{}").format(sql.Identifier(self.projection), sql.Identifier(relation))
                )
            connection.execute(self._statements["indexed_parts"], self._named)
        return True

    def is_indexed(self) -> bool:
        """Whether no table lacks any index."""
        with self._transaction() as connection:
            return connection.execute(self._statements["unindexed"], self._named).fetchone() is None

    def is_applied(self, topic_id: bytes) -> bool:
        """Whether no message is set aside any more, in anybody's hands or in none."""
        with self._transaction() as connection:
            named = {**self._named, "topic_id": UUID(bytes=topic_id)}
            return connection.execute(self._statements["aside_partitions"], named).fetchone() is None

    @contextmanager
    def aside_partition(self, topic_id: bytes) -> Iterator[int | None]:
        """A partition whose messages set aside nobody applies yet, for this worker alone; None where others have the rest."""
        named = {**self._named, "topic_id": UUID(bytes=topic_id)}
        with failures_named():
            connection = self.connection()
            for (partition,) in connection.execute(self._statements["aside_partitions"], named).fetchall():
                lock = (LOCK_CLASS, f"{self._named['rebuild_id']} aside {partition}")
                found = connection.execute("select pg_try_advisory_lock(%s, hashtext(%s))", lock).fetchone()
                if found and found[0]:
                    try:
                        yield partition
                    finally:
                        if not connection.closed and not connection.broken:
                            connection.execute("select pg_advisory_unlock(%s, hashtext(%s))", lock)
                    return
        yield None

    def aside(self, partition: int, next_offset: int, *, messages_max: int) -> list[AsideMessage]:
        """The next messages set aside, by offset.

        Raises:
            RebuildLost, RebuildCancelled: they are another's to apply, or nobody's.
        """
        named = {**self._named, "partition": partition, "next_offset": next_offset, "messages_max": messages_max}
        with self._transaction() as connection:
            self._fence(connection)
            with connection.cursor(binary=True) as cursor:
                found = cursor.execute(self._statements["aside"], named).fetchall()
        return [AsideMessage(partition, offset, key, value, at) for offset, key, value, at in found]

    @property
    def is_asking(self) -> bool:
        """Whether Postgres has something to answer; for any thread."""
        connection = self._connection
        return connection is not None and connection.pgconn.transaction_status == TransactionStatus.ACTIVE

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def connection(self) -> Connection[Any]:
        """As it is, or a new one."""
        self.step()
        connection = self._connection
        if connection is None or connection.closed:
            connection = connect(self._conninfo, session_of_workers(self.rebuild_id), autocommit=True, **SETTINGS)
            self._statements = {one.name: one.filled(connection) for one in scripts("load", "work")}
            self._connection = connection
        return connection

    def execute(self, name: str, **told: object) -> tuple[Any, ...] | None:
        """One statement in whatever transaction is open."""
        found = self.connection().execute(self._statements[name], {**self._named, **told})
        return found.fetchone() if found.description is not None else None

    def _fence(self, connection: Connection[Any]) -> None:
        (is_cancelled,) = self._line(connection, "is_ours")
        if is_cancelled:
            raise RebuildCancelled

    def _line(self, connection: Connection[Any], name: str, **told: object) -> tuple[Any, ...]:
        found: tuple[Any, ...] | None = connection.execute(self._statements[name], {**self._named, **told}).fetchone()
        if found is None:
            raise RebuildLost(self._named["rebuild_id"])
        return found

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        with failures_named():
            connection = self.connection()
            try:
                with connection.transaction():
                    yield connection
            except BaseException:
                if connection.broken:
                    self.close()
                raise


class BucketWriter:
    """Writes of one bucket, in a transaction of its own that also moves the part's checkpoint."""

    def __init__(self, work: LoadWork, partition: int, number: int) -> None:
        self._work = work
        self._partition = partition
        self._number = number
        self._came_to: Bucket | None = None
        self._is_open = False

    def write(self, encoded: Encoded) -> None:
        """Add lines; their memory is given back."""
        connection = self._begun()
        for table, blocks in encoded.blocks.items():
            _copied(connection, copy.copy_statement(self._work.projection, table), blocks)
        encoded.blocks.clear()
        encoded.size = 0

    def set_aside(self, messages: Iterable[AsideMessage]) -> None:
        """Keep messages for later."""
        lines = [_aside_line(self._work.rebuild_id, *message) for message in messages]
        if lines:
            _copied(self._begun(), sql.SQL("copy chronofact.rebuild_aside from stdin (format binary)"), lines)

    def done(self, came_to: Bucket) -> None:
        """All is written: the checkpoint moves with the end of the block."""
        self._came_to = came_to

    def commit(self) -> None:
        """The end of the block."""
        if self._came_to is not None:
            connection = self._begun()
            self._work.execute("bucket_done", partition=self._partition, **self._came_to._asdict())
            connection.execute("commit")
            self._is_open = False

    def close(self) -> None:
        """Roll back what was not committed."""
        if self._is_open:
            self._is_open = False
            self._work.close()

    def _begun(self) -> Connection[Any]:
        connection = self._work.connection()
        if not self._is_open:
            connection.execute("begin")
            self._is_open = True
            found = self._work.execute("fence_part", partition=self._partition)
            if found is None or found[0] != self._number:
                raise RebuildLost(self._work.rebuild_id)
            if found[1]:
                raise RebuildCancelled
        return connection


def _copied(connection: Connection[Any], statement: sql.SQL | sql.Composed, blocks: Iterable[bytes]) -> None:
    with connection.cursor() as cursor, cursor.copy(statement) as stream:
        stream.write(copy.HEADER)
        for block in blocks:
            stream.write(block)
        stream.write(copy.TRAILER)


def _aside_line(rebuild_id: int, partition: int, offset: int, key: bytes, value: bytes, appended_at: int) -> bytes:
    head = _aside_start(6, 8, rebuild_id, 2, partition, 8, offset, 8, appended_at, len(key))
    return b"".join((head, key, len(value).to_bytes(4), value))
