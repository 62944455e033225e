"""A copy into a topic of more partitions: every message once, as it was, in order; through crashes and while writers write."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from chronofact.contracts.codec import decode_event
from chronofact.contracts.drops import Drop
from chronofact.contracts.payload import happening_of
from chronofact.contracts.topics import Topic, facts_topic
from chronofact.domain.events import EventDropped
from chronofact.kafka.admin import Admin, check
from chronofact.kafka.copy_ends import Front, group_of
from chronofact.kafka.copy_places import HEADER, came_from
from chronofact.kafka.partitioning import partition_of
from chronofact.kafka.topic_copy import TopicCopy, reopen
from chronofact.runtime.failures import Transient, Unfit
from tests.integration.projecting import delete_topic

KEYS = [bytes([number]) * 16 for number in range(40)]
OLD, NEW = 12, 25
GARBAGE = b"\x00 not an event"


class World:
    """An old topic, and the copies of it."""

    def __init__(self, kafka: str, name: str) -> None:
        self.kafka = kafka
        self.admin = Admin(kafka)
        self.old, self.new = facts_topic(name), facts_topic(f"{name}.wide", NEW)
        self.admin.create([self.old])
        self.producer = Producer({"bootstrap.servers": kafka, "linger.ms": 5, "log_level": 2})

    def writes(self, key: bytes | None, value: bytes | None, partition: int | None = None, **further: Any) -> None:
        where = partition_of(key or b"", OLD) if partition is None else partition
        self.producer.produce(self.old.name, value, key, where, **further)

    def says(self, messages: int, word: bytes = b"said") -> None:
        for number in range(messages):
            self.writes(KEYS[number % len(KEYS)], b"%s %d" % (word, number))
        self.producer.flush()

    def copy(self) -> TopicCopy:
        return TopicCopy(self.kafka, self.old, self.new)

    def lies(self, topic: Topic) -> dict[int, list[Any]]:
        """All messages, by partition."""
        ends = self.admin.state(topic).high_watermarks
        consumer = Consumer({"bootstrap.servers": self.kafka, "group.id": "chronofact-test", "fetch.wait.max.ms": 20})
        consumer.assign([TopicPartition(topic.name, one, 0) for one in ends])
        found: dict[int, list[Any]] = defaultdict(list)
        while sum(map(len, found.values())) < sum(ends.values()):
            for one in consumer.consume(5_000, 0.5):
                found[one.partition() or 0].append(one)
        consumer.close()
        return found

    def assert_same(self, *, but: Mapping[tuple[int, int], object] = {}) -> None:
        """Each message of the old topic lies in the new one, once and as it was; those of one partition in their order."""
        old_id = self.admin.topic_id(self.old.name)
        kept = {(one.partition(), one.offset()): one for here in self.lies(self.old).values() for one in here}
        seen: dict[tuple[int, int], tuple[int, int]] = {}
        for partition, here in self.lies(self.new).items():
            last: dict[int, int] = {}
            for one in here:
                place = came_from(one.headers(), old_id)
                assert place is not None
                assert place not in seen
                seen[place] = partition, one.offset()
                assert last.get(place[0], -1) < place[1]
                last[place[0]] = place[1]
                was = kept[place]
                assert (one.key(), one.timestamp()[1]) == (was.key(), was.timestamp()[1])
                assert one.headers()[:-1] == [named for named in was.headers() or () if named[0] != HEADER]
                if place not in but:
                    assert one.value() == was.value()
        assert seen.keys() == kept.keys()


@pytest.fixture
def world(kafka: str, topic_name: str) -> World:
    return World(kafka, topic_name)


def test_everything_is_copied_as_it_was_and_writers_go_on(world: World) -> None:
    world.says(2_000)
    world.writes(None, None, 3)
    world.writes(b"", GARBAGE, 5, headers=[("trace", b"\xff"), ("none", None)])
    world.writes(KEYS[0], GARBAGE)
    world.writes(KEYS[1], b"misplaced", (partition_of(KEYS[1], OLD) + 1) % OLD)
    world.producer.flush()
    with world.copy() as copying:
        assert copying.catch_up().copied == 2_004
        world.says(500, b"meanwhile")
        assert copying.catch_up().copied == 2_504
    world.assert_same()
    with pytest.raises(Unfit, match="topics seal"):
        check(world.new, world.admin.state(world.new))
    for partition, here in world.lies(world.new).items():
        for one in here:
            if one.key() in KEYS and one.value() != b"misplaced":
                assert partition_of(one.key(), NEW) == partition
            if one.value() == b"misplaced":
                assert partition_of(one.key(), NEW) != partition


def test_a_topic_that_partitions_were_added_to_is_copied_by_the_count_that_it_was_written_by(world: World) -> None:
    world.says(400)
    client = AdminClient({"bootstrap.servers": world.kafka, "log_level": 2})
    client.create_partitions([NewPartitions(world.old.name, OLD + 1)])[world.old.name].result(10)
    with pytest.raises(Unfit, match="leave CHRONOFACT_FACTS_PARTITIONS as it is"):
        check(world.old, world.admin.state(world.old))
    with world.copy() as copying:
        assert copying.catch_up().copied == 400
        copying.seal()
    world.assert_same()
    assert all(
        partition_of(one.key(), NEW) == partition for partition, here in world.lies(world.new).items() for one in here
    )


def test_a_topic_that_has_more_partitions_and_uses_them_is_another_than_the_configured_one(world: World) -> None:
    wide = World(world.kafka, f"{world.old.name}.of-13")
    wide.old = facts_topic(f"{wide.old.name}.wide", OLD + 1)
    wide.admin.create([wide.old])
    wide.writes(KEYS[0], b"said", OLD)
    wide.producer.flush()
    with (
        pytest.raises(Unfit, match="set CHRONOFACT_FACTS_PARTITIONS=13"),
        TopicCopy(wide.kafka, facts_topic(wide.old.name, OLD), wide.new),
    ):
        pass


def test_a_seal_closes_the_old_topic_and_opens_the_new_one_and_can_be_taken_back(world: World) -> None:
    world.says(300)
    with world.copy() as copying:
        copying.catch_up()
        world.says(50, b"late")
        assert copying.seal() < 10
    check(world.new, world.admin.state(world.new))
    world.assert_same()
    with pytest.raises(Unfit) as closed:
        check(world.old, world.admin.state(world.old))
    assert closed.value.code == "topic_closed"
    check(world.old, world.admin.state(world.old), is_written=False)
    refused: list[object] = []
    world.writes(KEYS[0], b"too late", on_delivery=lambda error, _message: refused.append(error.name()))
    world.producer.flush()
    assert refused == ["MSG_SIZE_TOO_LARGE"]
    with pytest.raises(Unfit) as sealed, world.copy():
        pass
    assert sealed.value.code == "copy_sealed"

    reopen(world.kafka, world.old, world.new)
    check(world.old, world.admin.state(world.old))
    world.says(10, b"again")
    with world.copy() as copying:
        assert copying.seal() < 10
    world.assert_same()
    world.producer.produce(world.new.name, b"new", KEYS[0], 0)
    world.producer.flush()
    with pytest.raises(Unfit) as written:
        reopen(world.kafka, world.old, world.new)
    assert written.value.code == "copy_written"
    check(world.new, world.admin.state(world.new))


def test_a_seal_that_died_is_said_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def configure(admin: Admin, name: str, settings: Mapping[str, str]) -> None:
        if name == world.new.name:
            pytest.fail("killed")
        known(admin, name, settings)

    known = Admin.configure
    world.says(100)
    with monkeypatch.context() as patched:
        patched.setattr(Admin, "configure", configure)
        with world.copy() as copying, pytest.raises(pytest.fail.Exception):
            copying.seal()
    with pytest.raises(Unfit, match="is closed"):
        check(world.old, world.admin.state(world.old))
    with pytest.raises(Unfit, match="topics seal"):
        check(world.new, world.admin.state(world.new))
    with world.copy() as copying:
        copying.seal()
    check(world.new, world.admin.state(world.new))
    world.assert_same()


def test_a_topic_that_is_being_filled_itself_is_not_copied(world: World) -> None:
    world.admin.configure(world.old.name, {"message.timestamp.type": "CreateTime"})
    with pytest.raises(Unfit) as unfit, world.copy():
        pass
    assert unfit.value.code == "timestamp_type_differs"


@pytest.mark.parametrize("is_forgotten", [False, True], ids=["known", "forgotten"])
def test_a_copy_that_died_before_it_committed_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, *, is_forgotten: bool
) -> None:
    world.says(1_000)
    with world.copy() as copying:
        copying.catch_up()
    world.says(700, b"second")
    with monkeypatch.context() as patched:
        patched.setattr(Front, "commit", lambda *_: pytest.fail("killed"))
        with world.copy() as copying, pytest.raises(pytest.fail.Exception):
            copying.catch_up()
    if is_forgotten:
        client = AdminClient({"bootstrap.servers": world.kafka})
        client.delete_consumer_groups([group_of(world.new.name)])[group_of(world.new.name)].result(10)
    world.says(300, b"third")
    with world.copy() as copying:
        tally = copying.catch_up()
    there = sum(map(len, world.lies(world.new).values()))
    assert there == tally.messages == 2_000
    assert tally.found + tally.copied == (2_000 if is_forgotten else 1_000)
    assert tally.found >= (1_700 if is_forgotten else 700)
    world.assert_same()


def test_a_topic_of_that_name_made_anew_is_filled_from_the_start(world: World) -> None:
    world.says(200)
    with world.copy() as copying:
        copying.catch_up()
    delete_topic(world.kafka, world.new.name)
    with world.copy() as copying:
        assert copying.catch_up().copied == 200
    world.assert_same()


def test_drops_name_the_new_place_of_what_they_give_up(world: World) -> None:
    old_id = world.admin.topic_id(world.old.name)

    def drops(key: bytes, offset: int, *, lies_in: int | None = None, topic_id: bytes = old_id) -> Drop:
        partition = partition_of(key, OLD) if lies_in is None else lies_in
        drop = Drop(topic_id, partition, offset, key, "unreadable", "ada")
        world.writes(key, drop.message(trace="t").value, partition)
        return drop

    world.says(100)
    for key in KEYS[:2]:
        world.writes(key, GARBAGE)
    world.writes(b"", GARBAGE, 7)
    world.producer.flush()
    places = {
        (one.key() or b""): (one.partition(), one.offset())
        for here in world.lies(world.old).values()
        for one in here
        if one.value() == GARBAGE
    }
    drops(KEYS[0], places[KEYS[0]][1])
    world.producer.flush()
    with world.copy() as copying:  # the dropped one and the drop in one round
        assert copying.catch_up().drops == 1
    drops(KEYS[1], places[KEYS[1]][1])
    drops(b"", places[b""][1], lies_in=7)
    drops(KEYS[2], 10**6)
    drops(KEYS[3], 0, topic_id=os.urandom(16))
    world.producer.flush()
    with world.copy() as copying:
        assert copying.catch_up().drops == 2
    new_id = world.admin.topic_id(world.new.name)
    found, but = 0, {}
    new = world.lies(world.new)
    for partition, here in new.items():
        for one in here:
            if not (one.value() or b"").startswith(b"\xc3\x01"):
                continue
            what = happening_of("EventDropped", decode_event(one.value()).payload)
            assert isinstance(what, EventDropped)
            if what.topic_id.replace("-", "") != new_id.hex():
                continue
            found += 1
            but[came_from(one.headers(), old_id) or (-1, -1)] = what
            assert what.partition == partition
            assert (here[what.offset].value(), here[what.offset].key()) == (GARBAGE, one.key())
            assert (what.reason, what.dropped_by, decode_event(one.value()).trace) == ("unreadable", "ada", "t")
    assert found == 3
    world.assert_same(but=but)


def test_what_somebody_else_put_into_the_new_topic_is_refused(world: World) -> None:
    world.says(100)
    with world.copy() as copying:
        copying.catch_up()
    world.producer.produce(world.new.name, b"foreign", KEYS[0], 0)
    world.producer.flush()
    with pytest.raises(Unfit, match="was not copied from"), world.copy():
        pass


def test_a_new_topic_that_lost_messages_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.says(100)
    with world.copy() as copying:
        copying.catch_up()
        with monkeypatch.context() as patched:
            patched.setattr(copying, "_next", {one: end + 1 for one, end in copying._next.items()})
            copying._front.commit(copying._next)
    with pytest.raises(Unfit, match="have lost messages"), world.copy():
        pass


def test_a_stranger_is_noticed_while_the_copy_runs(world: World) -> None:
    world.says(100)
    with world.copy() as copying:
        for partition in range(NEW):
            world.producer.produce(world.new.name, b"foreign", KEYS[0], partition)
        world.producer.flush()
        with pytest.raises(Unfit) as unfit:
            copying.catch_up()
    assert unfit.value.code == "copy_differs"


def test_one_process_copies_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chronofact.kafka.copy_ends.GONE_S", 0)
    world.says(10)
    with world.copy() as copying:
        with pytest.raises(Unfit) as running, world.copy():
            pass
        assert running.value.code == "copy_running"
        assert copying.catch_up().copied == 10


def test_kafka_that_is_away_is_named() -> None:
    with pytest.raises(Transient), TopicCopy("127.0.0.1:9", facts_topic("old"), facts_topic("new", NEW)):
        pass


def test_messages_as_large_as_the_old_topic_takes_are_copied(world: World) -> None:
    world.admin.configure(world.old.name, {"max.message.bytes": "3000000"})
    large = Producer({"bootstrap.servers": world.kafka, "message.max.bytes": 3_000_000, "log_level": 2})
    large.produce(world.old.name, os.urandom(2_000_000), KEYS[0], partition_of(KEYS[0], OLD))
    large.flush()
    with world.copy() as copying:
        copying.catch_up()
    world.assert_same()
