"""A rebuild of a topic that is cut off, made anew or gone, of facts that the database refuses, and one that is routed to."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import psycopg
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from chronofact.kafka.admin import Admin, create_topics
from chronofact.reconciler.rebuilding.load import discard, plan
from chronofact.runtime.failures import Unfit
from tests.bench.workload import mixed
from tests.integration.projecting import append, await_offsets, delete_topic
from tests.integration.rebuild_world import Rebuilding
from tests.integration.rebuilding import loaded, prepare_only, settings_for, taken
from tests.integration.saying import Fact
from tests.integration.test_rebuild_kills import held_building
from tests.integration.two_sides import asked, switch

EVENTS = 600
ANSWER_S = 30


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(60, EVENTS))
    return topic_name


@pytest.fixture
def world(kafka: str, topic: str, database: str) -> Iterator[Rebuilding]:
    """A projector that feeds whatever is to be fed, and has applied all to p1."""
    made = Rebuilding(kafka, topic, database)
    with made.projector():
        await_offsets(database, EVENTS)
        yield made


def cut_off(kafka: str, topic: str) -> None:
    """Deletes the first message of each partition."""
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 2})
    for done in admin.delete_records([TopicPartition(topic, one, 1) for one in range(12)]).values():
        done.result(ANSWER_S)


def made_anew(kafka: str, topic: str) -> None:
    """Deletes the topic and makes it again, longer than it was."""
    delete_topic(kafka, topic)
    create_topics(kafka, topic)
    append(kafka, topic, mixed(60, 2 * EVENTS, prefix="other"))


def test_what_is_routed_to_stays_and_a_log_cut_off_is_named(world: Rebuilding) -> None:
    with world.reconciler() as reconciler:
        world.ready(reconciler)
        assert world.told("start", "--projection", "p3", "--wait")[0] == 0
        switch(world.database, "p3")
        assert refused(world, 1) == "rebuild_over"
        before = world.left("p2")
        hold = held_building(world.database)
        assert world.told("start", "--projection", "p2", "--workers", "1")[0] == 0
        hold.__enter__()
        world.await_state(2, "building")
        cut_off(world.kafka, world.topic)
        hold.__exit__(None, None, None)
        told = world.await_state(2, "failed")
        assert (told["failure"]["code"], "backup" in told["failure"]["remedy"]) == ("log_truncated", True)
        asked(world.database, "insert into chronofact.tenant_route values (gen_random_uuid(), 'p2')")
        assert refused(world, 2) == "retire_routed"
        asked(world.database, "delete from chronofact.tenant_route where projection = 'p2'")
        assert world.told("cancel", "2")[1]["state"] == "cancelled"
        assert world.left("p2") == before
        code, told = world.told("start", "--wait")
        assert (code, told["failure"]["code"]) == (1, "log_truncated")
        assert world.told("cancel", "3")[1]["state"] == "cancelled"
        assert world.left("p2") == before
        told_by_metrics(world)
        assert world.left("p3").keys() >= {"schema", "projection", "checkpoint", "tenant_route"}


def told_by_metrics(world: Rebuilding) -> None:
    wanted = {
        'chronofact_rebuilds{state="ready"} 1.0',
        'chronofact_rebuilds{state="cancelled"} 2.0',
        'chronofact_rebuilds_ended_total{state="failed"} 2.0',
        'chronofact_rebuild_failures_total{code="log_truncated"} 2.0',
        'chronofact_verifications{outcome="identical"} 1.0',
        'chronofact_routes{of="default",projection="p3"} 1.0',
        'chronofact_route_changes{kind="switch"} 1.0',
    }
    deadline = time.monotonic() + ANSWER_S
    while left := wanted - {*httpx.get(f"http://127.0.0.1:{world.port}/metrics").text.splitlines()}:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


def refused(world: Rebuilding, rebuild: int) -> str:
    """By which code its end is refused."""
    answer = httpx.delete(f"http://127.0.0.1:{world.port}/v1/rebuilds/{rebuild}")
    assert answer.status_code == 409, answer.text
    return str(answer.json()["error"]["code"])


def test_a_topic_that_is_missing_compacted_or_made_anew_is_refused(kafka: str, topic: str, database: str) -> None:
    with taken(database) as rebuild:
        with pytest.raises(Unfit) as unfit:
            plan(settings_for(kafka, f"{topic}.other", database), rebuild)
        assert unfit.value.code == "topic_missing"
        settings = settings_for(kafka, topic, database)
        Admin(kafka).configure(topic, {"cleanup.policy": "compact"})
        with pytest.raises(Unfit) as unfit:
            plan(settings, rebuild)
        assert unfit.value.code == "cleanup_policy_differs"
        Admin(kafka).configure(topic, {"cleanup.policy": "delete"})
        planned = plan(settings, rebuild)
        prepare_only(settings, planned)
        made_anew(kafka, topic)
        with pytest.raises(Unfit) as unfit:
            loaded(settings, planned)
        assert unfit.value.code == "topic_recreated"
        discard(settings, planned)
    assert Rebuilding(kafka, topic, database).left("p2") == {}


def test_facts_that_the_database_refuses_are_parked_and_no_others(kafka: str, topic: str, database: str) -> None:
    bad = [Fact(f"bad {number}").asserts(value) for number in range(3) for value in ("forbidden", "npm")]
    append(kafka, topic, bad)
    settings = settings_for(kafka, topic, database, parked_share_max=1.0, parked_row_max=1_000)
    with taken(database) as rebuild:
        planned = plan(settings, rebuild)
        prepare_only(settings, planned)
        with psycopg.connect(database) as connection:
            connection.execute(
                "alter table p2.version add constraint none_such check (value_json::text <> '\"forbidden\"')"
            )
        result = loaded(settings, planned)
    assert (result.events, result.parked) == (EVENTS, len(bad))
    parked = asked(database, "select code, count(*), count(distinct fact_id) from chronofact.parked_event group by 1")
    assert sorted(parked) == [("constraint_broken", 3, 3), ("held", 3, 3)]
