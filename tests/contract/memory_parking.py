"""Parked messages in the store's twin: kept, found, released, dropped, tried in vain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from chronofact.contracts.projection import (
    NOT_COUNTED,
    Ask,
    DroppedLine,
    Lines,
    ParkedLine,
    ParkedMessage,
    RetriedLine,
)
from tests.contract.memory_transactions import Transaction

WINDOW = 10_000
Spot: TypeAlias = "tuple[bytes, int, int]"
"""Topic id, partition and offset of a message."""


def message_of(line: ParkedLine) -> ParkedMessage:
    """As it is tried again."""
    return ParkedMessage(line.kafka_partition, line.kafka_offset, line.appended_at, line.key, line.value, line.fact_id)


def parked_in(transaction: Transaction, topic_id: bytes, partition: int) -> list[ParkedLine]:
    """All that is parked of a partition, in offset order."""
    place = (topic_id, partition)
    return [line for key, line in sorted(transaction.lines("parked")) if key[:2] == place]


def counted(lines: Sequence[ParkedLine], *, next_offset: int) -> tuple[int, ...]:
    """What the limits of parking count among the last messages."""
    since = next_offset - WINDOW
    return tuple(line.kafka_offset for line in lines if line.code not in NOT_COUNTED and line.kafka_offset >= since)


def ask(transaction: Transaction, topic_id: bytes, partition: int, *, fact_id: bytes | None, offset: int | None) -> int:
    """As ``chronofact parked release`` does: a fact's messages, or one of no fact; how many."""
    if fact_id is not None:
        found = [line for line in parked_in(transaction, topic_id, partition) if line.fact_id == fact_id]
    else:
        found = [line for line in parked_in(transaction, topic_id, partition) if line.kafka_offset == offset]
    count = 0
    for line in found:
        spot = (topic_id, partition, line.kafka_offset)
        transaction.lock("parked", spot)
        if transaction.get("parked", spot) is not None:
            transaction.put("asked", spot, line.fact_id or b"")
            count += 1
    return count


def asks(transaction: Transaction, topic_id: bytes, partitions: Sequence[int]) -> list[Ask]:
    """What is to be tried again."""
    found: dict[tuple[int, bytes | int], Ask] = {}
    for (topic, partition, offset), fact_id in sorted(transaction.lines("asked")):
        if topic == topic_id and partition in partitions:
            found.setdefault((partition, fact_id or offset), Ask(partition, fact_id or None, offset))
    return list(found.values())


def write_parking(transaction: Transaction, topic_id: bytes, lines: Lines) -> None:
    """All that the lines say about parked messages, in the order in which Postgres is told."""
    for partition, offset in lines.released:
        _release(transaction, (topic_id, partition, offset))
    for dropped in lines.dropped:
        _drop(transaction, topic_id, dropped)
    for retried in lines.retried:
        _retry(transaction, topic_id, retried)
    for line in lines.parked:
        spot = (topic_id, line.kafka_partition, line.kafka_offset)
        transaction.insert("parked", spot, line, "parked_event_pkey")
        transaction.put("attempts", spot, 1)


def _release(transaction: Transaction, spot: Spot) -> None:
    transaction.lock("released", "numbers")
    if transaction.get("parked", spot) is not None:
        number = 1 + max((number for number, _ in transaction.lines("released")), default=0)
        transaction.insert("released_once", spot, number, "released_event_once")
        transaction.insert("released", number, spot, "released_event_pkey")
    _unpark(transaction, spot)


def _drop(transaction: Transaction, topic_id: bytes, line: DroppedLine) -> None:
    spot = (topic_id, line.kafka_partition, line.kafka_offset)
    _unpark(transaction, spot)
    if transaction.get("dropped", spot) is None:
        transaction.insert("dropped", spot, line, "dropped_event_pkey")


def _retry(transaction: Transaction, topic_id: bytes, line: RetriedLine) -> None:
    spot = (topic_id, line.kafka_partition, line.kafka_offset)
    parked = transaction.get("parked", spot)
    if parked is not None:
        transaction.put("parked", spot, parked._replace(code=line.code, reason=line.reason))
        transaction.put("attempts", spot, transaction.get("attempts", spot) + 1)
    for other, fact_id in list(transaction.lines("asked")):
        if other == spot or (other[:2] == spot[:2] and fact_id == line.fact_id):
            transaction.delete("asked", other)


def _unpark(transaction: Transaction, spot: Spot) -> None:
    for table in ("parked", "attempts", "asked"):
        transaction.delete(table, spot)
