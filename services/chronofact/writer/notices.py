"""Tells of new text memories by ``memory.texts.v1``, once Kafka has their events; nothing waits for it, a sweep finds what it misses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

import orjson

from chronofact.contracts.log import Message, OutcomeUnknown, QueueFull
from chronofact.contracts.payload import id_text
from chronofact.contracts.position import Position
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.metrics import Metrics
from chronofact.writer.ports import Log


class Notice(NamedTuple):
    """A memory that the log has, and behind which place of its partition."""

    tenant_id: UUID
    fact_id: bytes
    version_id: bytes
    position: Position

    def value(self) -> bytes:
        """Canonical JSON."""
        said = {
            "fact_id": id_text(self.fact_id),
            "position": self.position.encode(),
            "tenant_id": str(self.tenant_id),
            "version_id": id_text(self.version_id),
        }
        return orjson.dumps(said, option=orjson.OPT_SORT_KEYS)


class Notices:
    """Appends to the topic of texts, behind the back of whoever is answered."""

    def __init__(self, log: Log, metrics: Metrics, *, partitions: int) -> None:
        self._log = log
        self._partitions = partitions
        self._counted = metrics.counter("chronofact_writer_text_notices_total")
        self._sending: set[asyncio.Task[None]] = set()

    def tell(self, notices: Iterable[Notice]) -> None:
        """Begins to append them."""
        messages = [Message(one.fact_id, one.value(), partition_of(one.fact_id, self._partitions)) for one in notices]
        if messages:
            task = asyncio.create_task(self._append(messages))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def settled(self, timeout_s: float) -> None:
        """Waits for what was begun, but not for a broker that is away."""
        if self._sending:
            await asyncio.wait(set(self._sending), timeout=timeout_s)

    async def _append(self, messages: list[Message]) -> None:
        try:
            await self._log.append(messages)
        except (QueueFull, OutcomeUnknown):
            self._counted.labels("failed").inc(len(messages))
        else:
            self._counted.labels("sent").inc(len(messages))


def notice_of(tenant_id: UUID, fact_id: bytes, version_id: bytes, appended: Position, *, partition: int) -> Notice:
    """What is told of one memory of an appended batch; of its position only the memory's own partition matters."""
    return Notice(
        tenant_id, fact_id, version_id, Position(appended.topic_id, {partition: appended.next_offsets[partition]})
    )
