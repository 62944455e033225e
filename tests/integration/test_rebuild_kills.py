"""A rebuild that is held in each of its phases and then killed or cancelled there; two at once; and one that is not right."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import httpx
import psycopg
import pytest

from chronofact.kafka.admin import create_topics
from chronofact.postgres import verification_store
from tests.bench.workload import mixed
from tests.integration.projecting import WAIT_S, append, await_offsets
from tests.integration.rebuild_world import Rebuilding, ended

EVENTS = 1_000
SMALL = {"rebuild_bucket_bytes": 10_000}

Held = Callable[[str], AbstractContextManager[None]]


@pytest.fixture
def world(kafka: str, topic_name: str, database: str) -> Iterator[Rebuilding]:
    """A topic whose events p1 has applied, and a projector that feeds whatever is to be fed."""
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(100, EVENTS))
    world = Rebuilding(kafka, topic_name, database)
    with world.projector():
        await_offsets(database, EVENTS)
        yield world


@contextmanager
def held_planning(database: str) -> Iterator[None]:
    """No schema can be made while the block runs."""
    with psycopg.connect(database) as connection:
        connection.execute("lock table chronofact.projection in exclusive mode")
        yield


@contextmanager
def held_building(database: str) -> Iterator[None]:
    """No event can be loaded into p2 from its making on."""
    with _event_table_held(database, "share"):
        yield


@contextmanager
def held_indexing(database: str) -> Iterator[None]:
    """Events can be loaded into p2, and no index can be made of them."""
    with _event_table_held(database, "row exclusive"):
        yield


@contextmanager
def held_verifying(database: str) -> Iterator[None]:
    """Nothing can be verified, as if somebody else were at it."""
    with psycopg.connect(database, autocommit=True) as connection:
        for projection in ("p1", "p2"):
            connection.execute("select pg_advisory_lock(%s, hashtext(%s))", (verification_store.LOCK_CLASS, projection))
        yield


@contextmanager
def _event_table_held(database: str, mode: str) -> Iterator[None]:
    deadline = time.monotonic() + WAIT_S
    with psycopg.connect(database, autocommit=True) as connection:
        while connection.execute("select to_regclass('p2.event')").fetchone() == (None,):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with connection.transaction():
            connection.execute(f"lock table p2.event in {mode} mode")
            yield


PHASES = [
    pytest.param("planning", held_planning, True, id="planning", marks=pytest.mark.soak),
    pytest.param("building", held_building, False, id="building"),
    pytest.param("indexing", held_indexing, False, id="indexing", marks=pytest.mark.soak),
    pytest.param("verifying", held_verifying, True, id="verifying"),
]
"""What holds it there, and whether that is to be taken before it starts."""


def start_held(world: Rebuilding, hold: AbstractContextManager[None], *, is_before: bool) -> None:
    if is_before:
        hold.__enter__()
    assert world.told("start", "--workers", "1")[0] == 0
    if not is_before:
        hold.__enter__()


@pytest.mark.parametrize(("phase", "held", "is_before"), PHASES)
def test_killed_in_a_phase_it_goes_on(world: Rebuilding, phase: str, held: Held, is_before: bool) -> None:
    hold = held(world.database)
    with world.reconciler(**SMALL) as first:
        world.ready(first)
        start_held(world, hold, is_before=is_before)
        world.await_state(1, phase)
        first.await_event("rebuild_taken")
        first.kill()
    with world.reconciler(**SMALL) as second:
        world.ready(second)
        assert second.await_event("rebuild_taken")["state"] == phase
        hold.__exit__(None, None, None)
        code, told = world.told("watch", "1")
        assert (code, told["state"], told["events"]) == (0, "ready", EVENTS), told
    assert world.ask("select identical from chronofact.verification order by verification_id desc limit 1")
    assert world.ask("select epoch from chronofact.rebuild") >= 2


@pytest.mark.parametrize(("phase", "held", "is_before"), PHASES)
def test_cancelled_in_a_phase_it_leaves_nothing(world: Rebuilding, phase: str, held: Held, is_before: bool) -> None:
    hold = held(world.database)
    with world.reconciler(**SMALL) as reconciler:
        world.ready(reconciler)
        start_held(world, hold, is_before=is_before)
        world.await_state(1, phase)
        assert world.told("cancel", "1", "--no-wait")[0] == 0
        hold.__exit__(None, None, None)
        code, told = world.told("cancel", "1")
        assert (code, told["state"]) == (0, "cancelled"), told
        assert world.left("p2") == {}
        assert world.ask("select count(*) from chronofact.rebuild where state = 'cancelled'") == 1
        assert world.told("start", "--projection", "p2")[0] == 0, "the name is free again"
        world.await_state(2, "indexing", "catching_up", "verifying", "ready")  # and so is the turn


def test_of_two_at_once_one_waits_for_its_turn_whoever_runs_them(world: Rebuilding) -> None:
    hold = held_planning(world.database)
    with world.reconciler() as first, world.reconciler() as second:
        world.ready(second)
        world.ready(first)
        hold.__enter__()
        for _ in range(2):
            assert world.told("start", "--workers", "1")[0] == 0
        assert "its turn" in world.await_words(2, "its turn")["waiting"]
        watching = [world.command("watch", number, "--json") for number in ("1", "2")]
        time.sleep(2)
        assert [world.told("status", number)[1]["state"] for number in ("1", "2")] == ["planning", "planning"]
        hold.__exit__(None, None, None)
        found = [ended(one) for one in watching]
        assert [(code, told["state"], told["projection"]) for code, told in found] == [
            (0, "ready", "p2"),
            (0, "ready", "p3"),
        ]
    taken = [one["rebuild"] for service in (first, second) for one in service.events("rebuild_taken")]
    assert sorted(taken) == [1, 2], "each was taken once"


def test_one_that_is_not_what_serves_has_failed_and_names_the_verification(world: Rebuilding) -> None:
    world.execute("update p1.version set value_json = '\"forged\"' where ctid = (select min(ctid) from p1.version)")
    with world.reconciler() as reconciler:
        world.ready(reconciler)
        code, told = world.told("start", "--wait")
        assert (code, told["state"], told["failure"]["code"]) == (1, "failed", "rebuild_differs"), told
        assert "chronofact" in told["failure"]["remedy"]
        assert world.ask("select state from chronofact.projection where name = 'p2'") == "failed"
        assert world.ask("select count(*) from p2.fact") > 0, "it stays to be looked at"
        load_s = told["phases"]["load_s"]
        assert world.told("verify", "1", "--wait")[1]["failure"]["code"] == "rebuild_differs", "and still does"
        code, told = world.told("verify", "1", "--compare-with", "none", "--wait")
        assert (code, told["state"], told["compared_with"], told["failure"]) == (0, "ready", "none", None), told
        assert told["phases"]["load_s"] == load_s, "it was loaded once"
        code, told = world.told("verify", "1")
        assert (code, "chronofact verify" in told["complaint"]) == (1, True), told


@contextmanager
def held_publishing(database: str) -> Iterator[None]:
    """What people read by SQL can't be made anew, since somebody reads it."""
    with psycopg.connect(database) as connection:
        connection.execute("lock table chronofact.memory_current in access share mode")
        yield


@contextmanager
def held_before_ready(database: str) -> Iterator[None]:
    """Nothing becomes ready."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("select pg_advisory_lock(4, 7)")
        connection.execute(
            "create function chronofact.wait() returns trigger language plpgsql as"
            " 'begin perform pg_advisory_xact_lock(4, 7); return new; end'"
        )
        connection.execute(
            "create trigger waits before update on chronofact.rebuild for each row"
            " when (new.state = 'ready' and old.state <> 'ready') execute function chronofact.wait()"
        )
        yield
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("drop function chronofact.wait cascade")


def test_killed_in_its_last_steps_it_is_ready_all_the_same(world: Rebuilding) -> None:
    for rebuild, (name, held) in enumerate((("p2", held_publishing), ("p3", held_before_ready)), 1):
        state = f"select state from chronofact.rebuild where rebuild_id = {rebuild}"
        with world.reconciler() as first, held(world.database):
            rebuilds = f"http://127.0.0.1:{first.port}/v1/rebuilds"
            assert httpx.post(rebuilds, json={"workers": 1}, timeout=20).status_code == 202
            await_one(world, f"select state from chronofact.projection where name = '{name}'", "ready")
            assert world.ask(state) == "verifying"
            if held is held_publishing:  # too late, and harmless
                assert httpx.delete(f"{rebuilds}/{rebuild}", timeout=20).status_code == 202
            first.kill()
        with world.reconciler():
            await_one(world, state, "ready")
        assert f"FROM {name}." in world.ask("select pg_get_viewdef('chronofact.memory_current'::regclass)")
    assert world.ask("select count(*) from chronofact.verification") == 2, "none was verified again"
    assert world.ask("select array_agg(name || ' ' || state order by name) from chronofact.projection") == [
        "p1 live",
        "p2 ready",
        "p3 ready",
    ]


def await_one(world: Rebuilding, statement: str, wanted: str) -> None:
    """Until Postgres answers so."""
    deadline = time.monotonic() + WAIT_S
    while world.ask(statement) != wanted:
        assert time.monotonic() < deadline
        time.sleep(0.05)
