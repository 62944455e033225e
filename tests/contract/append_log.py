"""The log in memory, to append to; what goes wrong is the test's choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chronofact.contracts.log import Message, OutcomeUnknown, QueueFull


class MemoryAppendLog:
    """Keeps messages by partition; ``room`` and ``is_silent`` make it refuse or not answer."""

    def __init__(self, *, room: int = 50_000) -> None:
        self.partitions: dict[int, list[Message]] = {}
        self.room = room
        self.is_silent = False

    async def append(self, messages: Sequence[Message]) -> Mapping[int, int]:
        if len(messages) > self.room:
            raise QueueFull
        if self.is_silent:
            raise OutcomeUnknown
        for message in messages:
            self.partitions.setdefault(message.partition, []).append(message)
        return {one: len(self.partitions[one]) for one in {message.partition for message in messages}}

    def queue_length(self) -> int:
        return 0

    def messages(self) -> list[Message]:
        return [message for partition in self.partitions.values() for message in partition]
