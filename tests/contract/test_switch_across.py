"""A switch that rests upon a comparison across topics: it stands for what was looked at, and for no other."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from chronofact.contracts.routing import RouteRefused
from chronofact.postgres.across_topics import compare_across, keep
from tests.contract.filling import fill, log_order, make, whole_partitions
from tests.contract.memory_log import TOPIC_ID, MemoryTopic
from tests.contract.test_check_mutations import BASE, story
from tests.contract.verifying import verified
from tests.integration.saying import Fact
from tests.integration.two_sides import routes, switch

OTHER_ID = bytes(reversed(range(16)))
REBUILT = "insert into chronofact.rebuild (projection, rule, state, compared_with, workers) values ('p2', 1, 'ready', 'p1', 1)"


def filled(database: str, *, other_topic: bytes) -> None:
    """The same messages in two projections, the second one made from the topic of this id."""
    make(database, "p2")
    for name, topic_id in (("p1", TOPIC_ID), ("p2", other_topic)):
        topic = MemoryTopic(topic_id)
        topic.append(story(Fact("ann")), appended_at=BASE)
        fill(database, name, topic, [log_order(topic)] if name == "p1" else whole_partitions(topic))


def compare(database: str) -> None:
    found = compare_across(database, "p1", "p2", samples=1)
    assert found.identical
    assert keep(database, "p1", "p2", found) is not None


def change(database: str, statement: str, **parameters: object) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        assert connection.execute(statement.encode(), parameters).rowcount > 0


def refused(database: str) -> list[str]:
    with pytest.raises(RouteRefused) as refusal:
        switch(database, "p2")
    assert routes(database)[None] == "p1"
    return [one.code for one in refusal.value.refusals]


def test_what_was_compared_across_topics_may_be_gone_to_until_the_old_one_goes_on(database: str) -> None:
    filled(database, other_topic=OTHER_ID)
    assert refused(database) == ["route_other_topic"]
    compare(database)
    change(
        database,
        "update chronofact.checkpoint set next_offset = next_offset + 1 where projection = 'p1' and next_offset > 0",
    )
    assert refused(database) == ["route_other_topic"]
    compare(database)
    switch(database, "p2")
    assert routes(database)[None] == "p2"


def test_what_was_parked_and_counts_since_was_not_compared(database: str) -> None:
    filled(database, other_topic=OTHER_ID)
    compare(database)
    release = "insert into chronofact.released_event (projection, topic_id, partition, kafka_offset) values (%(of)s, %(topic)s, 0, 7)"
    change(database, release, of="p1", topic=UUID(bytes=TOPIC_ID))
    assert refused(database) == ["route_other_topic"]
    compare(database)
    change(database, release, of="p2", topic=UUID(bytes=OTHER_ID))
    switch(database, "p2")
    assert routes(database)[None] == "p2"


def test_a_projection_begun_between_the_look_and_its_keeping_was_not_looked_at(database: str) -> None:
    filled(database, other_topic=OTHER_ID)
    found = compare_across(database, "p1", "p2", samples=1)
    change(database, REBUILT)  # whoever compared stood still meanwhile
    assert keep(database, "p1", "p2", found) is not None
    assert refused(database) == ["route_other_topic", "route_unverified"]


@pytest.mark.parametrize("identical", [True, False])
def test_of_one_topic_it_is_no_proof_and_hides_none_but_tells_a_difference(database: str, *, identical: bool) -> None:
    filled(database, other_topic=TOPIC_ID)
    change(database, REBUILT)
    if identical:
        compare(database)
        assert refused(database) == ["route_unverified"]
        change(database, "delete from p2.timeline")
        assert not verified(database)[0].identical
        compare(database)  # it looks at no line of a timeline
    else:
        assert verified(database)[0].identical
        change(database, "update p2.event set event_id = gen_random_uuid() where event_seq = 3")
        found = compare_across(database, "p1", "p2", samples=1)
        assert keep(database, "p1", "p2", found) is not None
    assert refused(database) == ["route_verification_failed"]


@pytest.mark.parametrize("projection", ["p1", "p2"])
@pytest.mark.parametrize("stale", [bytes(16), bytes([255] * 16)], ids=["first", "last"])
def test_a_topic_of_which_nothing_was_applied_is_not_what_it_is_made_of(
    database: str, projection: str, stale: bytes
) -> None:
    filled(database, other_topic=TOPIC_ID)
    assert verified(database)[0].identical
    line = "insert into chronofact.checkpoint (projection, topic_id, partition, next_offset, epoch) values (%(of)s, %(topic)s, 0, 0, 1)"
    change(database, line, of=projection, topic=UUID(bytes=stale))
    switch(database, "p2", lag_events_max=0)
    assert routes(database)[None] == "p2"
