"""What the writer needs from outside: a log to append to, and a look at its topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from chronofact.contracts.log import Message


class Log(Protocol):
    """The facts topic, to append to."""

    async def append(self, messages: Sequence[Message]) -> Mapping[int, int]:
        """Appends all or, as far as we can tell, none; returns each touched partition's next offset behind them.

        Raises:
            QueueFull: no room for all; nothing was sent.
            OutcomeUnknown: not all were acknowledged in time.
        """
        ...

    def queue_length(self) -> int:
        """Messages that are not acknowledged yet."""
        ...


class TopicLook(Protocol):
    """Asks the broker about the facts topic; blocks."""

    def __call__(self) -> bytes:
        """The topic's id, if the topic is as the catalogue says and still the one first seen.

        Raises:
            Transient: the broker can't be asked.
            Unfit: what is wrong, by name and with its remedy.
        """
        ...
