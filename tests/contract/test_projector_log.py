"""What every log promises the projector: the twin in memory and a membership in Kafka's group alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from chronofact.contracts.topics import Topic, facts_topic
from chronofact.kafka.admin import Admin
from chronofact.kafka.consumer import LogConsumer
from chronofact.projecting.ports import Message
from chronofact.projector.log import KafkaLog
from chronofact.projector.ports import Log
from tests.contract.memory_log import MemoryTopic
from tests.integration.projecting import append
from tests.integration.saying import Said

PARTITIONS = 2
WAIT_S = 40.0


class Subject:
    """A topic of two partitions, and members of one group that read it."""

    def __init__(self, join: Callable[[], Log], add: Callable[[Sequence[Said]], object]) -> None:
        self._join = join
        self.add = add
        self.members: list[Log] = []

    def join(self) -> Log:
        self.members.append(self._join())
        return self.members[-1]

    def poll_until(self, met: Callable[[], bool]) -> list[Message]:
        """All members poll, as they must for a rebalance to come about."""
        found: list[Message] = []
        deadline = time.monotonic() + WAIT_S
        while not met():
            assert time.monotonic() < deadline
            for member in self.members:
                found += member.poll(events_max=100, wait_s=0.05)
        return found

    def read(self, member: Log, messages: int) -> list[Message]:
        found: list[Message] = []
        deadline = time.monotonic() + WAIT_S
        while len(found) < messages:
            assert time.monotonic() < deadline
            found += member.poll(events_max=100, wait_s=0.05)
        return found


@pytest.fixture(params=["twin", "kafka"])
def subject(request: pytest.FixtureRequest, topic_name: str) -> Iterator[Subject]:
    if request.param == "twin":
        memory = MemoryTopic(partitions=PARTITIONS)
        yield Subject(memory.join, memory.append)
        return
    kafka: str = request.getfixturevalue("kafka")
    topic: Topic = replace(facts_topic(topic_name), partitions=PARTITIONS)
    admin, numbers = Admin(kafka), count()
    admin.create([topic])

    def join() -> KafkaLog:
        name = f"member-{next(numbers)}"
        return KafkaLog(
            lambda: LogConsumer(kafka, topic_name, group=topic_name, member=name), admin, topic, linger_s=0.01
        )

    made = Subject(join, lambda messages: append(kafka, topic_name, messages))
    yield made
    for member in made.members:
        with suppress(RuntimeError):  # one that a test has closed
            member.close()


def said(partition: int, number: int) -> Said:
    return Said(partition, bytes([partition, number]) * 8, b"value %d" % number, b"", None)


def owning(member: Log, partitions: int) -> Callable[[], bool]:
    return lambda: member.assignment().is_member and len(member.assignment().partitions) == partitions


def places(messages: Sequence[Message]) -> list[tuple[int, int]]:
    return sorted((one.partition, one.offset) for one in messages)


def test_an_assigned_partition_is_silent_until_it_is_started(subject: Subject) -> None:
    subject.add([said(0, 0), said(1, 0)])
    member = subject.join()
    assert subject.poll_until(owning(member, PARTITIONS)) == []
    assert [list(member.poll(events_max=10, wait_s=0.2)) for _ in range(3)] == [[], [], []]
    member.start({1: 0})
    (only,) = subject.read(member, 1)
    assert (only.partition, only.offset, only.key, only.value) == (1, 0, bytes([1, 0]) * 8, b"value 0")
    assert only.appended_at > 0


def test_a_partition_is_read_from_where_it_is_started_and_again_from_there(subject: Subject) -> None:
    subject.add([said(0, number) for number in range(5)])
    member = subject.join()
    subject.poll_until(owning(member, PARTITIONS))
    member.start({0: 3, 1: 0})
    assert places(subject.read(member, 2)) == [(0, 3), (0, 4)]
    member.start({0: 1, 1: 0})
    assert places(subject.read(member, 4)) == [(0, 1), (0, 2), (0, 3), (0, 4)]
    assert member.ends()[0] == 5


def test_each_partition_comes_in_the_order_of_its_offsets(subject: Subject) -> None:
    subject.add([said(number % PARTITIONS, number) for number in range(40)])
    member = subject.join()
    subject.poll_until(owning(member, PARTITIONS))
    member.start(dict.fromkeys(range(PARTITIONS), 0))
    found = subject.read(member, 40)
    for partition in range(PARTITIONS):
        assert [one.offset for one in found if one.partition == partition] == list(range(20))


def test_no_more_comes_at_once_than_was_asked_for(subject: Subject) -> None:
    subject.add([said(0, number) for number in range(10)])
    member = subject.join()
    subject.poll_until(owning(member, PARTITIONS))
    member.start({0: 0})
    found: list[Message] = []
    while len(found) < 10:
        some = member.poll(events_max=3, wait_s=0.2)
        assert len(some) <= 3
        found += some
    assert places(found) == [(0, offset) for offset in range(10)]


def test_a_second_member_takes_its_share_and_each_is_told_anew(subject: Subject) -> None:
    first = subject.join()
    subject.poll_until(owning(first, PARTITIONS))
    first.start(dict.fromkeys(range(PARTITIONS), 0))
    alone = first.assignment()
    second = subject.join()
    subject.poll_until(lambda: owning(first, 1)() and owning(second, 1)())
    assert first.assignment().generation > alone.generation
    assert first.assignment().partitions | second.assignment().partitions == alone.partitions
    subject.add([said(0, 0), said(1, 0)])
    assert [list(first.poll(events_max=10, wait_s=0.2)) for _ in range(2)] == [[], []]


def test_a_member_that_is_given_nothing_is_told_so(subject: Subject) -> None:
    for _ in range(PARTITIONS + 1):
        subject.join()
    subject.poll_until(lambda: all(owning(one, 1)() or owning(one, 0)() for one in subject.members))
    shares = sorted(len(one.assignment().partitions) for one in subject.members)
    assert shares == [0, *[1] * PARTITIONS]


def test_who_joins_anew_is_assigned_anew(subject: Subject) -> None:
    member = subject.join()
    subject.poll_until(owning(member, PARTITIONS))
    before = member.assignment()
    member.rejoin()
    subject.poll_until(owning(member, PARTITIONS))
    assert member.assignment().generation > before.generation


def test_a_look_tells_id_and_ends_of_the_topic(subject: Subject) -> None:
    subject.add([said(1, 0), said(1, 1)])
    member = subject.join()
    look = member.look()
    assert (look.watermarks, look.partitions) == ({0: (0, 0), 1: (0, 2)}, PARTITIONS)
    assert look.topic_id == member.look().topic_id
    assert len(look.topic_id) == 16


def test_what_was_hinted_moves_nothing(subject: Subject) -> None:
    subject.add([said(0, number) for number in range(3)])
    member = subject.join()
    subject.poll_until(owning(member, PARTITIONS))
    member.start({0: 0})
    member.commit({0: 2})
    assert places(subject.read(member, 3)) == [(0, 0), (0, 1), (0, 2)]
