"""What an error of Kafka or its client means: repeat, fix the surroundings, or say it otherwise."""

from __future__ import annotations

from typing import Final

from confluent_kafka import KafkaError

from chronofact.runtime.failures import Transient, Unfit

PASSING: Final = frozenset(
    {
        KafkaError._TIMED_OUT,  # noqa: SLF001 - confluent_kafka's spelling of client-side codes
        KafkaError._TRANSPORT,  # noqa: SLF001
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.NETWORK_EXCEPTION,
        # a topic that is being made or moved: the brokers do not agree yet who leads
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.OFFSET_NOT_AVAILABLE,
        KafkaError.REPLICA_NOT_AVAILABLE,
        KafkaError.KAFKA_STORAGE_ERROR,
    }
)
"""Of whoever asks about topics: the broker is away or at work."""
GONE: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
        KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
    }
)
_LOST: Final = frozenset(
    {
        KafkaError.OFFSET_OUT_OF_RANGE,
        KafkaError._AUTO_OFFSET_RESET,  # noqa: SLF001
        KafkaError._NO_OFFSET,  # noqa: SLF001
    }
)
_FORBIDDEN: Final = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError._AUTHENTICATION,  # noqa: SLF001
    }
)


def failure_of(error: KafkaError) -> Transient | Unfit:
    """The failure that an error of a consumer is, by name."""
    if error.code() in _LOST:
        return Unfit(
            "offset_out_of_range",
            "the log no longer holds the offset to go on from",
            remedy="restore the topic, or rebuild from what is left: docs/operations/rebuild.md",
        )
    if error.code() in GONE:
        return missing("the topic")
    if error.code() in _FORBIDDEN:
        return refused(error)
    return Transient("kafka_consumer", f"Kafka's consumer failed: {error.name()}")


def missing(topic: str) -> Unfit:
    """There is no such topic."""
    return Unfit("topic_missing", f"{topic} does not exist", remedy="create it by `chronofact topics`")


def refused(error: KafkaError) -> Unfit:
    """Kafka does not do what is asked, and will not later."""
    return Unfit(
        "kafka_refuses",
        f"Kafka refuses: {error.str()}",
        remedy="see what CHRONOFACT_KAFKA_OPTIONS say and what these credentials may do, or change what is asked",
    )
