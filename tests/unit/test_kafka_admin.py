from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition, Uuid

from chronofact.contracts.topics import Topic, facts_topic
from chronofact.kafka.admin import Admin, TopicState
from chronofact.runtime.failures import Transient

STATE = TopicState(bytes(16), 12, {}, {}, {})


class Electing(Admin):
    """A broker that has just started: so many looks fail as they then do."""

    def __init__(self, looks: int) -> None:
        super().__init__("127.0.0.1:9", timeout_s=1)
        self.looks = looks

    def state(self, topic: Topic, *, is_partial: bool = False) -> TopicState:
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


def told(offset: int | None) -> Future[Any]:
    """What a leader answered; None: that it can't be asked."""
    future: Future[Any] = Future()
    if offset is None:
        future.set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
    else:
        future.set_result(SimpleNamespace(offset=offset))
    return future


@pytest.mark.parametrize("absent", [None, -1001])
def test_a_partition_without_a_leader_is_no_partition_that_ends_at_nothing(absent: int | None) -> None:
    admin = Admin("127.0.0.1:9", timeout_s=1)
    offsets = {TopicPartition("facts", number): told(offset) for number, offset in enumerate([7, absent, 0])}
    assert admin._told(offsets) == {0: 7, 2: 0}
    with pytest.raises(Transient) as raised:
        admin._told_all(offsets)
    assert raised.value.code == "kafka_unreachable"


class Asking:
    """A client: the first that is made asks a broker that is gone, whatever it is asked for."""

    made = 0

    def __init__(self, _options: object) -> None:
        Asking.made += 1
        self._number = Asking.made

    def describe_topics(self, topics: Any, **_: Any) -> dict[str, Future[Any]]:
        future: Future[Any] = Future()
        if self._number == 1:
            future.set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
        else:
            future.set_result(SimpleNamespace(topic_id=Uuid(1, 2)))
        return {"facts": future}


def test_a_client_that_waited_in_vain_is_followed_by_one_that_knows_no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asking, "made", 0)
    monkeypatch.setattr("chronofact.kafka.admin.AdminClient", Asking)
    admin = Admin("127.0.0.1:9", timeout_s=1)
    with pytest.raises(Transient):
        admin.topic_id("facts")
    assert len(admin.topic_id("facts")) == 16
    assert admin.topic_id("facts") == admin.topic_id("facts")
    assert Asking.made == 2
