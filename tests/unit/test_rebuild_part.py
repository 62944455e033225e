"""One partition of a rebuild over twins in memory: what becomes of the topic meanwhile, and facts that the database refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

import pytest

from chronofact.kafka.admin import TopicState
from chronofact.kafka.consumer import RawMessage
from chronofact.postgres.load_work import AsideMessage, Bucket, Encoded, PartClaim
from chronofact.projecting.parking import ParkingLimits
from chronofact.reconciler.rebuilding.part import Fold, Limits, PartLoad
from chronofact.reconciler.rebuilding.patience import Patience
from chronofact.runtime.failures import ConstraintBroken, Transient, Unfit
from tests.integration.poison import UNKNOWN_FINGERPRINT
from tests.integration.saying import Fact

PARTITION: Final = Fact("ada").partition
FACTS: Final = [one for one in (Fact(f"ada {number}") for number in range(800)) if one.partition == PARTITION][:40]
LOG: Final = [
    RawMessage(PARTITION, offset, fact.fact_id, fact.asserts(value).value, offset * 1_000)
    for offset, (value, fact) in enumerate((value, fact) for value in ("npm", "pnpm") for fact in FACTS)
]
TOPIC_ID: Final = bytes(range(16))
RECREATED: Final = Unfit("topic_recreated", "the topic was deleted and created anew", remedy="restore it")
TRUNCATED: Final = Unfit("log_truncated", "the topic has lost its first messages", remedy="restore them")
BEHIND_START: Final = Unfit("offset_out_of_range", "the log no longer holds the offset", remedy="restore it")
AWAY: Final = Transient("kafka_unreachable", "no Kafka here")


class Log:
    """Messages by tens; before each look, and before each ten, something may happen."""

    def __init__(self, messages: Sequence[RawMessage] = LOG) -> None:
        self.messages = messages
        self.end = len(messages)
        self.at_look: dict[int, Exception] = {}
        self.at_ten: dict[int, Exception] = {}
        self.read_from: list[int] = []
        self._looks = count()
        self._tens = count()

    def look(self, topic_id: bytes | None = None) -> TopicState:
        assert topic_id == TOPIC_ID
        if (failure := self.at_look.get(next(self._looks))) is not None:
            raise failure
        return TopicState(TOPIC_ID, 12, {}, {PARTITION: 0}, {PARTITION: self.end})

    def read(self, partition: int, start: int, end: int) -> Iterator[list[RawMessage]]:
        assert partition == PARTITION
        self.read_from.append(start)
        for first in range(start, end, 10):
            if (failure := self.at_ten.get(next(self._tens))) is not None:
                raise failure
            yield [*self.messages[first : first + 10]]


class Writer:
    """A transaction; what it was given counts once it is done."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.asides: list[AsideMessage] = []
        self.came_to: Bucket | None = None

    def write(self, encoded: Encoded) -> None:
        data = b"".join(block for blocks in encoded.blocks.values() for block in blocks)
        encoded.blocks.clear()
        if any(fact.fact_id in data for fact in self._work.refused):
            raise ConstraintBroken("no_such_thing")

    def set_aside(self, messages: Iterable[AsideMessage]) -> None:
        self.asides += messages

    def done(self, came_to: Bucket) -> None:
        self.came_to = came_to


class Work:
    """The worker's side of the database."""

    def __init__(self, *refused: Fact) -> None:
        self.refused = refused
        self.told: list[tuple[int, str]] = []
        self.attempts = 0
        self.steps = 0
        self.asides: list[AsideMessage] = []
        self.buckets: list[Bucket] = []

    def dropped(self, topic_id: bytes, partition: int) -> frozenset[int]:
        return frozenset()

    def step(self) -> None:
        self.steps += 1

    def read(self, partition: int, messages_read: int, *, buckets: int, state: str) -> int:
        self.told.append((messages_read, state))
        return buckets

    @contextmanager
    def bucket(self, partition: int, number: int) -> Iterator[Writer]:
        self.attempts += 1
        writer = Writer(self)
        yield writer
        if writer.came_to is not None:
            self.buckets.append(writer.came_to)
            self.asides += writer.asides


def load(log: Log, work: Work, *, buckets: int = 2) -> None:
    claim = PartClaim(PARTITION, len(log.messages), buckets, 0, 0)
    limits = Limits(10**6, 10**6, None, ParkingLimits(1.0, 10**6))
    pausing = Patience(lambda _seconds: None, name="test")
    made: Any = PartLoad  # over as much of its surroundings as it calls
    made(work, log, claim, fold=Fold(TOPIC_ID, 12, 1), limits=limits, patiently=pausing).load()


def test_it_is_read_once_and_folded() -> None:
    log, work = Log(), Work()
    load(log, work)
    assert (log.read_from, work.asides) == ([0], [])
    assert sum(one.facts for one in work.buckets) == len(FACTS)
    assert sum(one.events for one in work.buckets) == len(LOG)
    assert work.steps >= len(LOG) // 10, "each batch of the log is one"


def test_it_goes_on_behind_the_last_message_once_kafka_is_back() -> None:
    log, work = Log(), Work()
    log.at_ten = {3: AWAY}
    log.at_look = {1: AWAY, 2: AWAY}
    load(log, work)
    assert log.read_from == [0, 30]
    assert sum(one.events for one in work.buckets) == len(LOG)


def _look_before(log: Log) -> None:
    log.at_look = {0: TRUNCATED}


def _cut_off(log: Log) -> None:
    log.at_ten, log.at_look = {3: BEHIND_START}, {1: TRUNCATED}


def _cut_off_while_away(log: Log) -> None:
    log.at_ten, log.at_look = {3: AWAY}, {1: TRUNCATED}


def _anew_and_seen(log: Log) -> None:
    log.at_ten, log.at_look = {3: BEHIND_START}, {1: RECREATED}


def _anew_and_as_long(log: Log) -> None:
    log.at_look = {1: RECREATED}


def _shorter(log: Log) -> None:
    log.end -= 1


def _only_the_reader_says_so(log: Log) -> None:
    log.at_ten = {3: BEHIND_START}


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (_look_before, "log_truncated"),
        (_cut_off, "log_truncated"),
        (_cut_off_while_away, "log_truncated"),
        (_anew_and_seen, "topic_recreated"),
        (_anew_and_as_long, "topic_recreated"),
        (_shorter, "log_shortened"),
        (_only_the_reader_says_so, "offset_out_of_range"),
    ],
)
def test_what_became_of_the_topic_is_named_and_nothing_is_folded(happens: Callable[[Log], None], code: str) -> None:
    log, work = Log(), Work()
    happens(log)
    with pytest.raises(Unfit) as unfit:
        load(log, work)
    assert unfit.value.code == code
    assert work.attempts == 0
    assert (len(LOG), "folding") not in work.told


def test_facts_that_the_database_refuses_are_found_by_halves_and_set_aside_whole() -> None:
    bad = (FACTS[3], FACTS[17], FACTS[39])
    log, work = Log(), Work(*bad)
    load(log, work)
    keys = {fact.fact_id for fact in bad}
    assert sorted(one.offset for one in work.asides) == [one.offset for one in LOG if one.key in keys]
    assert sum(one.facts for one in work.buckets) == len(FACTS) - len(bad)
    assert sum(one.messages for one in work.buckets) == len(LOG)
    assert sum(one.aside for one in work.buckets) == 2 * len(bad)
    assert work.attempts < len(FACTS), "by halves, not one by one"


def test_a_refusal_that_no_part_repeats_is_tried_again() -> None:
    class Once(Work):
        @contextmanager
        def bucket(self, partition: int, number: int) -> Iterator[Writer]:
            if not self.attempts:
                self.attempts += 1
                raise ConstraintBroken("only_once")
            with super().bucket(partition, number) as writer:
                yield writer

    work = Once()
    with pytest.raises(Transient) as passing:
        load(Log(), work)
    assert passing.value.code == "postgres_unexpected"
    assert work.buckets == []


def test_an_unknown_schema_is_refused_by_its_id_and_place() -> None:
    newer = b"\xc3\x01" + bytes.fromhex("0123456789abcdef")
    assert len(newer) == len(UNKNOWN_FINGERPRINT)
    messages = [*LOG]
    messages[7] = messages[7]._replace(value=newer + messages[7].value[10:])
    work = Work()
    with pytest.raises(Unfit) as unfit:
        load(Log(messages), work, buckets=1)
    assert unfit.value.code == "schema_unknown"
    for told in (f"partition {PARTITION}, offset 7", "0123456789abcdef"):
        assert told in str(unfit.value)
    assert "chronofact parked drop" in unfit.value.remedy
    assert work.buckets == []
