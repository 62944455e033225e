"""The check as a service and on the command line, over real Kafka and Postgres, and live beside a projector at work."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import orjson
import psycopg
import pytest

from chronofact.contracts.checking import CheckRunning, CheckWanted, Divergence, RunState
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import create_topics
from chronofact.kafka.checked_log import CheckedLog
from chronofact.postgres import check_store
from chronofact.postgres.check_store import CheckStore
from chronofact.postgres.session import connect
from chronofact.reconciler.check import Checker, Outcome, shares_of
from chronofact.runtime.failures import Transient
from tests.bench.workload import mixed
from tests.integration.projecting import ProjectorProcess, ServiceProcess, append, await_offsets

FACTS, EVENTS = 120, 600


class ReconcilerProcess(ServiceProcess):
    """`python -m chronofact.reconciler`."""

    service = "reconciler"


@pytest.fixture
def filled(kafka: str, topic_name: str, database: str) -> str:
    """A database that a projector filled from the topic; its address."""
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(FACTS, EVENTS))
    with ProjectorProcess(kafka, topic_name, database) as projector:
        await_offsets(database, EVENTS)
        assert projector.stop() == 0
    return database


def checked(kafka: str, topic: str, database: str, **wanted: Any) -> tuple[Outcome, list[Divergence]]:
    store = CheckStore(database)
    checker = Checker(store, lambda: CheckedLog(kafka, facts_topic(topic)), workers=2)
    outcome = checker.check(CheckWanted("p1", seed=11, **wanted))
    return outcome, [one for _, one in store.divergences(outcome.run_id, after=0, limit=1_000)]


def change(database: str, statement: str) -> None:
    with psycopg.connect(database) as connection:
        assert connection.execute(statement).rowcount > 0


def test_a_check_by_whomever_is_the_last_finished_one(kafka: str, topic_name: str, filled: str) -> None:
    store = CheckStore(filled)
    assert store.last_finished() is None
    outcome, _ = checked(kafka, topic_name, filled, with_log=False)
    for projection in (None, "p1"):
        found = store.last_finished(projection)
        assert found is not None
        assert (found.run_id, found.tally.divergences) == (outcome.run_id, 0)
    assert store.last_finished("p2") is None
    with ReconcilerProcess(kafka, topic_name, filled) as service:
        service.await_readyz()
        deadline = time.monotonic() + 10
        while (
            "last_check_finished_seconds 1."
            not in httpx.get(f"http://127.0.0.1:{service.port}/metrics", verify=False).text
        ):
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_what_is_right_has_no_divergence_and_is_under_the_constraint(kafka: str, topic_name: str, filled: str) -> None:
    outcome, found = checked(kafka, topic_name, filled)
    assert found == []
    tally = outcome.tally
    assert (tally.facts, tally.events, tally.messages, tally.divergences) == (tally.facts_total, EVENTS, EVENTS, 0)
    with psycopg.connect(filled) as connection:
        current = connection.execute(
            "select fact_id, array_agg(id order by id) from chronofact.memory_current where kind = 'value' group by 1"
        ).fetchall()
        adjudicated: dict[UUID, list[UUID]] = dict(
            connection.execute(
                "select a.fact_id, a.version_ids from chronofact.memory_adjudicated() as a"
                " where a.kind = 'value' and a.valid_during @> a.cut_at"
            ).fetchall()
        )
        assert {fact_id for fact_id, _ in current} == set(adjudicated)
        assert all(set(ids) <= set(adjudicated[fact_id]) for fact_id, ids in current)
        with pytest.raises(psycopg.errors.ExclusionViolation):
            connection.execute(
                f"insert into chronofact.adjudicated_{outcome.run_id}"
                f" select * from chronofact.adjudicated_{outcome.run_id} limit 1"
            )


def test_loss_and_changes_are_found_and_kept_with_both_sides(kafka: str, topic_name: str, filled: str) -> None:
    change(filled, "delete from p1.event where (fact_no, event_seq) = (select fact_no, event_seq from p1.fact limit 1)")
    _, lost = checked(kafka, topic_name, filled, with_adjudicated=False)
    assert ("log", "lost") in {(one.relation, one.aspect) for one in lost}
    assert ("fact", "event_seq") in {(one.relation, one.aspect) for one in lost}
    without_log, _ = checked(kafka, topic_name, filled, with_log=False, with_adjudicated=False)
    assert without_log.tally.messages == 0
    change(
        filled,
        "update p1.timeline as t set known_from = t.known_from + interval '1 s' where t.ctid = (select min(ctid)"
        " from p1.timeline where fact_no = t.fact_no) and fact_no = (select max(fact_no) from p1.fact)",
    )
    outcome, found = checked(kafka, topic_name, filled, with_log=False, with_adjudicated=False)
    told = next(one for one in found if one.aspect == "known_from")
    assert told.fact_id is not None
    assert told.expected != told.found
    assert outcome.by_relation["timeline"] >= 1


@pytest.mark.soak
def test_a_check_beside_a_projector_at_work_sees_no_lag_as_loss(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    said = list(mixed(400, 6_000, seed=5))
    saying = threading.Thread(
        target=lambda: [append(kafka, topic_name, said[at : at + 200]) for at in range(0, 6_000, 200)]
    )
    seen: list[int] = []
    with ProjectorProcess(kafka, topic_name, database, batch_events_max=150) as projector:
        projector.await_event("claimed")
        saying.start()
        while saying.is_alive() or len(seen) < 2:
            outcome, found = checked(kafka, topic_name, database)
            assert found == []
            seen.append(outcome.tally.events)
        saying.join()
        assert projector.stop() == 0
    assert seen == sorted(seen)


def test_one_at_a_time_and_a_dead_one_is_marked_failed(filled: str) -> None:
    store = CheckStore(filled)
    with store.begin(CheckWanted("p1")) as first:
        with pytest.raises(CheckRunning), store.begin(CheckWanted("p1")):
            pass
        first._connection.close()  # as when its process is killed
    with store.begin(CheckWanted("p1")) as second:
        died = store.run(first.run_id)
        assert died is not None
        assert died.state is RunState.FAILED
        assert second.run_id > first.run_id
        with pytest.raises(Transient):
            Checker(_Failing(store), _no_log, workers=1).check(CheckWanted("p1"))


class _Failing:
    def __init__(self, store: CheckStore) -> None:
        self._store = store

    def begin(self, wanted: CheckWanted) -> Any:
        raise Transient("postgres_away", "it is away")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def _no_log() -> Any:
    raise AssertionError("the log is not read")


def test_the_next_one_may_begin_before_the_server_has_seen_the_last_one_go(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as lingering:

        @contextlib.contextmanager
        def connected(*said: Any, **settings: Any) -> Iterator[Any]:
            yield lingering.enter_context(connect(*said, **settings))

        monkeypatch.setattr(check_store, "connect", connected)
        for _ in range(2):
            with CheckStore(database).begin(CheckWanted("p1")):
                pass


def test_chunks_are_shared_in_runs_of_neighbours() -> None:
    chunks = [(number, number) for number in range(5)]
    assert shares_of(chunks, 2) == [chunks[:2], chunks[2:]]
    assert shares_of(chunks[:1], 4) == [chunks[:1]]


def test_over_http_and_on_the_command_line(kafka: str, topic_name: str, filled: str) -> None:
    with ReconcilerProcess(kafka, topic_name, filled, check_daily_at="") as service:
        service.await_readyz()
        with httpx.Client(base_url=f"http://127.0.0.1:{service.port}") as http:
            begun = http.post("/v1/checks", json={"seed": 4})
            assert begun.status_code == 202
            run = finished(http, begun.json()["id"])
            assert (run["state"], run["divergences"], run["seed"], run["found"]) == ("finished", 0, 4, [])
            change(
                filled, "update p1.version set source_id = 'another' where ctid = (select min(ctid) from p1.version)"
            )
            run = finished(http, http.post("/v1/checks").json()["id"])
            assert {(one["relation"], one["aspect"]) for one in run["found"]} == {("version", "source_id")}
            assert [one["id"] for one in http.get("/v1/checks?limit=2").json()["checks"]] == ["2", "1"]
            metrics = http.get("/metrics").text
            assert 'chronofact_reconciler_divergences_total{relation="version"}' in metrics
            for path, status in (
                ("/v1/checks/77", 404), ("/v1/checks/x", 404), ("/v1/checks/" + "9" * 40, 404),
                ("/v1/checks?limit=0", 400), ("/v1/checks?cursor=-1", 400), ("/v1/checks?other=1", 400),
            ):  # fmt: skip
                assert http.get(path).status_code == status, path
            assert http.get("/v1/checks/77").json()["error"]["field"] == "run_id"
            for body, status in (
                ("[]", 422),
                ("{", 400),
                ('{"past": -1}', 422),
                ('{"log": 1}', 422),
                ('{"x": 1}', 422),
            ):
                assert http.post("/v1/checks", content=body).status_code == status, body
        assert service.stop() == 0
    environ = os.environ | {
        "CHRONOFACT_POSTGRES": filled,
        "CHRONOFACT_KAFKA": kafka,
        "CHRONOFACT_FACTS_TOPIC": topic_name,
    }
    ran = subprocess.run(
        [sys.executable, "-m", "chronofact.cli", "check", "run", "--json"],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stderr
    line = orjson.loads(ran.stdout.splitlines()[-1])
    assert (line["facts"] > 0, line["divergences"], line["messages"]) == (True, len(run["found"]), EVENTS)
    told = subprocess.run(
        [sys.executable, "-m", "chronofact.cli", "check", "show"],
        env={**environ, "COLUMNS": "80"}, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    with psycopg.connect(filled) as connection:
        names: dict[str, str] = dict(connection.execute("select fact_id::text, fact_key from p1.fact").fetchall())
    for one in run["found"]:
        assert any(shown.startswith(f"fact {one['fact_id']}: {names[one['fact_id']]} of ") for shown in told)


def finished(http: httpx.Client, run_id: str) -> Any:
    deadline = time.monotonic() + 60
    while (run := http.get(f"/v1/checks/{run_id}").json())["state"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return run
