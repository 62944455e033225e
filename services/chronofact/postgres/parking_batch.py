"""What a batch does with parked messages: keep, find, release, drop, and note a try that failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from psycopg import Connection, sql

from chronofact.contracts.projection import (
    Ask,
    DroppedLine,
    Lines,
    ParkedLine,
    ParkedMessage,
    ReleasedLine,
    RetriedLine,
)

Where = Mapping[str, Any]
"""Projection and topic id."""


class ParkingBatch:
    """The parked messages of one projection and topic, within one open transaction."""

    def __init__(self, connection: Connection[Any], statements: Mapping[str, sql.SQL], where: Where) -> None:
        self._connection = connection
        self._statements = statements
        self._where = where

    def of_fact(self, partition: int, fact_id: bytes, *, messages_max: int, after: int) -> Sequence[ParkedMessage]:
        """The first messages of a fact behind an offset, in offset order."""
        named = {"partition": partition, "fact_id": UUID(bytes=fact_id), "messages_max": messages_max, "after": after}
        return self._found("parked_of_fact", named)

    def at(self, partition: int, offset: int) -> ParkedMessage | None:
        """The message of a place."""
        found = self._found("parked_at", {"partition": partition, "kafka_offset": offset})
        return found[0] if found else None

    def write(self, lines: Lines) -> None:
        """All that the lines say about parked messages."""
        if lines.released:
            self._release(lines.released)
        for dropped in lines.dropped:
            self._drop(dropped)
        for retried in lines.retried:
            self._retry(retried)
        if lines.parked:
            self._park(lines.parked)

    def _found(self, statement: str, named: Mapping[str, Any]) -> list[ParkedMessage]:
        with self._connection.cursor(binary=True) as cursor:
            cursor.execute(self._statements[statement], {**self._where, **named})
            return [ParkedMessage._make(line) for line in cursor]

    def _park(self, parked: Iterable[ParkedLine]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(
                self._statements["park"],
                [
                    {
                        **self._where,
                        "partition": line.kafka_partition,
                        "kafka_offset": line.kafka_offset,
                        "fact_id": _uuid(line.fact_id),
                        "message_key": line.key or None,
                        "message": line.value or None,
                        "appended_s": line.appended_at / 1_000_000,
                        "code": line.code,
                        "reason": line.reason,
                    }
                    for line in parked
                ],
            )

    def _release(self, released: Iterable[ReleasedLine]) -> None:
        for partition, lines in groupby(released, lambda line: line.kafka_partition):
            named = {"partition": partition, "kafka_offsets": [line.kafka_offset for line in lines]}
            self._connection.execute(self._statements["release"], {**self._where, **named})

    def _drop(self, line: DroppedLine) -> None:
        named = {
            "partition": line.kafka_partition,
            "kafka_offset": line.kafka_offset,
            "message_key": line.message_key or None,
            "drop_offset": line.drop_offset,
            "dropped_by": line.dropped_by,
            "reason": line.reason,
            "dropped_s": line.dropped_at / 1_000_000,
        }
        self._connection.execute(self._statements["drop"], {**self._where, **named})

    def _retry(self, line: RetriedLine) -> None:
        named = {
            "partition": line.kafka_partition,
            "kafka_offset": line.kafka_offset,
            "fact_id": _uuid(line.fact_id),
            "code": line.code,
            "reason": line.reason,
        }
        self._connection.execute(self._statements["retry"], {**self._where, **named})


def asks(connection: Connection[Any], statement: sql.SQL, where: Where, partitions: Sequence[int]) -> list[Ask]:
    """What somebody wants tried again, first asked first."""
    found = connection.execute(statement, {**where, "partitions": list(partitions)}).fetchall()
    return [Ask(partition, fact_id and bytes(fact_id), offset) for partition, fact_id, offset in found]


def _uuid(fact_id: bytes | None) -> UUID | None:
    return None if fact_id is None else UUID(bytes=fact_id)
