"""The log up to a cut, as the check reads it."""

from __future__ import annotations

from time import monotonic

import pytest
from confluent_kafka import Producer

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from chronofact.kafka.checked_log import CheckedLog
from chronofact.runtime.failures import Unfit

PARTITION, SAID = 3, 5


@pytest.fixture
def ended_by_a_marker(kafka: str, topic_name: str) -> str:
    """A topic of which one partition ends behind the marker of somebody's transaction, as a rebuild's cut may."""
    create_topics(kafka, topic_name)
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic_name})
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(SAID):
        producer.produce(topic_name, b"%d" % number, bytes(16), PARTITION)
    producer.commit_transaction(30)
    until = monotonic() + 10
    while Admin(kafka).state(facts_topic(topic_name)).high_watermarks[PARTITION] != SAID + 1:
        assert monotonic() < until, "the marker does not come"
    return topic_name


def test_a_cut_behind_a_marker_is_reached(kafka: str, ended_by_a_marker: str) -> None:
    began = monotonic()
    found = [
        one
        for part in CheckedLog(kafka, facts_topic(ended_by_a_marker)).read({PARTITION: SAID + 1, 4: 0})
        for one in part
    ]
    assert [(one.partition, one.offset) for one in found] == [(PARTITION, number) for number in range(SAID)]
    assert monotonic() - began < 10


def test_what_comes_behind_the_cut_is_not_told(kafka: str, ended_by_a_marker: str) -> None:
    found = [one for part in CheckedLog(kafka, facts_topic(ended_by_a_marker)).read({PARTITION: 2}) for one in part]
    assert [one.offset for one in found] == [0, 1]


def test_a_cut_that_the_log_does_not_reach_is_refused(kafka: str, ended_by_a_marker: str) -> None:
    with pytest.raises(Unfit) as unfit:
        next(CheckedLog(kafka, facts_topic(ended_by_a_marker)).read({PARTITION: SAID + 2}))
    assert unfit.value.code == "log_shortened"
