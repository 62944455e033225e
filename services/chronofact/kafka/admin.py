"""Creates topics of the catalogue and says by name how a topic differs from what it has to be."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from chronofact.contracts.topics import CLOSED, SIZES, STAMPS, Topic, catalogue
from chronofact.contracts.topics import facts_topic as facts_named
from chronofact.kafka.errors import GONE, PASSING, missing, refused
from chronofact.kafka.options import client_options
from chronofact.runtime.failures import Transient, Unfit

T = TypeVar("T")
_Offsets: TypeAlias = Mapping[TopicPartition, "Future[Any]"]

_ANSWERED: Final = GONE | {KafkaError.TOPIC_ALREADY_EXISTS}
"""Whoever asks knows what these mean."""
_LEADER_PAUSE_S: Final = 0.05
_LEADER_WAIT_S: Final = 1.0
"""How long a partial look waits for a partition whose leader may be gone, while its heir is not elected yet."""
_OF_WRITING: Final = frozenset({STAMPS, SIZES})
_RETENTION: Final = ("retention.ms", "retention.bytes")


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic as the broker has it; a partial look lacks the watermarks of partitions whose leader does not answer."""

    topic_id: bytes
    partitions: int
    config: Mapping[str, str]
    low_watermarks: Mapping[int, int]
    high_watermarks: Mapping[int, int]


class Admin:
    """Looks at topics and creates them; every call waits at most ``timeout_s``, and may raise Unfit: ``kafka_refuses``."""

    def __init__(self, bootstrap: str, *, timeout_s: float = 5, options: Mapping[str, str] | None = None) -> None:
        self._options = client_options(bootstrap, "admin", options)
        self._client = AdminClient(self._options)
        self._timeout_s = timeout_s

    def create(self, topics: Iterable[Topic]) -> list[str]:
        """Creates the topics that are missing; returns their names.

        Raises:
            Transient: ``kafka_unreachable``.
        """
        metadata = self._ask(lambda: self._client.list_topics(timeout=self._timeout_s))
        missing = [topic for topic in topics if topic.name not in metadata.topics]
        created = [topic for topic in missing if self._created(topic, len(metadata.brokers))]
        for topic in created:
            self.settled(topic, passing=(Transient, Unfit))
        return [topic.name for topic in created]

    def _created(self, topic: Topic, brokers: int) -> bool:
        replicas = min(topic.replication_factor, max(brokers, 1))
        in_sync = max(1, min(topic.min_insync_replicas, replicas - 1))
        new = NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=replicas,
            config={**topic.config, "min.insync.replicas": str(in_sync)},
        )
        try:
            self._one(self._client.create_topics([new], operation_timeout=self._timeout_s))
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return False
            raise
        return True

    def settled(self, topic: Topic, *, passing: tuple[type[Exception], ...] = (Transient,)) -> TopicState:
        """The state once leaders are elected, which a broker that has just started still does."""
        until = time.monotonic() + self._timeout_s
        while True:
            try:
                return self.state(topic)
            except passing:
                if time.monotonic() > until:
                    raise
                time.sleep(_LEADER_PAUSE_S)

    def state(self, topic: Topic, *, is_partial: bool = False) -> TopicState:
        """The topic as the broker has it; ``is_partial`` spares who goes on working a broker's absence.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: ``topic_missing``.
        """
        return self._named(topic.name, lambda: self._look(topic.name, is_partial=is_partial))

    def ends(self, name: str) -> tuple[bytes, dict[int, int]]:
        """The topic's id and where each of its partitions ends: what a look takes that asks for nothing else.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: ``topic_missing``.
        """

        def look() -> tuple[bytes, dict[int, int]]:
            described = self._described(name)
            partitions = len(described.partitions)
            asked = self._asked_offsets(name, partitions, OffsetSpec.latest(), self._timeout_s)
            return _uuid_bytes(described.topic_id), self._told_all(asked)

        return self._named(name, look)

    def topic_id(self, name: str) -> bytes:
        """The 16 bytes of the topic's id as it is now.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: ``topic_missing``.
        """
        return self._named(name, lambda: _uuid_bytes(self._described(name).topic_id))

    def made_of(self, topic_id: bytes | None, configured: Topic) -> Topic:
        """The topic of this id under whatever name; the configured one where the id is None or no topic has it any more.

        Raises:
            Transient: ``kafka_unreachable``.
        """
        if topic_id is None:
            return configured
        with suppress(Unfit):
            if self.topic_id(configured.name) == topic_id:
                return configured
        return self._found(topic_id) or configured

    def _found(self, topic_id: bytes) -> Topic | None:
        names = sorted(self._ask(lambda: self._client.list_topics(timeout=self._timeout_s)).topics)
        if not names:
            return None
        asked = self._client.describe_topics(TopicCollection(names), request_timeout=self._timeout_s)
        for name, future in asked.items():
            with suppress(KafkaException, Unfit):  # it was deleted meanwhile, or is not ours to see
                described = self._result(future)
                if _uuid_bytes(described.topic_id) == topic_id:
                    return facts_named(name, len(described.partitions))
        return None

    def configure(self, name: str, settings: Mapping[str, str]) -> None:
        """Change these settings of a topic, and no others.

        Raises:
            Transient: ``kafka_unreachable``.
            Unfit: ``topic_missing``.
        """
        changes = [
            ConfigEntry(one, text, incremental_operation=AlterConfigOpType.SET) for one, text in settings.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=changes)
        self._named(name, lambda: self._one(self._client.incremental_alter_configs([resource])))

    def _described(self, name: str) -> Any:
        return self._one(self._client.describe_topics(TopicCollection([name]), request_timeout=self._timeout_s))

    def _look(self, name: str, *, is_partial: bool) -> TopicState:
        described = self._described(name)
        partitions = len(described.partitions)
        ends = (OffsetSpec.earliest(), OffsetSpec.latest())
        wait_s = min(_LEADER_WAIT_S, self._timeout_s) if is_partial else self._timeout_s
        low, high = (self._asked_offsets(name, partitions, spec, wait_s) for spec in ends)
        told = self._told if is_partial else self._told_all
        return TopicState(
            topic_id=_uuid_bytes(described.topic_id),
            partitions=partitions,
            config=self._config(name),
            low_watermarks=told(low),
            high_watermarks=told(high),
        )

    def _config(self, name: str) -> dict[str, str]:
        resource = ConfigResource(ResourceType.TOPIC, name)
        entries = self._one(self._client.describe_configs([resource], request_timeout=self._timeout_s))
        return {entry.name: entry.value for entry in entries.values()}

    def _asked_offsets(self, name: str, partitions: int, spec: OffsetSpec, wait_s: float) -> _Offsets:
        asked = {TopicPartition(name, one): spec for one in range(partitions)}
        return self._client.list_offsets(asked, request_timeout=wait_s)

    def _told_all(self, futures: _Offsets) -> dict[int, int]:
        return {where.partition: self._offset(future) for where, future in futures.items()}

    def _told(self, futures: _Offsets) -> dict[int, int]:
        found = {}
        for where, future in futures.items():
            with suppress(Transient):
                found[where.partition] = self._offset(future)
        return found

    def _offset(self, future: Future[Any]) -> int:
        offset: int = self._result(future).offset
        if offset < 0:
            # neither an offset nor an error: the partition is about to have another leader
            raise Transient("kafka_unreachable", "a partition's leader does not tell its offsets")
        return offset

    @staticmethod
    def _named(name: str, look: Callable[[], T]) -> T:
        try:
            return look()
        except KafkaException as error:
            if error.args[0].code() in GONE:
                raise missing(f"the topic {name}") from None
            raise

    def _one(self, futures: Mapping[Any, Future[T]]) -> T:
        (future,) = futures.values()
        try:
            return self._result(future)
        except Transient:
            # it may have waited for a broker that is gone, and would go on asking that one while others are there
            self._client = AdminClient(self._options)
            raise

    def _result(self, future: Future[T]) -> T:
        return self._ask(lambda: future.result(self._timeout_s + 1))

    @staticmethod
    def _ask(call: Callable[[], T]) -> T:
        try:
            return call()
        except TimeoutError:
            raise Transient("kafka_unreachable", "Kafka does not answer in time") from None
        except KafkaException as error:
            code = error.args[0].code()
            if code in PASSING:
                raise Transient("kafka_unreachable", f"Kafka can't be reached: {error.args[0].name()}") from None
            if code not in _ANSWERED:
                raise refused(error.args[0]) from None
            raise


def create_topics(
    bootstrap: str,
    facts_topic: str | None = None,
    *,
    partitions: int | None = None,
    texts_topic: str | None = None,
    options: Mapping[str, str] | None = None,
) -> list[str]:
    """Creates what is missing of the catalogue, then checks all of it; returns the names that are new.

    Raises:
        Transient: ``kafka_unreachable``.
        Unfit: the first thing that is wrong with a topic.
    """
    admin = Admin(bootstrap, options=options)
    wanted = {**catalogue(), "facts": facts_named(facts_topic, partitions)}
    if texts_topic is not None:
        wanted["texts"] = wanted["texts"].named(texts_topic)
    created = admin.create(wanted.values())
    for topic in wanted.values():
        check(topic, admin.settled(topic))
    return created


def check(topic: Topic, state: TopicState, *, topic_id: bytes | None = None, is_written: bool = True) -> None:
    """Refuses a topic that would lose or reorder events; ``topic_id`` is what it was when we first looked.

    Who only reads (``is_written`` false) may read one that is being filled, or is closed: no writer of ours writes to it.

    Raises:
        Unfit: the first of ``faults``.
    """
    for fault in faults(topic, state, topic_id=topic_id, is_written=is_written):
        raise fault


def faults(
    topic: Topic, state: TopicState, *, topic_id: bytes | None = None, is_written: bool = True
) -> Iterator[Unfit]:
    """Every way in which the topic differs, each by name and with its remedy."""
    if topic_id is not None and state.topic_id != topic_id:
        yield Unfit(
            "topic_recreated",
            f"the topic {topic.name} was deleted and created anew",
            remedy="restore its messages, or rebuild from the new topic (docs/operations/rebuild.md) and restart",
        )
    if state.partitions != topic.partitions:
        told = f"the topic {topic.name} has {state.partitions} partitions and must have {topic.partitions}"
        yield Unfit("partition_count_differs", told, remedy=_of_another_count(topic, state))
    yield from _config_faults(topic, state.config, is_written=is_written)
    truncated = {one: low for one, low in state.low_watermarks.items() if low > 0}
    if truncated and topic.role == "facts":
        yield Unfit(
            "log_truncated",
            f"the topic {topic.name} has lost its first messages in {len(truncated)} partitions",
            remedy="restore them from a backup; without them no projection can be rebuilt",
        )


def were_added(topic: Topic, state: TopicState) -> bool:
    """Whether somebody added partitions, and nothing was written to these: what there is lies by the count of before."""
    return state.partitions > topic.partitions and not any(
        state.high_watermarks.get(one, 0) for one in range(topic.partitions, state.partitions)
    )


def _of_another_count(topic: Topic, state: TopicState) -> str:
    if were_added(topic, state) and any(state.high_watermarks.values()):
        return (
            "were partitions added to it? Then nothing is lost: leave CHRONOFACT_FACTS_PARTITIONS as it is, and move to a new"
            " topic, `chronofact topics copy` (docs/operations/faults.md). If it was made with as many and holds little:"
            f" CHRONOFACT_FACTS_PARTITIONS={state.partitions}"
        )
    return (
        f"set CHRONOFACT_FACTS_PARTITIONS={state.partitions} if it is that topic; to have more,"
        " `chronofact topics copy` makes a new one (docs/operations/more-partitions.md)"
    )


def _config_faults(topic: Topic, config: Mapping[str, str], *, is_written: bool) -> Iterator[Unfit]:
    for name, wanted in topic.config.items():
        found = config.get(name, "")
        if name in _OF_WRITING and not is_written:
            continue
        if name == SIZES and found == CLOSED:
            yield Unfit(
                "topic_closed",
                f"the topic {topic.name} is closed: its messages were moved to another topic",
                remedy="name that one in CHRONOFACT_FACTS_TOPIC and its count in CHRONOFACT_FACTS_PARTITIONS, or take the"
                " move back by `chronofact topics reopen` (docs/operations/more-partitions.md)",
            )
            continue
        if name == SIZES:
            is_right = int(found or 0) >= int(wanted)
        elif name in _RETENTION and wanted == "-1":
            is_right = found == "-1"
        else:
            is_right = found == wanted
        if not is_right:
            yield Unfit(
                _FAULT_CODES.get(name, "topic_config_differs"),
                f"the topic {topic.name} has {name}={found} and must have {wanted}",
                remedy=_UNSEALED.get(name, "")
                + f"kafka-configs --alter --entity-type topics --entity-name {topic.name} --add-config {name}={wanted}",
            )


_UNSEALED: Final = {
    STAMPS: "where it is being filled it is sealed at the end (`chronofact topics seal`); where it is not: "
}
_FAULT_CODES: Final = {
    "cleanup.policy": "cleanup_policy_differs",
    "retention.ms": "retention_limited",
    "retention.bytes": "retention_limited",
    STAMPS: "timestamp_type_differs",
    SIZES: "message_size_limited",
}


def _uuid_bytes(topic_id: Any) -> bytes:
    """The 16 bytes of confluent_kafka's Uuid: two signed halves."""
    mask = 2**64 - 1
    high = topic_id.get_most_significant_bits() & mask
    low = topic_id.get_least_significant_bits() & mask
    topic_bytes: bytes = (high << 64 | low).to_bytes(16)
    return topic_bytes
