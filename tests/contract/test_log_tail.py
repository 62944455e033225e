"""Both log tails, Kafka's and the one in memory: one promise, and what only a real broker can do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient

from chronofact.contracts.tail import Stretch, Tail, TailBounds
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from chronofact.kafka.tail import TopicTail
from chronofact.reader.ports import LogTail
from chronofact.runtime.failures import Transient, Unfit
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_tail import MemoryTail
from tests.integration.projecting import append
from tests.integration.saying import Fact, Said

ALL = 1_000_000_000
ADA, BOB = Fact("ada"), Fact("bob", "likes")
ELSEWHERE = next(fact for n in range(100) if (fact := Fact(f"other {n}")).partition != ADA.partition)
BESIDE = next(fact for n in range(1_000) if (fact := Fact(f"beside {n}")).partition == ADA.partition)


class Played(NamedTuple):
    """A tail, and how to append to its topic."""

    tail: LogTail
    append: Callable[[list[Said]], object]
    topic_id: Callable[[], bytes]


@pytest.fixture(params=["twin", "real"])
def played(request: pytest.FixtureRequest) -> Iterator[Played]:
    if request.param == "twin":
        topic = MemoryTopic()
        yield Played(MemoryTail(topic), topic.append, lambda: topic.topic_id)
        return
    kafka, name = request.getfixturevalue("kafka"), request.getfixturevalue("topic_name")
    create_topics(kafka, name)
    tail = TopicTail(kafka, facts_topic(name), kept_max=2)
    yield Played(tail, lambda said: append(kafka, name, said), lambda: Admin(kafka).topic_id(name))
    tail.close()


def read(tail: LogTail, *wanted: Stretch, keys: set[bytes], **bounds: int) -> Tail:
    return tail.read(wanted, keys, TailBounds(*(ALL, ALL, ALL), timeout_s=10)._replace(**bounds))


def said(fact: Fact, count: int, *, since: int = 0) -> list[Said]:
    return [fact.asserts(n, source=str(n)) for n in range(since, since + count)]


def test_only_wanted_keys_come_each_partition_in_order(played: Played) -> None:
    ours, beside, elsewhere = said(ADA, 7), said(BESIDE, 5), said(ELSEWHERE, 3)
    played.append([*ours[:4], *beside, *ours[4:], *elsewhere])
    here, there = ADA.partition, ELSEWHERE.partition
    keys = {ADA.fact_id, ELSEWHERE.fact_id}
    found = read(played.tail, Stretch(here, 0, 12), Stretch(there, 0, 1), keys=keys)
    assert [one.value for one in found.messages if one.partition == here] == [one.value for one in ours]
    assert [one.offset for one in found.messages if one.partition == here] == [0, 1, 2, 3, 9, 10, 11]
    assert [one.value for one in found.messages if one.partition == there] == [one.value for one in elsewhere]
    assert all(one.key in keys and one.appended_at > 0 for one in found.messages)
    assert dict(found.next_offsets) == {here: 12, there: 3}, "to the end, not only to what was asked for"
    assert (found.ended, found.scanned) == (frozenset({here, there}), 15)
    assert found.topic_id == played.topic_id()
    assert played.tail.partition_of(ADA.fact_id) == here


def test_reading_begins_at_its_start(played: Played) -> None:
    played.append(said(ADA, 9))
    found = read(played.tail, Stretch(ADA.partition, 6, 9), keys={ADA.fact_id})
    assert [one.offset for one in found.messages] == [6, 7, 8]
    assert (dict(found.starts), dict(found.next_offsets)) == ({ADA.partition: 6}, {ADA.partition: 9})


def test_one_reading_after_the_other_sees_what_came_between(played: Played) -> None:
    for round_ in range(3):
        played.append(said(ADA, 5, since=5 * round_))
        found = read(played.tail, Stretch(ADA.partition, 0, 1), keys={ADA.fact_id})
        assert len(found.messages) == 5 * (round_ + 1)


def test_a_reading_is_bounded_by_what_it_looks_at(played: Played) -> None:
    played.append([*said(BESIDE, 3_000), *said(ADA, 1)])
    found = read(played.tail, Stretch(ADA.partition, 0, 3_001), keys={ADA.fact_id}, scanned_max=1_000)
    assert found.scanned < 3_001
    assert not found.messages
    assert found.next_offsets[ADA.partition] == found.scanned
    assert not found.ended
    assert found.is_cut


@pytest.mark.parametrize("bound", ["found_max", "bytes_max"])
def test_a_reading_is_bounded_by_what_it_finds(played: Played, bound: str) -> None:
    played.append([*said(ADA, 4_000), *said(BESIDE, 4_000)])
    found = read(played.tail, Stretch(ADA.partition, 0, 8_000), keys={ADA.fact_id}, **{bound: 100})
    assert found.is_cut
    whole = read(played.tail, Stretch(ADA.partition, 0, 8_000), keys={BESIDE.fact_id})
    assert (len(whole.messages), whole.is_cut) == (4_000, False)


def test_a_log_that_ends_early_says_so(played: Played) -> None:
    played.append(said(ADA, 2))
    found = read(played.tail, Stretch(ADA.partition, 2, 40), keys={ADA.fact_id})
    assert (dict(found.next_offsets), found.ended) == ({ADA.partition: 2}, frozenset({ADA.partition}))
    assert not found.messages


def test_a_start_that_the_log_lacks_is_named(played: Played) -> None:
    played.append(said(ADA, 2))
    with pytest.raises(Unfit) as failure:
        read(played.tail, Stretch(ADA.partition, 30, 40), keys={ADA.fact_id})
    assert failure.value.code == "offset_out_of_range"
    assert len(read(played.tail, Stretch(ADA.partition, 0, 2), keys={ADA.fact_id}).messages) == 2


def test_readings_at_once_do_not_mix(played: Played) -> None:
    facts = [Fact(f"fact {n}") for n in range(8)]
    played.append([one for n in range(20) for fact in facts for one in said(fact, 1, since=n)])

    def run(number: int) -> int:
        fact = facts[number % 8]
        found = read(played.tail, Stretch(fact.partition, 0, 20), keys={fact.fact_id})
        assert {one.key for one in found.messages} == {fact.fact_id}
        return len(found.messages)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(64))) == [20] * 64


# -- what only a broker can do


def test_a_topic_that_is_gone_or_new_is_known(kafka: str, topic_name: str) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, said(ADA, 3))
    tail = TopicTail(kafka, facts_topic(topic_name), kept_max=1)
    first = read(tail, Stretch(ADA.partition, 0, 3), keys={ADA.fact_id}).topic_id
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.delete_topics([topic_name])[topic_name].result(10)
    assert until(lambda: _topic_id(tail) is None), "it is deleted bit by bit"
    assert until(lambda: topic_name in create_topics(kafka, topic_name))
    append(kafka, topic_name, said(ADA, 3))
    assert until(lambda: _topic_id(tail) not in {None, first})
    tail.close()


def _topic_id(tail: TopicTail) -> bytes | None:
    try:
        return tail.read([Stretch(ADA.partition, 0, 3)], {ADA.fact_id}, TailBounds(ALL, ALL, ALL, 2)).topic_id
    except (Unfit, Transient):
        return None


def until(so: Callable[[], bool]) -> bool:
    """Waits for something to become so."""
    deadline = time.monotonic() + 30
    while not so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_a_broker_that_is_away_is_named_at_once() -> None:
    tail = TopicTail("127.0.0.1:1", facts_topic("test.facts"), kept_max=1)
    started = time.monotonic()
    with pytest.raises(Transient) as failure:
        tail.read([Stretch(0, 0, 1)], {b"k"}, TailBounds(ALL, ALL, ALL, 5))
    assert failure.value.code == "kafka_unreachable"
    assert time.monotonic() - started < 2
    tail.close()
