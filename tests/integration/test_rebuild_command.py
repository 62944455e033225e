"""``chronofact rebuild`` over real servers: from start to ready, refused, cancelled, failed, and gone on with after kills."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.projecting import append, await_offsets
from tests.integration.rebuild_world import Rebuilding, ended

EVENTS = 3_000
SMALL = {"rebuild_bucket_bytes": 30_000, "rebuild_memory_bytes": 60_000}
"""Many small steps, so that a kill falls between two of them."""
PHASES = {"plan_s", "load_s", "index_s", "catch_up_s", "verify_s"}


WAY = ("planning", "building", "indexing", "catching_up", "verifying")


def lines_of(process: subprocess.Popen[str]) -> list[Any]:
    """How a command ended, and each of its lines as JSON."""
    out, _ = process.communicate(timeout=45)
    return [process.returncode, *map(json.loads, out.splitlines())]


@pytest.fixture
def world(kafka: str, topic_name: str, database: str) -> Iterator[Rebuilding]:
    """A topic with facts in it, and a projector that has applied them to p1."""
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(300, EVENTS))
    world = Rebuilding(kafka, topic_name, database)
    with world.projector("p1"):
        await_offsets(database, EVENTS)
        yield world


def test_from_start_to_ready(world: Rebuilding) -> None:
    with world.reconciler() as reconciler:
        world.ready(reconciler)
        waiting = world.command("start", "--wait", "--workers", "2", "--json")
        world.await_state(1, "catching_up")
        told = world.await_words(1, "no projector feeds p2")
        assert "chronofact projector" in told["waiting"]
        with world.projector("p2"):
            code, *steps, told = lines_of(waiting)
        assert code == 0, told
        states = [one["state"] for one in steps]
        assert {"catching_up", "ready"} & {*states} == {"catching_up"}
        assert [*dict.fromkeys(states)] == [one for one in WAY if one in states], "one after the other"
        assert (told["projection"], told["state"], told["compared_with"]) == ("p2", "ready", "p1")
        assert told["events"] == EVENTS
        assert set(told["phases"]) == PHASES
        assert told["seconds"] >= sum(told["phases"].values()) - 1
        assert world.ask("select state from chronofact.projection where name = 'p2'") == "ready"
        assert world.ask("select projection from chronofact.tenant_route where tenant_id is null") == "p1"
        assert world.ask("select identical from chronofact.verification order by verification_id desc limit 1")
        code, refused = world.told("cancel", told["rebuild"])
        assert (code, "rebuild_over" in refused["complaint"]) == (1, True)
        code, refused = world.told("start", "--projection", "p2")
        assert (code, "projection_exists" in refused["complaint"]) == (1, True)
        assert [one["state"] for one in world.told("list")[1]["rebuilds"]] == ["ready"]


def test_a_cancelled_one_leaves_nothing(world: Rebuilding) -> None:
    with world.reconciler() as reconciler:
        world.ready(reconciler)
        before = world.left("p2")
        assert world.told("start")[0] == 0
        code, refused = world.told("start", "--projection", "p2")
        assert (code, "rebuild_running" in refused["complaint"]) == (1, True)
        world.await_state(1, "catching_up")
        assert world.left("p2") != before
        watching = world.command("watch", "1", "--json")
        code, told = world.told("cancel", "1")
        assert (code, told["state"]) == (0, "cancelled")
        assert ended(watching)[0] == 1
        assert world.left("p2") == before
        assert world.told("start")[1]["projection"] == "p2"
        assert world.told("cancel", "2")[1]["state"] == "cancelled"
        assert world.told("status", "3")[0] == 1


def test_watching_it_is_not_having_it(world: Rebuilding) -> None:
    with world.reconciler() as reconciler:
        world.ready(reconciler)
        waiting = world.command("start", "--wait")
        world.await_state(1, "catching_up")
        waiting.send_signal(signal.SIGINT)
        _, complaint = waiting.communicate(timeout=20)
        assert waiting.returncode == 1
        assert "rebuild 1 goes on" in complaint
        assert world.told("status")[1]["state"] == "catching_up"
    code, told = world.told("status")
    assert (code, "can't be reached" in told["complaint"]) == (3, True)


def test_killed_while_it_loads_and_while_it_catches_up(world: Rebuilding) -> None:
    with world.reconciler(**SMALL) as first:
        world.ready(first)
        assert world.told("start", "--workers", "1")[0] == 0
        world.await_state(1, "building")
        first.kill()
    with world.reconciler(**SMALL) as second:
        world.ready(second)
        world.await_state(1, "catching_up")
        second.kill()
    with world.reconciler(**SMALL) as third, world.projector("p2"):
        world.ready(third)
        code, told = world.told("watch", "1")
        assert (code, told["state"], told["events"]) == (0, "ready", EVENTS)
        assert [len(one.events("rebuild_taken")) for one in (first, second, third)] == [1, 1, 1]


def test_another_fold_does_not_go_on(world: Rebuilding) -> None:
    with world.reconciler(**SMALL) as first:
        world.ready(first)
        assert world.told("start", "--workers", "1")[0] == 0
        world.await_state(1, "building")
        first.kill()
    world.execute("update chronofact.rebuild set fingerprint = 'another'")
    with world.reconciler(**SMALL) as second:
        world.ready(second)
        code, told = world.told("watch", "1")
        assert (code, told["state"], told["failure"]["code"]) == (1, "failed", "fold_changed")
        assert "cancel" in told["failure"]["remedy"]
        code, refused = world.told("start", "--projection", "p2")
        assert (code, "rebuild cancel 1" in refused["complaint"]) == (1, True)
        assert world.told("cancel", "1")[1]["state"] == "cancelled"
        assert world.left("p2") == {}


def test_a_lost_database(kafka: str, topic_name: str, empty_database: str) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(300, EVENTS))
    world = Rebuilding(kafka, topic_name, empty_database)
    with world.reconciler() as reconciler:
        world.port = reconciler.port
        waiting = world.command("start", "--wait", "--json")
        world.await_state(1, "catching_up")
        with world.projector():
            code, told = ended(waiting)
        assert (code, told["projection"], told["compared_with"]) == (0, "p1", None), told
        assert world.ask("select projection from chronofact.tenant_route where tenant_id is null") == "p1"
        assert world.ask("select state from chronofact.projection") == "live"
        assert world.ask("select divergences from chronofact.reconciliation_run order by run_id desc limit 1") == 0
        assert world.ask("select count(*) > 0 from chronofact.memory_current")


def test_by_another_rule_it_is_checked_and_then_compared_for_a_window(world: Rebuilding) -> None:
    with world.reconciler() as reconciler, world.projector("p2"):
        world.ready(reconciler)
        code, told = world.told("start", "--wait", "--rule", "2", "--shadow-window", "90s")
        assert (code, told["state"], told["rule"], told["compared_with"]) == (0, "ready", 2, "p1"), told
        assert world.ask("select divergences from chronofact.reconciliation_run order by run_id desc limit 1") == 0
        assert world.ask("select old_projection from chronofact.shadow where new_projection = 'p2'") == "p1"
