"""Two projector processes share two projections; one is killed, one is told to feed some only, and one projection is let go."""

from __future__ import annotations

import json
import time

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.kafka.admin import create_topics
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from tests.bench.workload import mixed
from tests.integration.projecting import ProjectorProcess, append
from tests.integration.test_feeding import WAIT_S, applied, await_applied, become

NAMES = ("p1", "p2")


@pytest.fixture
def topic(kafka: str, topic_name: str, database: str) -> str:
    """With a p2 beside p1 that has come level."""
    create_topics(kafka, topic_name)
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1, state="ready")
    return topic_name


def differing(database: str) -> list[tuple[object, ...]]:
    """Facts whose state is not the same in both."""
    statement = """select coalesce(a.fact_id, b.fact_id) from p1.fact as a full join p2.fact as b using (fact_id)
        where (a.event_seq, a.state_hash) is distinct from (b.event_seq, b.state_hash)"""
    with psycopg.connect(database, autocommit=True) as connection:
        return connection.execute(statement).fetchall()


def shares(process: ProjectorProcess) -> dict[str, list[int]]:
    """What it has claimed last, by projection."""
    return {line["projection"]: line["partitions"] for line in process.events("claimed")}


def test_two_processes_share_two_projections_and_one_takes_over_both(kafka: str, topic: str, database: str) -> None:
    messages = list(mixed(100, 1_200))
    with ProjectorProcess(kafka, topic, database, projector_name="a") as first:
        first.await_event("claimed", 2)
        append(kafka, topic, messages[:400])
        with ProjectorProcess(kafka, topic, database, projector_name="b") as second:
            second.await_event("claimed", 2)
            first.await_event("claimed", 4)
            assert {name: len(share) for name, share in shares(first).items()} == dict.fromkeys(NAMES, 6)
            assert {name: len(share) for name, share in shares(second).items()} == dict.fromkeys(NAMES, 6)
            append(kafka, topic, messages[400:800])
            for name in NAMES:
                await_applied(database, name, 800)
            second.kill()
            append(kafka, topic, messages[800:])
            for name in NAMES:
                await_applied(database, name, 1_200)
            assert shares(first) == {name: list(range(12)) for name in NAMES}
        assert first.stop() == 0
    assert differing(database) == []


def test_a_process_a_projection_where_somebody_wants_that(kafka: str, topic: str, database: str) -> None:
    with (
        ProjectorProcess(kafka, topic, database, feeds="p1") as one,
        ProjectorProcess(kafka, topic, database, feeds="p2") as other,
    ):
        append(kafka, topic, mixed(20, 100))
        for name in NAMES:
            await_applied(database, name, 100)
        assert [set(shares(process)) for process in (one, other)] == [{"p1"}, {"p2"}]
        assert [one.stop(), other.stop()] == [0, 0]


def test_what_waits_for_nobody_is_told_beside_what_matters(kafka: str, topic: str, database: str) -> None:
    """p2's tables are gone: that is told, and hinders nobody who reads p1."""
    become(database, "p2", "verifying")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("alter schema p2 rename to p2_gone")
    with ProjectorProcess(kafka, topic, database) as process:
        append(kafka, topic, mixed(20, 100))
        await_applied(database, "p1", 100)
        process.await_event("hindered")
        process.await_readyz()
        told = httpx.get(f"http://127.0.0.1:{process.port}/readyz").json()
        assert [(one["part"], one["code"]) for one in told["beside"]] == [("projection p2", "postgres_not_migrated")]
        become(database, "p2", "live")
        process.await_readyz("postgres_not_migrated")
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("alter schema p2_gone rename to p2")
        await_applied(database, "p2", 100)
        process.await_readyz()


def test_what_is_retired_while_it_is_fed_is_let_go_at_once(
    kafka: str, topic: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHRONOFACT_POSTGRES", database)
    messages = list(mixed(20, 200))
    with ProjectorProcess(kafka, topic, database) as process:
        append(kafka, topic, messages[:100])
        for name in NAMES:
            await_applied(database, name, 100)
        refused = CliRunner().invoke(app, ["retire", "p1"])
        assert refused.exit_code == 1
        assert "retire_routed" in str(refused.exception)
        done = CliRunner().invoke(app, ["retire", "p2", "--drop", "--json"])
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout) == {"projection": "p2", "state": "dropped"}
        append(kafka, topic, messages[100:])
        await_applied(database, "p1", 200)
        process.await_readyz()
        assert applied(database, "p2") in {0, 100}
        deadline = time.monotonic() + WAIT_S
        while 'partitions{projection="p2"} 0.0' not in httpx.get(f"http://127.0.0.1:{process.port}/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert process.events("failed") == []
        assert process.stop() == 0
