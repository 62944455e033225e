"""Projections of one log, filled in whatever batches a test wants: without a projector, a group or a clock."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import psycopg

from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.projections import create_projection
from chronofact.projecting.apply import Applier
from chronofact.projecting.draft import Owned, Topic
from chronofact.projecting.parking import ParkingLimits, ParkingMeter
from tests.contract.memory_log import Appended, MemoryTopic

EASY = ParkingLimits(row_max=1_000_000, share_max=1.0)


def make(address: str, *projections: str, rule: int = 1, state: str = "ready") -> None:
    """Empty projections beside those that are there."""
    with psycopg.connect(address, autocommit=True) as connection:
        for name in projections:
            create_projection(connection, name, rule=rule, state=state)


def log_order(topic: MemoryTopic) -> list[Appended]:
    """All messages as they might be read: by time, then partition and offset."""
    found = (message for messages in topic.partitions.values() for message in messages)
    return sorted(found, key=lambda one: (one.appended_at, one.partition, one.offset))


def whole_partitions(topic: MemoryTopic) -> list[Sequence[Appended]]:
    """One batch a partition, so that each fact is folded once, as a rebuild does it."""
    return [messages for messages in topic.partitions.values() if messages]


def sliced(messages: Sequence[Appended], size: int) -> Iterable[Sequence[Appended]]:
    """Batches of this many."""
    return (messages[start : start + size] for start in range(0, len(messages), size))


def fill(
    address: str,
    projection: str,
    topic: MemoryTopic,
    batches: Iterable[Sequence[Appended]],
    *,
    cache_bytes_max: int = 2**28,
    rule: int = 1,
) -> None:
    """Applies these batches in this order; with no cache every batch folds its facts anew from what is stored."""
    store = ProjectionStore(address, projection)
    looked = Topic(topic.topic_id, len(topic.partitions))
    applier = Applier(store, lambda: looked, cache_bytes_max=cache_bytes_max, monotonic=time.monotonic, rule=rule)
    owned = {}
    for partition, messages in topic.partitions.items():
        claim = store.claim(topic.topic_id, partition, watermarks=(0, len(messages)))
        meter = ParkingMeter(claim.parked_offsets, next_offset=claim.next_offset, limits=EASY)
        owned[partition] = Owned(
            claim.epoch,
            claim.next_offset,
            claim.fact_no_last,
            set(claim.held),
            meter,
            claim.parked,
            dict(claim.dropped),
        )
    try:
        for batch in batches:
            applier.apply(owned, batch)
    finally:
        store.close()
