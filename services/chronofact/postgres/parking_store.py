"""What an operator sees and asks of parked messages; the projector alone changes what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any, NamedTuple, Self
from uuid import UUID

from psycopg import sql
from psycopg.rows import class_row

from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import scripts


@dataclass(frozen=True, slots=True)
class Which:
    """Which parked messages; what is None does not matter."""

    fact_id: UUID | None = None
    partition: int | None = None
    offset: int | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Parked:
    """A parked message but for its bytes; ``behind`` is how many later ones of its fact wait for it."""

    topic_id: UUID
    partition: int
    kafka_offset: int
    fact_id: UUID | None
    message_key: bytes | None
    code: str
    reason: str
    appended_at: datetime
    parked_at: datetime
    tried_at: datetime
    attempts: int
    release_asked_at: datetime | None
    behind: int
    size_bytes: int | None
    found: int


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message that was given up."""

    topic_id: UUID
    partition: int
    kafka_offset: int
    message_key: bytes | None
    drop_offset: int
    dropped_by: str
    reason: str
    dropped_at: datetime


class Asked(NamedTuple):
    """Messages that are to be tried again, and the last release before."""

    places: Sequence[tuple[int, int]]
    last_number: int


class Progress(NamedTuple):
    """What became of them so far."""

    asked: int
    parked: int
    released: int


class ParkingStore:
    """Parked messages of one projection, over one connection.

    Raises:
        Transient: on opening, Postgres is away.
        Unfit: it refuses, or is not migrated.
    """

    def __init__(self, conninfo: str, projection: str) -> None:
        self._projection = projection
        self._connection = connect(conninfo, "parked", autocommit=True)
        self._statements: Mapping[str, sql.SQL] = {one.name: one.filled(self._connection) for one in scripts("parking")}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def parked(self, which: Which, *, with_held: bool = False, messages_max: int = 1_000) -> list[Parked]:
        """What is parked, oldest first: of a held fact its first message, or with ``with_held`` all of them."""
        named = {**_named(which), "with_held": with_held, "messages_max": messages_max}
        with failures_named(), self._connection.cursor(row_factory=class_row(Parked)) as cursor:
            return cursor.execute(self._statements["list"], self._named(named)).fetchall()

    def at(self, partition: int, offset: int) -> Parked | None:
        """The parked message of a place."""
        found = self.parked(Which(partition=partition, offset=offset), with_held=True)
        return found[0] if found else None

    def message(self, partition: int, offset: int) -> bytes:
        """The bytes of a parked message; empty when there are none, or it is parked no more."""
        found = self._lines("message", {"partition": partition, "kafka_offset": offset})
        return bytes(found[0][0] or b"") if found else b""

    def counts(self) -> tuple[int, int]:
        """How many messages are parked, and how many facts they hold."""
        ((messages, facts),) = self._lines("counts", {})
        return messages, facts

    def dropped(
        self, *, partition: int | None = None, offset: int | None = None, messages_max: int = 1_000
    ) -> list[Dropped]:
        """What was given up, last first."""
        named = {"partition": partition, "kafka_offset": offset, "messages_max": messages_max}
        with failures_named(), self._connection.cursor(row_factory=class_row(Dropped)) as cursor:
            return cursor.execute(self._statements["dropped"], self._named(named)).fetchall()

    def ask(self, which: Which) -> Asked:
        """Have messages tried again, with all that is parked of their facts, since order counts."""
        ((last_number,),) = self._lines("last_release", {})
        return Asked([(partition, offset) for partition, offset in self._lines("ask", _named(which))], last_number)

    def progress(self, asked: Asked) -> Progress:
        """What became of what was asked; nothing is under way any more when ``asked`` is 0."""
        named = {
            "last_number": asked.last_number,
            "partitions": [partition for partition, _ in asked.places],
            "kafka_offsets": [offset for _, offset in asked.places],
        }
        (counts,) = self._lines("progress", named)
        return Progress._make(counts)

    def _lines(self, statement: str, named: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        with failures_named():
            return self._connection.execute(self._statements[statement], self._named(named)).fetchall()

    def _named(self, named: Mapping[str, Any]) -> dict[str, Any]:
        return {"projection": self._projection, **named}


def _named(which: Which) -> dict[str, Any]:
    return {
        "fact_id": which.fact_id,
        "partition": which.partition,
        "kafka_offset": which.offset,
        "code": which.code,
    }
