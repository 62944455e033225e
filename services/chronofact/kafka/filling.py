"""A topic from its making to its seal: it keeps the append times that it is given until it is full (ADR 34)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from chronofact.contracts.refilling import Stamped
from chronofact.contracts.topics import CLOSED, GIVEN, SIZES, STAMPS, Topic
from chronofact.kafka.admin import Admin, TopicState, check, faults
from chronofact.kafka.consumer import RawMessage
from chronofact.kafka.refill import Refill
from chronofact.kafka.whole_log import WholeLog
from chronofact.runtime.failures import Transient, Unfit

_CLOSED_S: Final = 1.0
"""How long after a topic was closed all its brokers know."""
_SETTLED_S: Final = 10.0
_PAUSE_S: Final = 0.1


class Filling:
    """One topic that is filled; the settings that it must have in the end are the catalogue's."""

    def __init__(self, bootstrap: str, topic: Topic, *, options: Mapping[str, str] | None = None) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._options = options
        self._admin = Admin(bootstrap, options=options)
        self._log = WholeLog(bootstrap, topic, options=options)
        self._refill: Refill | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The topic's name."""
        return self._topic.name

    def look(self) -> TopicState | None:
        """The topic as it is; None where there is none.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: it is not as the catalogue says, its time stamps aside.
        """
        try:
            state = self._admin.settled(self._topic)
        except Unfit as unfit:
            if unfit.code != "topic_missing":
                raise
            return None
        for fault in faults(self._topic, state):
            if fault.code != "timestamp_type_differs":
                raise fault
        return state

    def begin(self) -> TopicState:
        """Made where it is missing, and it takes append times from now on; writers refuse to write to it.

        Raises:
            Transient, Unfit: as ``look``.
        """
        stamped = replace(self._topic, config={**self._topic.config, STAMPS: GIVEN})
        self._admin.create([stamped])
        self._configured(GIVEN)
        state = self.look()
        if state is None:
            raise Transient("kafka_unreachable", "the topic that was just made is not there yet")
        return state

    def read(self, partition: int, start: int, end: int) -> Iterator[list[RawMessage]]:
        """What lies there, in order."""
        return self._log.read(partition, start, end)

    def append(self, partition: int, message: Stamped) -> None:
        """Sends one; only ``flush`` says that it is there."""
        if self._refill is None:
            self._refill = Refill(self._bootstrap, self._topic.name, options=self._options)
        self._refill.append(partition, message.key, message.value, message.append_time_ms)

    def flush(self) -> Mapping[int, int]:
        """Waits until all of it is there; each partition's next offset behind what was appended to it.

        Raises:
            Transient: what is there is some first part of what was appended.
        """
        return {} if self._refill is None else self._refill.flush()

    def seal(self) -> TopicState:
        """From now on the broker stamps the time: it is a facts topic like any other.

        Raises:
            Transient, Unfit: as ``look``.
        """
        return self._configured(self._topic.config[STAMPS])

    def close(self) -> None:
        """Lets go of the connections."""
        self._log.close()
        if self._refill is not None:
            self._refill.close()

    def _configured(self, stamps: str) -> TopicState:
        state = self._admin.settled(self._topic)
        if state.config.get(STAMPS) != stamps:
            self._admin.configure(self._topic.name, {STAMPS: stamps})
        until = time.monotonic() + _SETTLED_S
        while (state := self._admin.settled(self._topic)).config.get(STAMPS) != stamps:
            if time.monotonic() > until:
                raise Transient("kafka_unreachable", f"the topic does not take the setting {STAMPS}={stamps}")
            time.sleep(_PAUSE_S)
        return state


class Begun:
    """A topic that writers began when the old one was lost, before anybody stopped them."""

    def __init__(self, bootstrap: str, topic: Topic, *, options: Mapping[str, str] | None = None) -> None:
        self._topic = topic
        self._admin = Admin(bootstrap, options=options)
        self._log = WholeLog(bootstrap, topic, options=options)
        self._look()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._log.close()

    def close_to_writers(self) -> None:
        """It takes no message any more; writers say ``topic_closed``.

        Raises:
            Transient, Unfit: as for ``Filling.look``.
        """
        if self._state.config.get(SIZES) != CLOSED:
            self._admin.configure(self._topic.name, {SIZES: CLOSED})
            time.sleep(_CLOSED_S)
        self._look()

    @property
    def topic_id(self) -> bytes:
        """Which topic it is."""
        return self._state.topic_id

    @property
    def counts(self) -> Mapping[int, int]:
        """How many messages each partition holds."""
        return self._state.high_watermarks

    def messages(self, partition: int) -> Iterator[Stamped]:
        """All of a partition in order, as they came."""
        for batch in self._log.read(partition, 0, self.counts[partition]):
            for one in batch:
                yield Stamped(one.key or None, one.value or None, one.appended_at // 1_000)

    def _look(self) -> None:
        self._state = self._admin.settled(self._topic)
        check(self._topic, self._state, is_written=False)
