"""Appends messages to a topic that is being filled, each with the append time that it had where it first lay (ADR 33)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import confluent_kafka
from confluent_kafka import KafkaError

from chronofact.kafka.errors import GONE, missing
from chronofact.kafka.options import client_options
from chronofact.runtime.failures import Transient, Unfit

Headers: TypeAlias = "list[tuple[str, str | bytes | None]]"

_QUEUED_MAX: Final = 100_000
_POLL_EVERY: Final = 1_000
_ROOM_S: Final = 0.2
_LARGE: Final = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE})
_SAID_LARGE: Final = "Message size too large"
"""As librdkafka spells it within the fatal error that follows."""


class Refill:
    """One idempotent producer whose messages keep their time stamps; for one thread, and of no use after a failure.

    The topic has ``message.timestamp.type=CreateTime`` until it is sealed, else the broker stamps its own time. What a
    partition holds is always the first so many messages that were appended to it: nothing is left out before another.
    """

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        delivery_timeout_s: float = 30,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._topic = topic
        self._error: KafkaError | None = None
        self._fatal: KafkaError | None = None
        self._next_offsets: dict[int, int] = {}
        self._since_poll = 0
        self._timeout_s = delivery_timeout_s
        self._producer = confluent_kafka.Producer(
            {
                **client_options(bootstrap, "refill", options),
                "enable.idempotence": True,
                "enable.gapless.guarantee": True,
                "acks": "all",
                "compression.type": "lz4",
                "linger.ms": 20,
                "batch.num.messages": 10_000,
                "batch.size": 1_000_000,
                "message.max.bytes": 1_000_000_000,  # the topic's own limit decides
                "message.timeout.ms": int(delivery_timeout_s * 1_000),
                "request.timeout.ms": int(min(delivery_timeout_s * 1_000, 5_000)),
                "queue.buffering.max.messages": _QUEUED_MAX,
                "queue.buffering.max.kbytes": 128 * 1_024,
                "error_cb": self._failed,
            }
        )

    def append(
        self,
        partition: int,
        key: bytes | None,
        value: bytes | None,
        append_time_ms: int,
        headers: Headers | None = None,
    ) -> None:
        """Sends one message; waits where too many are under way. Only ``flush`` says that they are there.

        Raises:
            Transient, Unfit: an earlier one could not be delivered, as ``flush``.
        """
        if append_time_ms <= 0:
            raise ValueError(f"no append time of a broker: {append_time_ms}")
        self._since_poll += 1
        if self._since_poll >= _POLL_EVERY:
            self._poll(0)
        until = 0.0
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value,
                    key,
                    partition,
                    timestamp=append_time_ms,
                    on_delivery=self._delivered,
                    headers=headers,
                )
            except BufferError:
                now = time.monotonic()
                until = until or now + self._timeout_s + 1
                if now > until:
                    raise Transient("kafka_unreachable", "Kafka takes no more messages") from None
                self._poll(_ROOM_S)
            except confluent_kafka.KafkaException as error:
                self._error = self._error or error.args[0]
                self._refuse()
            else:
                return

    def flush(self) -> Mapping[int, int]:
        """Waits until all replicas that count have everything; each partition's next offset, of those appended to.

        Raises:
            Transient: ``kafka_unreachable``: what is there is some first part of what was appended.
            Unfit: ``topic_missing``, ``message_size_limited``.
        """
        left = self._served(lambda: self._producer.flush(self._timeout_s + 1))
        self._refuse()
        if left:
            raise Transient("kafka_unreachable", f"Kafka does not acknowledge {left} messages in time")
        return dict(self._next_offsets)

    def close(self) -> None:
        """Gives up what is not sent."""
        self._producer.purge()
        self._served(lambda: self._producer.flush(_ROOM_S))

    def _poll(self, wait_s: float) -> None:
        self._since_poll = 0
        self._served(lambda: self._producer.poll(wait_s))
        self._refuse()

    def _served(self, call: Callable[[], int]) -> int:
        try:
            return call()
        except (confluent_kafka.KafkaException, SystemError):
            # the library raises a fatal error amid the reports: those that are left tell what led to it
            return call()

    def _delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self._error = self._error or error
        else:
            self._next_offsets[message.partition()] = message.offset() + 1

    def _failed(self, error: KafkaError) -> None:
        # connection errors pass by themselves; a fatal one means that this producer will never send again
        if error.fatal():
            self._fatal = error

    def _refuse(self) -> None:
        error = self._error or self._fatal
        if error is None:
            return
        if error.code() in _LARGE or _SAID_LARGE in error.str():
            raise Unfit(
                "message_size_limited",
                f"the topic {self._topic} does not take messages as large as they are",
                remedy="raise its max.message.bytes",
            )
        if error.code() in GONE:
            raise missing(f"the topic {self._topic}")
        raise Transient("kafka_unreachable", f"Kafka did not take the messages: {error.name()}")
