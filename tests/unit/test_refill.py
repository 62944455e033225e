"""A refill against a topic and a projection in memory: whole, resumed, and refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count, islice

import pytest

from chronofact.contracts.codec import decode_event
from chronofact.contracts.position import Position
from chronofact.contracts.refilling import Gap, KeptEvent, KeptMessage, PartKept, Source, Stamped
from chronofact.domain.errors import Rejected
from chronofact.kafka.partitioning import partition_of
from chronofact.reconciler.refill import Refiller, lacking
from chronofact.reconciler.refill_ports import Progress, Tally
from chronofact.runtime.failures import Transient, Unfit
from tests.integration.saying import Fact

OLD_TOPIC, NEW_TOPIC = b"o" * 16, b"n" * 16
AT = 1_600_000_000_000_000
PARTITIONS = 2


def fact_in(partition: int, number: int) -> Fact:
    facts = (Fact(f"subject {one}") for one in count())
    return next(islice((one for one in facts if partition_of(one.fact_id, PARTITIONS) == partition), number, None))


def event(partition: int, offset: int, number: int, recorded_at: int) -> KeptEvent:
    fact = fact_in(partition, number)
    said = decode_event(fact.asserts(number).value)
    digest = sha256(said.payload).digest()
    label = fact.label
    return KeptEvent(
        offset, fact.fact_id, said.identity, label, said.event_id, said.kind, recorded_at, said.payload, digest
    )


KEPT: dict[int, list[KeptEvent | KeptMessage]] = {
    0: [
        event(0, 0, 1, AT),
        KeptMessage(2, b"k", None, AT + 7_000),
        event(0, 5, 2, AT + 1),
        event(0, 6, 3, AT + 9_000_000),
    ],
    1: [event(1, 3, 4, AT)],
}
PARTS = {0: PartKept(3, 1, 0, 6), 1: PartKept(1, 0, 0, 3)}
REACHED = {0: 7, 1: 4}


def source(**said: object) -> Source:
    reached = Position(OLD_TOPIC, REACHED)
    return replace(Source("p1", "live", PARTITIONS, reached, reached, {}, PARTS), **said)  # type: ignore[arg-type]


@dataclass
class MemoryKept:
    """A projection."""

    found: Source = field(default_factory=source)
    lines: Mapping[int, list[KeptEvent | KeptMessage]] = field(default_factory=lambda: KEPT)
    holes: Sequence[Gap] = ()

    def gaps(self) -> tuple[int, Sequence[Gap]]:
        return len(self.holes), self.holes

    def kept(self, partition: int) -> Iterator[KeptEvent | KeptMessage]:
        return iter(self.lines.get(partition, []))


@dataclass
class Lying:
    """A message of the new topic, and its state too."""

    key: bytes
    value: bytes
    appended_at: int


@dataclass
class State:
    topic_id: bytes
    config: Mapping[str, str]
    high_watermarks: Mapping[int, int]


@dataclass
class MemoryTopic:
    """A topic; ``budget`` is how many messages it takes before the refill is killed."""

    name: str = "facts"
    topic_id: bytes = NEW_TOPIC
    stamps: str = "LogAppendTime"
    is_there: bool = False
    log: dict[int, list[Lying]] = field(default_factory=lambda: {one: [] for one in range(PARTITIONS)})
    budget: int = 1_000
    between: Callable[[MemoryTopic], None] = lambda _topic: None

    def look(self) -> State | None:
        ends = {one: len(messages) for one, messages in self.log.items()}
        return State(self.topic_id, {"message.timestamp.type": self.stamps}, ends) if self.is_there else None

    def begin(self) -> State:
        self.is_there, self.stamps = True, "CreateTime"
        found = self.look()
        assert found is not None
        return found

    def read(self, partition: int, start: int, end: int) -> Iterator[Sequence[Lying]]:
        yield self.log[partition][start:end]

    def append(self, partition: int, message: Stamped) -> None:
        if not self.budget:
            raise Transient("kafka_unreachable", "killed")
        self.budget -= 1
        assert self.stamps == "CreateTime"
        lying = Lying(message.key or b"", message.value or b"", message.append_time_ms * 1_000)
        self.log[partition].append(lying)

    def flush(self) -> Mapping[int, int]:
        self.between(self)
        return {one: len(messages) for one, messages in self.log.items()}

    def seal(self) -> State:
        self.stamps = "LogAppendTime"
        found = self.look()
        assert found is not None
        return found


def refiller(
    topic: MemoryTopic,
    kept: MemoryKept | None = None,
    *,
    progress: Progress = lambda _tally: None,
    partitions: int = PARTITIONS,
    begun: MemoryBegun | None = None,
) -> Refiller:
    return Refiller(kept or MemoryKept(), topic, progress, partitions=partitions, begun=begun)


def filled() -> MemoryTopic:
    topic = MemoryTopic()
    refiller(topic).refill()
    return topic


def refused(topic: MemoryTopic, kept: MemoryKept | None = None, *, partitions: int = PARTITIONS) -> str:
    with pytest.raises(Unfit) as unfit:
        refiller(topic, kept, partitions=partitions).refill()
    return unfit.value.code


def test_all_lies_in_its_order_and_the_topic_is_sealed() -> None:
    topic = filled()
    first, parked, second, third = topic.log[0]
    assert [one.appended_at for one in topic.log[0]] == [AT, AT + 7_000, AT + 7_000, AT + 9_000_000]
    assert (parked.key, parked.value) == (b"k", b"")
    assert [decode_event(one.value).import_time for one in (first, second, third)] == [None, AT + 1, None]
    assert topic.stamps == "LogAppendTime"


@pytest.mark.parametrize("budget", range(5))
def test_it_goes_on_from_wherever_it_was_killed(budget: int) -> None:
    topic = MemoryTopic(budget=budget)
    with pytest.raises(Transient):
        refiller(topic).refill()
    assert topic.stamps == "CreateTime"
    topic.budget = 1_000
    again = refiller(topic).refill()
    assert (again.messages, again.found) == (5, budget)
    assert topic.log == filled().log
    assert topic.stamps == "LogAppendTime"


def test_it_is_sealed_where_only_that_was_left() -> None:
    topic = filled()
    topic.stamps = "CreateTime"
    assert refiller(topic).refill().found == 5
    assert topic.stamps == "LogAppendTime"


def test_a_topic_that_is_full_is_left_as_it_is() -> None:
    topic = filled()
    topic.budget = 0
    done = refiller(topic).refill()
    assert (done.messages, done.found) == (5, 5)


def test_what_somebody_else_wrote_is_never_written_behind() -> None:
    stranger = Lying(b"k", b"v", AT)
    for partition, messages in ((0, [stranger]), (1, [stranger]), (1, [*filled().log[1], stranger])):
        topic = MemoryTopic(is_there=True, stamps="CreateTime")
        topic.log[partition] = list(messages)
        assert refused(topic) == "topic_not_empty"
        assert sum(map(len, topic.log.values())) == len(messages)


def test_a_sealed_topic_with_a_part_of_it_is_no_refill_under_way() -> None:
    topic = filled()
    topic.log[0].pop()
    assert refused(topic) == "topic_not_empty"
    appended = filled()
    appended.log[1].append(Lying(b"k", b"a writer's", AT))
    assert refused(appended) == "topic_not_empty"


def test_who_writes_meanwhile_is_noticed() -> None:
    def write(topic: MemoryTopic) -> None:
        topic.log[0].append(Lying(b"k", b"v", AT))

    def swap(topic: MemoryTopic) -> None:
        topic.log[0][1] = Lying(b"k", b"v", AT)

    def elsewhere(topic: MemoryTopic) -> None:
        topic.log[0 if topic.log[1] else 1].append(Lying(b"k", b"v", AT))

    for between in (write, swap, elsewhere):
        topic = MemoryTopic(between=between)
        assert refused(topic) == "refill_disturbed"
        assert topic.stamps == "CreateTime"


def test_the_very_topic_is_not_filled_from_what_was_made_of_it() -> None:
    assert refused(MemoryTopic(is_there=True, topic_id=OLD_TOPIC)) == "refill_own_topic"


@pytest.mark.parametrize("state", ["building", "failed"])
def test_a_projection_that_is_not_whole_gives_nothing(state: str) -> None:
    topic = MemoryTopic()
    assert refused(topic, MemoryKept(source(state=state))) == "refill_source_unfit"
    assert not topic.is_there


def test_a_projection_that_lacks_or_falsifies_events_gives_nothing() -> None:
    topic = MemoryTopic()
    assert refused(topic, MemoryKept(holes=[Gap(1, None)])) == "refill_source_damaged"
    behind = {**PARTS, 1: PartKept(1, 0, 0, 4)}
    assert refused(topic, MemoryKept(source(parts=behind))) == "refill_source_damaged"
    assert not topic.is_there
    false = event(1, 3, 4, AT)._replace(event_id=bytes(16))
    assert refused(topic, MemoryKept(lines={**KEPT, 1: [false]})) == "refill_source_damaged"
    assert topic.stamps == "CreateTime"


def test_a_topic_of_another_count_of_partitions_is_not_made() -> None:
    topic = MemoryTopic()
    assert refused(topic, partitions=1) == "partition_count_differs"
    elsewhere = MemoryKept(lines={0: [*KEPT[0]], 1: [event(0, 3, 4, AT)]})
    assert refused(topic, elsewhere) == "partition_count_differs"
    assert topic.stamps == "CreateTime"


@dataclass
class MemoryBegun:
    """A topic that writers began."""

    topic_id: bytes = b"b" * 16
    counts: Mapping[int, int] = field(default_factory=lambda: {0: 0, 1: 2})

    def messages(self, partition: int) -> Iterator[Stamped]:
        return iter([Stamped(b"%d" % one, b"v", AT // 1_000 + one) for one in range(self.counts[partition])])


@pytest.mark.parametrize("budget", range(7))
def test_what_writers_began_meanwhile_follows(budget: int) -> None:
    topic = MemoryTopic(budget=budget)
    with pytest.raises(Transient):
        refiller(topic, begun=MemoryBegun()).refill()
    topic.budget = 1_000
    done = refiller(topic, begun=MemoryBegun()).refill()
    assert (done.messages, done.found) == (7, budget)
    assert topic.log[0] == filled().log[0]
    assert topic.log[1] == [*filled().log[1], Lying(b"0", b"v", AT), Lying(b"1", b"v", AT + 1_000)]
    with pytest.raises(Unfit, match="is there"):
        refiller(MemoryTopic(), begun=MemoryBegun(topic_id=OLD_TOPIC)).refill()


def test_what_is_lost_is_counted_by_positions_and_by_what_anybody_knows() -> None:
    known = Position(OLD_TOPIC, {0: 9, 1: 4})
    found = source(known=known, ahead={"p2": 2})
    assert lacking(found).messages == 2
    after = [Position(OLD_TOPIC, {1: 10}), Position(OLD_TOPIC, {0: 7})]
    lacks = lacking(found, after)
    assert (lacks.messages, lacks.ahead, lacks.positions) == (8, {"p2": 2}, [6, 0])
    assert lacking(source()).messages == 0
    with pytest.raises(Rejected, match="different topics"):
        lacking(found, [Position(NEW_TOPIC, {0: 1})])


def test_what_nothing_is_kept_of_is_counted_as_repeats() -> None:
    parts = {0: PartKept(3, 1, 1, 6), 1: PartKept(1, 0, 0, 3)}
    found = source(parts=parts)
    assert (found.events, found.parked, found.dropped, found.repeats) == (4, 1, 1, 4)


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chronofact.reconciler.refill.TELL_EVERY", 2)
    told: list[Tally] = []
    refiller(MemoryTopic(), progress=told.append).refill()
    assert told == [Tally("appending", 2, 5), Tally("appending", 4, 5)]
