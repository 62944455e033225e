"""How many copies of a topic's partitions there are just now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from chronofact.kafka.options import client_options
from chronofact.runtime.failures import Transient


class Replicas(NamedTuple):
    """Of one topic."""

    partitions: int
    leaderless: int
    """Partitions that nobody leads: their last copy in sync is away."""
    lacking: int
    """Partitions with fewer copies in sync than they are to have, the leaderless included."""


def replicas(bootstrap: str, topic: str, *, timeout_s: float = 5, options: Mapping[str, str] | None = None) -> Replicas:
    """One look.

    Raises:
        Transient: ``kafka_unreachable``, or there is no such topic.
    """
    client = AdminClient(client_options(bootstrap, "admin", options))
    try:
        (asked,) = client.describe_topics(TopicCollection([topic]), request_timeout=timeout_s).values()
        found = asked.result(timeout_s + 1).partitions
    except (KafkaException, TimeoutError):
        raise Transient("kafka_unreachable", "Kafka does not tell the replicas of a topic") from None
    leaderless = sum(1 for one in found if one.leader is None or one.leader.id < 0)
    return Replicas(len(found), leaderless, sum(1 for one in found if len(one.isr) < len(one.replicas)))
