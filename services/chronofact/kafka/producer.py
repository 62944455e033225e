"""Appends batches to one topic, idempotently, and tells where they lie once every replica has them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

import confluent_kafka

from chronofact.contracts.log import Message, OutcomeUnknown, QueueFull
from chronofact.kafka.options import client_options

_POLL_S: Final = 0.1
_OVERHEAD_BYTES: Final = 100
_SLACK_S: Final = 1.0


class LogProducer:
    """One idempotent producer and the thread that serves its delivery reports.

    The thread alone calls ``poll``, the event loop alone calls ``produce``; what they share is one batch object, which
    the thread fills and hands over once, when its last report is in.
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        delivery_timeout_s: float = 10,
        linger_ms: int = 5,
        queue_messages_max: int = 50_000,
        queue_bytes_max: int = 64 * 2**20,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._topic = topic
        self._messages_max = queue_messages_max
        self._bytes_max = queue_bytes_max
        self._bytes_held = 0
        self._messages_held = 0
        self._delivery_timeout_s = delivery_timeout_s
        self._fatal = False
        self._reached: dict[int, int] = {}
        self._options = {
            **client_options(bootstrap, "writer", options),
            "enable.idempotence": True,
            "acks": "all",
            "compression.type": "lz4",
            "linger.ms": linger_ms,
            "batch.num.messages": 10_000,
            "batch.size": 1_000_000,
            "message.timeout.ms": int(delivery_timeout_s * 1_000),
            "request.timeout.ms": int(min(delivery_timeout_s * 1_000, 5_000)),
            # the room that has_room grants is checked before, so these are never what stops a batch
            "queue.buffering.max.messages": 2 * queue_messages_max,
            "queue.buffering.max.kbytes": queue_bytes_max // 512,
        }
        self._producer = self._open()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="delivery-reports", daemon=True)
        self._thread.start()

    def has_room(self, messages: int, size_bytes: int) -> bool:
        """Whether a whole batch fits into the queue now."""
        return (
            self._messages_held + messages <= self._messages_max
            and self._bytes_held + size_bytes + messages * _OVERHEAD_BYTES <= self._bytes_max
        )

    async def append(self, messages: Sequence[Message]) -> Mapping[int, int]:
        """Appends all messages and waits for the broker; returns each partition's next offset behind them.

        Raises:
            QueueFull: no room; nothing was sent.
            OutcomeUnknown: not acknowledged in time.
        """
        size_bytes = sum(len(one.value) for one in messages)
        if not self.has_room(len(messages), size_bytes):
            raise QueueFull
        if not messages:
            return {}
        batch = _Batch(len(messages), asyncio.get_running_loop(), self._reached)
        held_bytes = size_bytes + len(messages) * _OVERHEAD_BYTES
        self._messages_held += len(messages)
        self._bytes_held += held_bytes
        try:
            self._send(messages, batch)
            return await asyncio.wait_for(batch.outcome, self._delivery_timeout_s + _SLACK_S)
        except TimeoutError:
            raise OutcomeUnknown from None
        finally:
            batch.outcome.cancel()
            self._messages_held -= len(messages)
            self._bytes_held -= held_bytes

    def _send(self, messages: Sequence[Message], batch: _Batch) -> None:
        produce, topic, delivered = self._producer.produce, self._topic, batch.delivered
        try:
            for key, value, partition in messages:
                produce(topic, value, key, partition, delivered)
        except (BufferError, confluent_kafka.KafkaException):
            # the batch is half sent and never completes: its reports, if they come, find no one waiting
            raise OutcomeUnknown from None

    def queue_length(self) -> int:
        """Messages that are not acknowledged yet."""
        return self._messages_held

    def close(self, timeout_s: float = 5) -> None:
        """Waits for what was sent, then ends the thread."""
        self._producer.flush(timeout_s)
        self._stop.set()
        self._thread.join(timeout_s)

    def _open(self) -> confluent_kafka.Producer:
        return confluent_kafka.Producer(self._options | {"error_cb": self._on_error})

    def _on_error(self, error: confluent_kafka.KafkaError) -> None:
        # connection errors pass by themselves; a fatal one means that this producer will never send again
        self._fatal |= error.fatal()

    def _serve(self) -> None:
        while not self._stop.is_set():
            self._producer.poll(_POLL_S)
            if self._fatal:
                self._reopen()

    def _reopen(self) -> None:
        spent = self._producer
        self._producer = self._open()
        self._fatal = False
        spent.purge()
        spent.flush(_POLL_S)


class _Batch:
    """Counts one batch's delivery reports, all of them on the serving thread; ``reached`` is what all batches share."""

    __slots__ = ("_error", "_left", "_loop", "_next_offsets", "_reached", "outcome")

    def __init__(self, messages: int, loop: asyncio.AbstractEventLoop, reached: dict[int, int]) -> None:
        self._left = messages
        self._loop = loop
        self._reached = reached
        self._next_offsets: dict[int, int] = {}
        self._error = False
        self.outcome: asyncio.Future[Mapping[int, int]] = loop.create_future()

    def delivered(self, error: Any, message: Any) -> None:
        """One delivery report.

        An offset below zero means that only a duplicate was found, place unknown; one below what was reached before,
        that the topic is another one than it was: neither is an acknowledgement.
        """
        offset = -1 if error is not None else message.offset()
        partition = message.partition()
        if offset < self._reached.get(partition, 0):
            self._error = True
        else:
            self._reached[partition] = self._next_offsets[partition] = offset + 1
        self._left -= 1
        if not self._left:
            self._hand_over()

    def _hand_over(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle)
        except RuntimeError:
            # the loop is closed: whoever asked has gone
            return

    def _settle(self) -> None:
        if self.outcome.done():
            return
        if self._error:
            self.outcome.set_exception(OutcomeUnknown())
        else:
            self.outcome.set_result(self._next_offsets)
