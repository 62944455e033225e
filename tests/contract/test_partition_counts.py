"""A topic of another count than the catalogue's: leaves, claims, holds, verifications and revocations follow it."""

from __future__ import annotations

import psycopg
import pytest

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.partitioning import partition_of
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.projections import create_projection, leaves_of
from chronofact.postgres.source_store import SourceStore, SourceWanted
from chronofact.postgres.verify_hold import Holds
from chronofact.runtime.failures import Unfit
from tests.contract.filling import fill, whole_partitions
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.verifying import verified
from tests.integration.saying import Fact, Said

WIDE = 24
LAST = WIDE - 1


def in_partition(wanted: int) -> Fact:
    """A fact that lies there."""
    numbers = (Fact(f"subject {number}") for number in range(100_000))
    return next(one for one in numbers if partition_of(one.fact_id, WIDE) == wanted)


def placed(said: Said) -> Said:
    return said._replace(partition=partition_of(said.key, WIDE))


@pytest.fixture
def filled(database: str) -> str:
    """p2 and p3 of a topic with many partitions, of which some hold facts."""
    topic = MemoryTopic(partitions=WIDE)
    for partition in (0, 13, LAST):
        fact = in_partition(partition)
        topic.append([placed(fact.asserts("npm")), placed(fact.asserts("pnpm", source="other"))])
    with psycopg.connect(database, autocommit=True) as connection:
        for projection in ("p2", "p3"):
            assert create_projection(connection, projection, rule=1, state="ready", partitions=WIDE)
    for projection in ("p2", "p3"):
        fill(database, projection, topic, whole_partitions(topic))
    return database


def test_a_projection_has_a_leaf_a_partition(filled: str) -> None:
    with psycopg.connect(filled) as connection:
        assert [leaves_of(connection, name) for name in ("p1", "p2", "p3", "p9")] == [12, WIDE, WIDE, 0]
        found = connection.execute("select distinct fact_no >> 40 from p2.event order by 1").fetchall()
        assert found == [(0,), (13,), (LAST,)]
        create_projection(connection, "p4", rule=1, partitions=101)
        assert leaves_of(connection, "p4") == 101
        connection.rollback()


def test_a_projection_with_too_few_leaves_is_not_fed(database: str) -> None:
    store = ProjectionStore(database, "p1")
    store.claim(TOPIC_ID, 11, watermarks=(0, 0))
    with pytest.raises(Unfit) as unfit:
        store.claim(TOPIC_ID, 12, watermarks=(0, 0))
    store.close()
    assert unfit.value.code == "projection_partitions_differ"
    with psycopg.connect(database) as connection:
        assert connection.execute("select partition from chronofact.checkpoint").fetchall() == [(11,)]


def test_a_verification_looks_into_every_partition(filled: str) -> None:
    outcome, _ = verified(filled, "p2", "p3")
    assert (outcome.identical, outcome.facts) == (True, 3)
    for number, partition in enumerate((13, LAST), start=1):
        with psycopg.connect(filled) as connection:
            spoilt = "update p3.event set recorded_at = recorded_at + interval '1 us' where fact_no >> 40 = %s"
            assert connection.execute(spoilt, (partition,)).rowcount == 2
        outcome, differences = verified(filled, "p2", "p3")
        assert outcome.differences == number
        assert in_partition(partition).fact_id in {one.fact_id.bytes for one in differences if one.fact_id}


def test_a_hold_is_of_every_partition_that_was_claimed(filled: str) -> None:
    Holds(filled).hold("p2", {13: 5}, for_s=60)
    with psycopg.connect(filled) as connection:
        held = "select partition, stop_at from chronofact.checkpoint where projection = 'p2' and stop_until > now()"
        assert dict(connection.execute(held).fetchall()) == {one: 5 if one == 13 else 0 for one in range(WIDE)}


def test_versions_of_a_source_are_found_in_every_leaf(filled: str) -> None:
    with psycopg.connect(filled) as connection:
        connection.execute("update chronofact.tenant_route set projection = 'p2'")
    wanted = SourceWanted(Fact("any").identity.tenant_id, "other")
    with SourceStore(filled, wanted.tenant_id) as store:
        assert [one for one in store.leaves() if store.count(wanted, one).versions] == [0, 13, LAST]


def test_the_setting_wins_over_the_catalogue() -> None:
    assert (facts_topic().partitions, facts_topic("t", 24).partitions, facts_topic("t", 24).name) == (12, 24, "t")
