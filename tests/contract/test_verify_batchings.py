"""Projections filled by different batchings of one log are identical; a long lane that is painted otherwise means the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import psycopg
import pytest

from chronofact.domain.events import Cardinality, Mode, Supersession
from tests.bench.workload import DAY_US, START_US, mixed
from tests.contract.filling import fill, log_order, make, sliced, whole_partitions
from tests.contract.memory_log import Appended, MemoryTopic
from tests.contract.test_check_mutations import BASE, story, texts
from tests.contract.verifying import compared, verified
from tests.integration.saying import Fact, Said

OVERRIDES = 40


def long_lane(fact: Fact) -> list[Said]:
    """A many-valued fact of which one version is overridden on and off."""
    first = fact.asserts("tea", START_US, cardinality=Cardinality.MANY)
    assert first.version_id is not None
    over = (Supersession(first.version_id, None, Mode.OVERRIDE),)
    days = Random(3).sample(range(OVERRIDES), OVERRIDES)
    bounds = [(START_US + 4 * day * DAY_US, START_US + (4 * day + 1) * DAY_US) for day in days]
    return [first] + [
        fact.asserts(f"no tea {start}", start, end, cardinality=Cardinality.MANY, supersedes=over)
        for start, end in bounds
    ]


@pytest.fixture(scope="module")
def topic() -> MemoryTopic:
    made = MemoryTopic()
    random = Random(11)
    told = [
        list(mixed(80, 1_200)),
        story(Fact("ann")),
        texts(Fact("bob", "memory/drinks")),
        long_lane(Fact("eve", "tea")),
    ]
    queues: list[Iterator[Said]] = [iter(one) for one in told]
    weights = [len(one) for one in told]
    number = 0
    while queues:
        at = random.choices(range(len(queues)), weights)[0]
        said = next(queues[at], None)
        if said is None:
            del queues[at], weights[at]
            continue
        number += random.randrange(2)  # some events are appended in one millisecond
        made.append([said], appended_at=BASE + number * 1_000)
    made.append(told[0][:50], appended_at=BASE + number * 1_000)
    for partition in (2, 7, 7):
        made.append_raw(partition, b"no key", b"no event", appended_at=BASE + number * 1_000)
    return made


def at_random(messages: Sequence[Appended], seed: int) -> Iterator[Sequence[Appended]]:
    random, start = Random(seed), 0
    while start < len(messages):
        size = random.choice((1, 2, 7, 60, 400))
        yield messages[start : start + size]
        start += size


@pytest.mark.parametrize("seed", [1, 2])
def test_batchings_do_not_tell(database: str, topic: MemoryTopic, seed: int) -> None:
    make(database, "p2", "p3")
    fill(database, "p1", topic, sliced(log_order(topic), 25))
    fill(database, "p2", topic, whole_partitions(topic))
    fill(database, "p3", topic, at_random(log_order(topic), seed), cache_bytes_max=0)
    for left, right in (("p1", "p2"), ("p2", "p3"), ("p1", "p3")):
        outcome, kept = verified(database, left, right)
        assert (outcome.identical, outcome.differences, kept) == (True, 0, []), (left, right)
    with psycopg.connect(database, autocommit=True) as connection:
        lanes = "select count(*) from {}.timeline where lane > 0"
        painted = [connection.execute(lanes.format(name)).fetchone() for name in ("p1", "p3")]
        assert painted[0] != painted[1], "the long lane was painted otherwise"
        # a stretch of the long lane that says something else
        spoilt = connection.execute(
            "update p3.timeline set reason = 5, kind = 0 where (fact_no, lane, event_seq, known_from) in (select fact_no,"
            " lane, event_seq, known_from from p3.timeline where lane > 0 group by 1, 2, 3, 4 having count(*) > 8 limit 1)"
        )
        assert spoilt.rowcount > 8
    outcome, kept = verified(database, "p1", "p3")
    assert (outcome.identical, outcome.differences, {one.aspect for one in kept}) == (False, 1, {"timeline"})
    assert kept[0].fact is not None
    assert kept[0].fact.subject_label == "eve"
    assert kept[0].right_lines > 8


def test_a_fact_that_one_side_lacks_is_named_with_all_of_it(database: str, topic: MemoryTopic) -> None:
    make(database, "p2")
    fill(database, "p1", topic, whole_partitions(topic))
    fill(database, "p2", topic, whole_partitions(topic))
    with psycopg.connect(database, autocommit=True) as connection:
        for table in ("event", "version", "timeline", "conflict", "edge", "ending", "fact"):
            connection.execute(f"delete from p2.{table} where fact_no = (select min(fact_no) from p2.fact)")
        connection.execute("delete from chronofact.parked_event where projection = 'p2' and partition = 2")
    outcome, kept = verified(database)
    assert (outcome.identical, outcome.differences) == (False, 2)
    head = next(one for one in kept if one.aspect == "fact")
    assert (head.left_lines, head.right_lines, head.right_said) == (1, 0, [])
    assert {"event", "version", "timeline"} <= {one.aspect for one in kept if one.fact_id == head.fact_id}
    parked = next(one for one in kept if one.aspect == "parked_event")
    assert (parked.left_lines, parked.right_lines, parked.fact_id) == (1, 0, None)
    assert verified(database, "p2", "p1")[0].facts == outcome.facts


def test_each_column_of_what_is_parked_or_dropped_is_compared(database: str, topic: MemoryTopic) -> None:
    make(database, "p2")
    for name in ("p1", "p2"):
        fill(database, name, topic, whole_partitions(topic))
    changes = {
        "parked_event": (
            "fact_id = gen_random_uuid()", "message_key = '\\x00'", "message = '\\x00'", "code = 'held'", "reason = '-'",
            "appended_at = '-infinity'", "kafka_offset = -1",
        ),
        "dropped_event": (
            "message_key = '\\x00'", "drop_offset = -1", "dropped_by = '-'", "reason = '-'", "dropped_at = '-infinity'",
            "kafka_offset = -1",
        ),
    }  # fmt: skip
    with psycopg.connect(database) as connection:
        connection.execute(
            "insert into chronofact.dropped_event select p.projection, p.topic_id, p.partition, p.kafka_offset,"
            " p.message_key, 7, 'ada', 'poison', p.appended_at from chronofact.parked_event as p"
        )
        assert compared(connection, [])[0].differences == 0
        for table, of_table in changes.items():
            for change in of_table:
                with connection.transaction(force_rollback=True):
                    spoilt = connection.execute(
                        f"update chronofact.{table} set {change} where projection = 'p2' and partition = 2".encode()
                    )
                    assert spoilt.rowcount == 1
                    assert {one.aspect for one in compared(connection, [])[1]} == {table}, change


def test_all_are_counted_where_few_are_kept(database: str, topic: MemoryTopic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chronofact.reconciler.verify_telling.KEPT_MAX", 5)
    make(database, "p2")
    fill(database, "p1", topic, whole_partitions(topic))
    fill(database, "p2", topic, whole_partitions(topic))
    with psycopg.connect(database, autocommit=True) as connection:
        changed = connection.execute("update p2.fact set versions = versions + 1").rowcount
    outcome, kept = verified(database)
    assert (outcome.facts, outcome.differences, len(kept)) == (changed, changed, 5)
