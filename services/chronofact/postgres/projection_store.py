"""The projector's side of the database: claims, and batches of one transaction each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby, starmap
from operator import itemgetter
from typing import Any, Final
from uuid import UUID

from psycopg import Connection, sql
from psycopg.pq import TransactionStatus

from chronofact.contracts.projection import (
    NOT_COUNTED,
    Ask,
    Claim,
    Lines,
    ParkedMessage,
    Step,
    StoredEvent,
    StoredFact,
    beyond,
)
from chronofact.postgres import copy, silence
from chronofact.postgres.errors import failures_named
from chronofact.postgres.packed import PackedLines, encoded
from chronofact.postgres.parking_batch import ParkingBatch, asks
from chronofact.postgres.projections import PARTITION_SHIFT, leaves_of
from chronofact.postgres.raw_loaders import MicrosLoader, RawLoader
from chronofact.postgres.raw_values import head_line
from chronofact.postgres.rules import known_rule
from chronofact.postgres.session import connect
from chronofact.postgres.spelling import Int8Array, UuidArray, take_parameters
from chronofact.postgres.template import scripts
from chronofact.runtime.failures import ConstraintBroken, Fenced, Held, Transient, Unfit
from chronofact.runtime.fingerprint import fold_fingerprint

PARKED_WINDOW: Final = 10_000
STATEMENT_TIMEOUT_MS: Final = 60_000
LOCK_TIMEOUT_MS: Final = 10_000
CLAIM_LOCK_TIMEOUT_MS: Final = 1_000
"""How long a claim lets the owner before finish its batch; then that batch is ended (ADR 24)."""


class ProjectionStore:
    """One projection, written over one connection that is opened when needed and again after it broke."""

    def __init__(self, conninfo: str, projection: str, *, name: str = "projector", is_builder: bool = False) -> None:
        """``is_builder``: works for the rebuild that loads it, and may write before it is to be fed."""
        self._conninfo = conninfo
        self._is_builder = is_builder
        self._name = name
        self.projection = projection
        self._connection: Connection[Any] | None = None
        self._statements: Mapping[str, sql.SQL] = {}

    def made_of(self) -> bytes | None:
        """The id of the topic that was applied here, or that it was rebuilt from; None where there is neither.

        Raises:
            Transient: the database is away.
        """
        with self._transaction() as connection:
            found = connection.execute(self._statements["made_of"], {"projection": self.projection}).fetchone()
        return None if found is None or found[0] is None else bytes(found[0].bytes)

    def claim(self, topic_id: bytes, partition: int, *, watermarks: tuple[int, int]) -> Claim:
        """Become the partition's owner.

        Raises:
            Unfit: ``projection_missing``, ``rule_unknown``, ``topic_recreated``, ``projection_partitions_differ``,
                ``log_truncated``, ``log_shortened``; nothing was changed.
            Transient: the database is away or busy.
        """
        try:
            return self._take_over(topic_id, partition, watermarks)
        except ConstraintBroken as broken:
            if broken.constraint != "checkpoint_of_projection":
                raise
            raise Unfit(
                "projection_missing",
                f"there is no projection {self.projection}",
                remedy="run `chronofact migrate`, or name another in CHRONOFACT_PROJECTION",
            ) from broken

    def _take_over(self, topic_id: bytes, partition: int, watermarks: tuple[int, int]) -> Claim:
        """Claim, if need be from an owner that stands still within a batch: stopped, or beyond a broken network."""
        try:
            return self._claim(topic_id, partition, watermarks)
        except Transient as failure:
            if failure.code != "postgres_busy":
                raise
        where = {"projection": self.projection, "topic_id": UUID(bytes=topic_id), "partition": partition}
        with self._transaction() as connection:
            connection.execute(self._statements["end_holder"], where)
        return self._claim(topic_id, partition, watermarks)

    def _claim(self, topic_id: bytes, partition: int, watermarks: tuple[int, int]) -> Claim:
        with self._transaction() as connection:
            connection.execute(f"set local lock_timeout = {CLAIM_LOCK_TIMEOUT_MS}")
            where = {"projection": self.projection, "topic_id": UUID(bytes=topic_id), "partition": partition}
            self._refuse_half_built(connection)
            self._refuse_other_topic(connection, where)
            next_offset, epoch_before, epoch, rule = self._one(connection, "claim", where)
            self._refuse_partition(connection, partition)
            fingerprint = fold_fingerprint(known_rule(self.projection, rule))
            connection.execute(self._statements["claim_fingerprint"], {**where, "fingerprint": fingerprint})
            _refuse_gaps(partition, next_offset, *watermarks)
            numbers = {"first": partition << PARTITION_SHIFT, "last": (partition + 1) << PARTITION_SHIFT}
            (fact_no_last,) = self._one(connection, "claim_fact_no", numbers)
            held = connection.execute(self._statements["claim_held"], where).fetchall()
            recent = {**where, "since": next_offset - PARKED_WINDOW, "not_counted": list(NOT_COUNTED)}
            parked = connection.execute(self._statements["claim_parked"], recent).fetchall()
            dropped = connection.execute(self._statements["claim_dropped"], where).fetchall()
        return Claim(
            epoch_before=epoch_before,
            epoch=epoch,
            next_offset=next_offset,
            fact_no_last=fact_no_last,
            held=frozenset(bytes(fact_id) for fact_id, _ in held if fact_id is not None),
            parked_offsets=tuple(offset for (offset,) in parked),
            parked=sum(messages for _, messages in held),
            dropped={offset: key or b"" for offset, key in dropped},
            rule=rule,
        )

    def asked(self, topic_id: bytes, partitions: Sequence[int]) -> Sequence[Ask]:
        """What is to be tried again in these partitions, first asked first."""
        where = {"projection": self.projection, "topic_id": UUID(bytes=topic_id)}
        with self._transaction() as connection:
            return asks(connection, self._statements["asked"], where, partitions)

    def lines(self) -> Lines:
        """Spelled for COPY where they are made."""
        return PackedLines()

    @contextmanager
    def begin(self) -> Iterator[ProjectionBatch]:
        """One transaction: committed at the end, rolled back by an exception."""
        with self._transaction() as connection:
            yield ProjectionBatch(connection, self.projection, self._statements)

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def cut(self) -> None:
        """Break the connection under whoever waits at it; from another thread."""
        if (connection := self._connection) is not None:
            silence.cut(connection)

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        with failures_named():
            connection = self._open()
            try:
                with connection.transaction():
                    yield connection
            finally:
                if connection.info.transaction_status is not TransactionStatus.IDLE:
                    self.close()

    def _open(self) -> Connection[Any]:
        connection = self._connection
        if connection is None or connection.closed:
            settings = {"statement_timeout": STATEMENT_TIMEOUT_MS, "lock_timeout": LOCK_TIMEOUT_MS}
            connection = connect(self._conninfo, self._name, autocommit=True, **settings)
            self._statements = {
                one.name: one.filled(connection, schema=self.projection) for one in scripts("projector")
            }
            connection.execute(self._statements["stage_heads"])
            take_parameters(connection.adapters)
            self._connection = connection
        return connection

    def _refuse_partition(self, connection: Connection[Any], partition: int) -> None:
        leaves = leaves_of(connection, self.projection)
        if 0 < leaves <= partition:  # with no tables at all, the next statement says so
            raise Unfit(
                "projection_partitions_differ",
                f"{self.projection} was made for {leaves} partitions, and the facts topic has more",
                remedy="make one for this topic by `chronofact rebuild start` (docs/operations/more-partitions.md)",
            )

    def _refuse_half_built(self, connection: Connection[Any]) -> None:
        """A projector that fed one of this name before its database was lost must not write beside the workers."""
        is_half_built = connection.execute(
            self._statements["claim_building"], {"projection": self.projection}
        ).fetchone()
        if is_half_built is not None and not self._is_builder:
            raise Unfit(
                "projection_not_fed",
                f"projection {self.projection} is being built",
                remedy="its projectors go on by themselves once it is loaded: `chronofact rebuild status`",
            )

    def _refuse_other_topic(self, connection: Connection[Any], where: Mapping[str, Any]) -> None:
        other = connection.execute(self._statements["claim_other_topic"], where).fetchone()
        if other is not None:
            raise Unfit(
                "topic_recreated",
                f"projection {self.projection} was filled from another topic of this name",
                remedy="bring that topic back, or rebuild from this one: docs/operations/rebuild.md",
            )

    def _one(self, connection: Connection[Any], statement: str, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
        found: tuple[Any, ...] | None = connection.execute(self._statements[statement], parameters).fetchone()
        assert found is not None  # noqa: S101 - both statements always answer with one line
        return found


def _refuse_gaps(partition: int, next_offset: int, low: int, high: int) -> None:
    if low > 0:
        raise Unfit(
            "log_truncated",
            f"partition {partition} of the facts topic starts at offset {low}, not at 0",
            remedy="restore the topic: without its start no projection can be rebuilt",
        )
    if high < next_offset:
        raise Unfit(
            "log_shortened",
            f"partition {partition} of the facts topic ends at {high}, but {next_offset} were applied",
            remedy="restore the topic, or rebuild from what is left: docs/operations/rebuild.md",
        )


class ProjectionBatch:
    """One open transaction."""

    def __init__(self, connection: Connection[Any], projection: str, statements: Mapping[str, sql.SQL]) -> None:
        self._connection = connection
        self._projection = projection
        self._statements = statements

    def advance(self, topic_id: bytes, steps: Sequence[Step]) -> Mapping[int, int]:
        """Lock and move the checkpoints; tells each one's next offset before.

        Raises:
            Fenced: an epoch is not ours any more.
            Held: the batch goes beyond where a partition has to stop.
        """
        where = {"projection": self._projection, "topic_id": UUID(bytes=topic_id)}
        self._parking = ParkingBatch(self._connection, self._statements, where)
        parameters = {
            **where,
            "partitions": [step.partition for step in steps],
            "epochs": [step.epoch for step in steps],
            "next_offsets": [step.next_offset for step in steps],
        }
        found = self._connection.execute(self._statements["advance"], parameters).fetchall()
        before = {partition: next_offset for partition, next_offset, _ in found}
        lost = [step.partition for step in steps if step.partition not in before]
        if lost:
            raise Fenced(lost)
        stop_at = {partition: offset for partition, _, offset in found if offset is not None}
        if passed := beyond(steps, before, stop_at):
            raise Held(passed, before)
        return before

    def load(self, fact_ids: Sequence[bytes]) -> Sequence[StoredFact]:
        """Those of the facts that are known, with all their events."""
        with self._connection.cursor(binary=True) as cursor:
            cursor.adapters.register_loader("timestamptz", MicrosLoader)
            cursor.adapters.register_loader("uuid", RawLoader)
            cursor.adapters.register_loader("text", RawLoader)
            cursor.execute(self._statements["load_facts"], {"fact_ids": UuidArray.of(fact_ids)})
            heads = cursor.fetchall()
            if not heads:
                return []
            cursor.execute(self._statements["load_events"], {"fact_nos": Int8Array.of([head[0] for head in heads])})
            events = {
                fact_no: [StoredEvent(line[1], line[2].decode(), line[3], line[4]) for line in lines]
                for fact_no, lines in groupby(cursor, itemgetter(0))
            }
        return [StoredFact._make((*head, events.get(head[0], []))) for head in heads]

    def write(self, lines: Lines) -> None:
        """Add all lines, heads and conflicts included."""
        schema, connection = self._projection, self._connection
        for table, found in encoded(lines):
            copy.copy_lines(connection, schema, table, found)
        if lines.heads:
            copy.copy_lines(connection, "pg_temp", "head_staged", starmap(head_line, lines.heads))
            connection.execute(self._statements["move_heads"])
        self._write_conflicts(lines)
        if lines.parked or lines.released or lines.dropped or lines.retried:
            self._parking.write(lines)

    def parked_of(
        self, partition: int, fact_id: bytes, *, messages_max: int, after: int = -1
    ) -> Sequence[ParkedMessage]:
        """The first messages of a fact behind an offset that are still parked, in offset order."""
        return self._parking.of_fact(partition, fact_id, messages_max=messages_max, after=after)

    def parked_at(self, partition: int, offset: int) -> ParkedMessage | None:
        """The message of that place, if it is parked."""
        return self._parking.at(partition, offset)

    def _write_conflicts(self, lines: Lines) -> None:
        gone = [*lines.conflicts_gone, *(line[:3] for line in lines.conflicts_now)]
        if gone:
            parameters = {
                "fact_nos": Int8Array.of([fact_no for fact_no, _, _ in gone]),
                "lefts": UuidArray.of([left for _, left, _ in gone]),
                "rights": UuidArray.of([right for _, _, right in gone]),
            }
            self._connection.execute(self._statements["drop_conflicts"], parameters)
        if lines.conflicts_now:
            encoded = starmap(copy.conflict_line, lines.conflicts_now)
            copy.copy_lines(self._connection, self._projection, "conflict", encoded)
