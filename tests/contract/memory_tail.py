"""The end of a topic in memory, read as the adapter reads Kafka's."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chronofact.contracts.tail import Stretch, Tail, TailBounds, TailMessage
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.failures import Transient, Unfit
from tests.contract.memory_log import MemoryTopic
from tests.integration.saying import PARTITIONS


class MemoryTail:
    """Reads a ``MemoryTopic``; ``failures`` come first."""

    partitions = PARTITIONS

    def __init__(self, topic: MemoryTopic) -> None:
        self.topic = topic
        self.failures: list[Transient | Unfit] = []
        self.reads = 0

    def partition_of(self, fact_id: bytes) -> int:
        return partition_of(fact_id, self.partitions)

    def read(self, wanted: Sequence[Stretch], keys: Collection[bytes], bounds: TailBounds) -> Tail:
        self.reads += 1
        if self.failures:
            raise self.failures.pop(0)
        found: list[TailMessage] = []
        reached = {one.partition: one.start for one in wanted}
        ended = set()
        left = bounds.scanned_max
        for partition, start, _ in wanted:
            messages = self.topic.partitions[partition]
            if not self.topic.low[partition] <= start <= len(messages):
                raise Unfit("offset_out_of_range", "the log no longer holds the offset to go on from", remedy="restore")
            part = messages[start : start + left]
            left -= len(part)
            reached[partition] = start + len(part)
            if reached[partition] == len(messages):
                ended.add(partition)
            found += [TailMessage(*one) for one in part if one.key in keys]
        starts = {one.partition: one.start for one in wanted}
        size = sum(len(one.value) for one in found)
        is_cut = not left or len(found) > bounds.found_max or size > bounds.bytes_max
        scanned = bounds.scanned_max - left
        return Tail(self.topic.topic_id, found, starts, reached, frozenset(ended), scanned, is_cut)

    def close(self) -> None:
        pass
