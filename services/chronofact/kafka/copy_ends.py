"""Both ends of a copy: the old topic as a lone member of a group reads it, and the new one read back (ADR 33)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from chronofact.kafka.copy_places import Copied, Moving, Place, came_from
from chronofact.kafka.errors import failure_of
from chronofact.kafka.options import client_options
from chronofact.runtime.failures import Transient, Unfit

CHUNK: Final = 500
WAIT_S: Final = 0.2
SILENT_S_MAX: Final = 20.0
JOIN_S: Final = 20.0
SESSION_MS: Final = 6_000
GONE_S: Final = SESSION_MS / 1_000 + 4
"""How long one that was killed may still be taken for a member."""
CALL_S: Final = 10.0
_COORDINATING: Final = frozenset(
    {
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    }
)


class Reached(NamedTuple):
    """What was committed last: up to where the old topic is copied, and where the new one ended then."""

    source: Mapping[int, int]
    target: Mapping[int, int]


class Front:
    """The old topic. The group keeps how far the copy is, and that only one process is at it."""

    def __init__(
        self, bootstrap: str, source: str, target: str, moving: Moving, options: Mapping[str, str] | None
    ) -> None:
        self._source, self._target, self._moving = source, target, moving
        self._group = group_of(target)
        self._mark = (moving.old_id + moving.new_id).hex()
        self._admin = AdminClient(client_options(bootstrap, "copy", options))
        self._consumer = Consumer(_reading(bootstrap, self._group, options))
        self._finder = Consumer(_reading(bootstrap, f"{self._group}.find", options))
        self._assigned: list[int] | None = None
        self.reached: dict[int, int] = {}
        """The next offset of each partition, read so far."""

    def join(self) -> Reached:
        """Becomes the one that copies.

        Raises:
            Unfit: ``copy_running``.
            Transient: Kafka is away.
        """
        self._await_nobody()
        try:
            self._consumer.subscribe([self._source], on_assign=self._on_assign)
            until = time.monotonic() + JOIN_S
            while self._assigned is None:
                self._consumer.consume(1, WAIT_S)
                if time.monotonic() > until:
                    raise Transient("kafka_unreachable", "Kafka lets nobody into the copy's group in time")
            if not self._is_alone():
                raise _running(self._target)
            return reached_of(self._consumer, self._source, self._target, self._moving)
        except KafkaException as error:
            raise failure_of(error.args[0]) from None

    def start(self, reached: Mapping[int, int]) -> None:
        """Reads on from these offsets, from the first message where none is named."""
        self.reached = {one: reached.get(one, 0) for one in range(self._moving.old_partitions)}
        self._consumer.assign([TopicPartition(self._source, one, at) for one, at in self.reached.items()])

    def has_passed(self, ends: Mapping[int, int]) -> bool:
        """Whether everything below these offsets was read."""
        return all(self.reached.get(partition, 0) >= end for partition, end in ends.items())

    def messages(self, messages_max: int, bytes_max: int) -> list[Copied]:
        """The next ones, each partition's in order."""
        found: list[Copied] = []
        size, silent_s = 0, 0.0
        while len(found) < messages_max and size < bytes_max:
            raw = self._consumer.consume(CHUNK, 0 if found else WAIT_S)
            if not self._is_alone():
                raise _running(self._target)
            if not raw:
                silent_s += WAIT_S
                if found:
                    break
                if silent_s > SILENT_S_MAX:
                    raise Transient("kafka_unreachable", "Kafka gives nothing more of the old topic")
            for one in raw:
                if (message := self._taken(one)) is not None:
                    size += len(message.value or b"") + len(message.key or b"")
                    found.append(message)
            if raw and not found:
                break  # ends alone
        return found

    def _taken(self, one: Any) -> Copied | None:
        error = one.error()
        if error is None:
            self.reached[one.partition()] = one.offset() + 1
            headers = tuple(one.headers() or ())
            return Copied(one.partition(), one.offset(), one.key(), one.value(), one.timestamp()[1], headers)
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - confluent_kafka's spelling
            # markers of transactions count here, and no message tells of them
            self.reached[one.partition()] = max(self.reached[one.partition()], one.offset())
        elif not error.retriable():
            raise failure_of(error)
        return None

    def commit(self, ends: Mapping[int, int]) -> None:
        """What was read so far lies in the new topic, which ends there."""
        places = [TopicPartition(self._source, one, at, self._mark) for one, at in self.reached.items()]
        places += [TopicPartition(self._target, one, at, self._mark) for one, at in ends.items()]
        try:
            told = self._consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as error:
            code = error.args[0].code()
            if code in {KafkaError.ILLEGAL_GENERATION, KafkaError.UNKNOWN_MEMBER_ID, KafkaError.REBALANCE_IN_PROGRESS}:
                raise _running(self._target) from None
            raise failure_of(error.args[0]) from None
        for one in told or ():
            if one.error is not None:
                raise failure_of(one.error)

    def offset_of(self, place: Place, partition: int) -> int | None:
        """Where the copy of a message lies in that partition of the new topic; None where it does not."""
        try:
            stamp = self._stamp_of(place)
            if stamp is None:
                return None
            # none of an earlier offset was appended later: the index knows of later stamps only
            asked = TopicPartition(self._target, partition, max(0, stamp - 1))
            (found,) = self._finder.offsets_for_times([asked], CALL_S)
            if found.offset < 0:
                return None
            self._finder.assign([TopicPartition(self._target, partition, found.offset)])
            return self._scan(place)
        except KafkaException as error:
            raise failure_of(error.args[0]) from None

    def _scan(self, place: Place) -> int | None:
        for one in _until_end(self._finder):
            if came_from(one.headers(), self._moving.old_id) == place:
                offset: int = one.offset()
                return offset
        return None

    def _stamp_of(self, place: Place) -> int | None:
        self._finder.assign([TopicPartition(self._source, *place)])
        one = next(_until_end(self._finder), None)
        if one is None or one.offset() != place[1]:
            return None
        stamp: int = one.timestamp()[1]
        return stamp

    def close(self) -> None:
        """Leaves the group, for the next one to come in at once."""
        self._finder.close()
        self._consumer.close()

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """At first nothing is read; later, where another one came in, nothing any more."""
        self._assigned = [one.partition for one in partitions]
        reads_on = self.reached if self._is_alone() else {}
        consumer.assign([TopicPartition(self._source, one, at) for one, at in reads_on.items()])

    def _is_alone(self) -> bool:
        return self._assigned is None or len(self._assigned) == self._moving.old_partitions

    def _await_nobody(self) -> None:
        """One that was killed is a member until its session ends."""
        until = time.monotonic() + GONE_S
        while self._has_members():
            if time.monotonic() > until:
                raise _running(self._target)
            time.sleep(WAIT_S)

    def _has_members(self) -> bool:
        until = time.monotonic() + JOIN_S
        while True:
            try:
                (asked,) = self._admin.describe_consumer_groups([self._group], request_timeout=CALL_S).values()
                return bool(asked.result(CALL_S + 1).members)
            except KafkaException as error:
                code = error.args[0].code()
                if code == KafkaError.GROUP_ID_NOT_FOUND:
                    return False
                # a broker that has just started looks for who coordinates groups
                if code not in _COORDINATING or time.monotonic() > until:
                    raise failure_of(error.args[0]) from None
            time.sleep(WAIT_S)


class Back:
    """The new topic from some offsets on, read but once."""

    def __init__(
        self, bootstrap: str, target: str, starts: Mapping[int, int], options: Mapping[str, str] | None
    ) -> None:
        self._target = target
        self._consumer = Consumer(_reading(bootstrap, f"{group_of(target)}.back", options))
        self._consumer.assign([TopicPartition(target, one, at) for one, at in starts.items()])

    def read(self, starts: Mapping[int, int], ends: Mapping[int, int]) -> Iterator[Any]:
        """Every message below these ends; what was read before lies below these starts.

        Raises:
            Unfit: ``copy_differs``: there is one behind them.
            Transient: Kafka does not give them.
        """
        left = sum(end - starts.get(partition, 0) for partition, end in ends.items())
        silent_s = 0.0
        while left:
            raw = self._consumer.consume(min(CHUNK, left), WAIT_S)
            messages = [one for one in raw if _is_message(one)]
            silent_s = 0.0 if messages else silent_s + WAIT_S
            if silent_s > SILENT_S_MAX:
                raise Transient("kafka_unreachable", "Kafka does not give what was appended to the new topic")
            for one in messages:
                if (one.offset() or 0) >= ends.get(one.partition() or 0, 0):
                    raise Unfit(
                        "copy_differs",
                        f"somebody else writes to the topic {self._target}",
                        remedy="find out who, delete the topic, and copy anew",
                    )
                left -= 1
                yield one

    def close(self) -> None:
        """Lets go of the connection."""
        self._consumer.close()


def group_of(target: str) -> str:
    """The group that keeps how far the copy into a topic is; lag monitors see it as any other."""
    return f"chronofact.copy.{target}"


def reached_of(consumer: Consumer, source: str, target: str, moving: Moving) -> Reached:
    """What was committed last of this copy; nothing where either topic is another one of that name."""
    mark = (moving.old_id + moving.new_id).hex()
    asked = [TopicPartition(source, one) for one in range(moving.old_partitions)]
    asked += [TopicPartition(target, one) for one in range(moving.new_partitions)]
    found = consumer.committed(asked, CALL_S)
    known: list[dict[int, int]] = [
        {one.partition: one.offset for one in found if one.topic == name and one.offset >= 0 and one.metadata == mark}
        for name in (source, target)
    ]
    return Reached({}, {}) if not all(known) else Reached(*known)


def committed(bootstrap: str, source: str, target: str, moving: Moving, options: Mapping[str, str] | None) -> Reached:
    """The same, asked by somebody who does not copy."""
    consumer = Consumer(_reading(bootstrap, group_of(target), options))
    try:
        return reached_of(consumer, source, target, moving)
    except KafkaException as error:
        raise failure_of(error.args[0]) from None
    finally:
        consumer.close()


def _reading(bootstrap: str, group: str, options: Mapping[str, str] | None) -> dict[str, Any]:
    return {
        **client_options(bootstrap, "copy", options),
        "group.id": group,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        # as the projector reads
        "isolation.level": "read_uncommitted",
        "session.timeout.ms": SESSION_MS,
        "heartbeat.interval.ms": 1_000,
        "max.poll.interval.ms": 86_400_000,
        "partition.assignment.strategy": "range",
        "allow.auto.create.topics": False,
        "fetch.wait.max.ms": 20,
        "fetch.queue.backoff.ms": 1,
        "queued.max.messages.kbytes": 32_768,
    }


def _until_end(consumer: Consumer) -> Iterator[Any]:
    """The messages of the one assigned partition, to its end."""
    silent_s = 0.0
    while True:
        raw = consumer.consume(CHUNK, WAIT_S)
        silent_s = 0.0 if raw else silent_s + WAIT_S
        if silent_s > SILENT_S_MAX:
            raise Transient("kafka_unreachable", "Kafka does not give a message that is looked for")
        for one in raw:
            error = one.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                return
            if _is_message(one):
                yield one


def _is_message(one: Any) -> bool:
    error = one.error()
    if error is None:
        return True
    if error.code() != KafkaError._PARTITION_EOF and not error.retriable():  # noqa: SLF001
        raise failure_of(error)
    return False


def _running(target: str) -> Unfit:
    return Unfit(
        "copy_running",
        f"another process copies into {target}",
        remedy="let it come to its end, or end it, and say it again",
    )
