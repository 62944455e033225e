"""A refill into real topics: made, filled, gone on with, sealed; with what writers began meanwhile behind it."""

from __future__ import annotations

from uuid import uuid4

import pytest

from chronofact.contracts.refilling import KeptMessage, PartKept, Stamped
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, check, create_topics
from chronofact.kafka.filling import Begun, Filling
from chronofact.kafka.replicas import replicas
from chronofact.kafka.whole_log import WholeLog
from chronofact.reconciler.refill import Refiller
from chronofact.runtime.failures import Transient, Unfit
from tests.integration.projecting import append
from tests.integration.saying import Fact
from tests.unit.test_refill import AT, MemoryKept, source

PARTITIONS = 12
MESSAGES = 50


def kept() -> MemoryKept:
    """Messages in two partitions, one without a key, one without a value."""
    lines = [KeptMessage(one, b"%d" % one if one else None, b"v" if one > 1 else None, AT) for one in range(MESSAGES)]
    parts = {one: PartKept(0, MESSAGES, 0, MESSAGES - 1) for one in (0, 11)}
    reached = source().reached
    ends = {0: MESSAGES, 11: MESSAGES}
    found = source(parts=parts, partitions=PARTITIONS, reached=type(reached)(reached.topic_id, ends))
    return MemoryKept(found, {0: [*lines], 11: [*lines]})


def lying(kafka: str, name: str, partition: int) -> list[Stamped]:
    log = WholeLog(kafka, facts_topic(name))
    end = log.look().high_watermarks[partition]
    found = [one for batch in log.read(partition, 0, end) for one in batch]
    log.close()
    return [Stamped(one.key or None, one.value or None, one.appended_at // 1_000) for one in found]


def test_a_topic_is_filled_in_two_goes_with_what_writers_began_behind_it(kafka: str, topic_name: str) -> None:
    began = f"{topic_name}-began"
    create_topics(kafka, began)
    said = Fact("ada").asserts("since")
    append(kafka, began, [said])
    topic = facts_topic(topic_name)
    with Filling(kafka, topic) as first:
        assert first.look() is None
        first.begin()
        first.append(0, Stamped(None, None, AT // 1_000))
        first.flush()
        with pytest.raises(Unfit, match="CreateTime"):
            check(topic, Admin(kafka).settled(topic))
    with Begun(kafka, facts_topic(began)) as begun:
        begun.close_to_writers()
        assert sum(begun.counts.values()) == 1
        with Filling(kafka, topic) as filling:
            done = Refiller(kept(), filling, partitions=PARTITIONS, begun=begun).refill()
    assert (done.messages, done.found, done.topic_id) == (2 * MESSAGES + 1, 1, Admin(kafka).topic_id(topic_name))
    check(topic, Admin(kafka).settled(topic))
    wanted = [Stamped(one.key, one.value, AT // 1_000) for one in kept().lines[0] if isinstance(one, KeptMessage)]
    behind = lying(kafka, began, said.partition)
    assert [one.value for one in behind] == [said.value]
    for partition in (0, 11, said.partition):
        told = wanted if partition in (0, 11) else []
        assert lying(kafka, topic_name, partition) == told + (behind if partition == said.partition else [])
    with Filling(kafka, topic) as again, pytest.raises(Unfit, match="did not put there"):
        Refiller(kept(), again, partitions=PARTITIONS).refill()


def test_a_topic_of_another_count_is_refused(kafka: str, topic_name: str) -> None:
    create_topics(kafka, topic_name)
    with Filling(kafka, facts_topic(topic_name, 24)) as filling, pytest.raises(Unfit) as unfit:
        filling.look()
    assert unfit.value.code == "partition_count_differs"


def test_copies_in_sync_are_counted(kafka: str, topic_name: str) -> None:
    create_topics(kafka, topic_name)
    assert replicas(kafka, topic_name) == (PARTITIONS, 0, 0)
    with pytest.raises(Transient):
        replicas(kafka, f"{topic_name}-{uuid4().hex}")
