from __future__ import annotations

from typing import NoReturn

import pytest
from confluent_kafka import KafkaError, KafkaException

from chronofact.contracts.topics import Topic, facts_topic
from chronofact.kafka.admin import Admin, TopicState
from chronofact.runtime.failures import Transient

STATE = TopicState(bytes(16), 12, {}, {}, {})


class Electing(Admin):
    """A broker that has just started: so many looks fail as they then do."""

    def __init__(self, looks: int) -> None:
        super().__init__("127.0.0.1:9", timeout_s=1)
        self.looks = looks

    def state(self, topic: Topic) -> TopicState:
        if self.looks:
            self.looks -= 1
            self._ask(unknown_leader_epoch)
        return STATE


def unknown_leader_epoch() -> NoReturn:
    raise KafkaException(KafkaError(KafkaError.UNKNOWN_LEADER_EPOCH))


def test_elections_after_a_start_are_waited_for() -> None:
    assert Electing(3).settled(facts_topic()) is STATE


def test_elections_that_do_not_end_are_told_as_transient() -> None:
    with pytest.raises(Transient) as raised:
        Electing(10_000).settled(facts_topic())
    assert raised.value.code == "kafka_unreachable"
