"""What is appended to the log, and how an append can fail."""

from __future__ import annotations

from typing import NamedTuple


class Message(NamedTuple):
    """The fact's id as key, the encoded event, and the partition that we computed."""

    key: bytes
    value: bytes
    partition: int


class QueueFull(Exception):
    """There is no room for the whole batch now; nothing of it was sent."""


class OutcomeUnknown(Exception):
    """Kafka did not acknowledge the whole batch in time; to send it again is safe."""
