"""Sessions of a rebuild that outlive what they were opened for: of a worker that was killed, or that stands still."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from chronofact.contracts.rebuilding import Rebuild, RebuildWanted
from chronofact.kafka.admin import create_topics
from chronofact.postgres.load_store import Loaded
from chronofact.postgres.load_work import LOCK_CLASS, LoadWork
from chronofact.postgres.rebuild_hold import RebuildHold
from chronofact.postgres.rebuild_store import RebuildStore
from chronofact.postgres.session import connect
from chronofact.reconciler.rebuild_http import waiting
from chronofact.reconciler.rebuilding.load import load, plan
from chronofact.reconciler.rebuilding.processes import WorkerProcess
from chronofact.reconciler.standstill import Standstills
from chronofact.runtime.config import Settings
from chronofact.runtime.metrics import Metrics
from tests.bench.workload import mixed
from tests.integration.faults.services import stop_process, wake
from tests.integration.nasty import POISON
from tests.integration.projecting import WAIT_S, append
from tests.integration.rebuild_world import ReconcilerProcess
from tests.integration.rebuilding import loaded, prepare_only, settings_for, taken, worker_pids
from tests.integration.saying import Fact, Said

ADA = Fact("ada")
EVENTS = 200
STILL_S = 7.0


@pytest.fixture
def settings(kafka: str, topic_name: str, database: str) -> Settings:
    """Of a topic in which one message parks."""
    create_topics(kafka, topic_name)
    append(kafka, topic_name, [*mixed(20, EVENTS), Said(ADA.partition, ADA.fact_id, POISON, b"", None)])
    return settings_for(kafka, topic_name, database, parked_share_max=1.0, parked_row_max=1_000)


@contextmanager
def loading(settings: Settings, rebuild: Rebuild, standstills: Standstills | None = None) -> Iterator[Future[Loaded]]:
    """A load at work while the block runs."""
    stopping = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        try:
            said: dict[str, Any] = {"report": lambda _parts: None, "stopping": stopping, "standstills": standstills}
            yield pool.submit(load, settings, rebuild, **said)
        finally:
            stopping.set()


def await_so(connection: psycopg.Connection[Any], statement: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while connection.execute(statement.encode()).fetchone() != (True,):
        assert time.monotonic() < deadline, statement
        time.sleep(0.05)


def test_messages_set_aside_are_waited_for_while_another_has_them(settings: Settings, database: str) -> None:
    with taken(database, workers=1) as rebuild, psycopg.connect(database, autocommit=True) as dying:
        planned = plan(settings, rebuild)
        prepare_only(settings, planned)
        lock = (LOCK_CLASS, f"{rebuild.rebuild_id} aside {ADA.partition}")
        dying.execute("select pg_advisory_lock(%s, hashtext(%s))", lock)
        with loading(settings, planned) as load_of_it:
            await_so(dying, "select every(state = 'indexed') from chronofact.rebuild_part")
            time.sleep(0.5)
            assert not load_of_it.done()
            dying.close()
            assert load_of_it.result(WAIT_S).parked == 1


@contextmanager
def standing_within_a_bucket(database: str, rebuild: Rebuild) -> Iterator[None]:
    """A worker's session as it is while the worker is stopped: no timeout of Postgres ends a COPY that waits for more."""
    work = LoadWork(database, rebuild.rebuild_id, epoch=rebuild.epoch, worker=1, projection=rebuild.projection)
    claim = work.claim()
    assert claim is not None
    connection = work.connection()
    connection.execute("begin")
    assert work.execute("fence_part", partition=claim.partition) is not None
    connection.pgconn.send_query(b"copy chronofact.rebuild_aside from stdin")
    connection.pgconn.flush()
    try:
        yield
    finally:
        work.close()


def test_a_worker_that_stands_still_within_a_bucket_is_ended_by_the_next_runner(
    settings: Settings, database: str
) -> None:
    with taken(database, workers=1) as rebuild:
        planned = plan(settings, rebuild)
        prepare_only(settings, planned)
    with (
        standing_within_a_bucket(database, planned),
        taken(database, rebuild.rebuild_id) as again,
        loading(settings, plan(settings, again)) as load_of_it,
    ):
        assert load_of_it.result(WAIT_S).events == EVENTS


def test_a_worker_that_really_stands_still_is_told_of_killed_and_its_part_begun_again(
    settings: Settings, database: str
) -> None:
    settings = settings.model_copy(update={"rebuild_still_s": STILL_S})
    metrics = Metrics("reconciler")
    with psycopg.connect(database, autocommit=True) as look, taken(database, workers=1) as rebuild:
        planned = plan(settings, rebuild)
        prepare_only(settings, planned)
        with loading(settings, planned, Standstills(metrics)) as load_of_it:
            with look.transaction():
                look.execute("lock table p2.event in share mode")
                await_so(
                    look, "select exists (select from pg_locks where relation = 'p2.event'::regclass and not granted)"
                )
                (stopped,) = worker_pids()
                os.kill(stopped, signal.SIGSTOP)  # in the middle of a bucket, and of a COPY
            told = "select waiting like 'worker 1 stands still since %' from chronofact.rebuild"
            await_so(look, told)
            assert load_of_it.result(WAIT_S).events == EVENTS
            assert stopped not in worker_pids()
        await_so(look, "select waiting is null from chronofact.rebuild")
        assert look.execute("select count(*)::int from p2.event").fetchone() == (EVENTS,)
    assert metrics.registry.get_sample_value("chronofact_standstills_ended_total", {"of": "worker"}) == 1


def test_a_worker_that_only_computes_is_not_silent_until_it_is_stopped() -> None:
    line = [sys.executable, "-c", "while True: pass"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        worker = WorkerProcess(process, time.monotonic)
        try:
            computing = listened(worker, for_s=4.0)
            os.kill(process.pid, signal.SIGSTOP)
            stopped = listened(worker, for_s=2.0)
        finally:
            worker.end()
    assert computing < 2.0
    assert stopped > 1.0


def listened(worker: WorkerProcess, *, for_s: float) -> float:
    """For how long it was silent at the end."""
    until = time.monotonic() + for_s
    while time.monotonic() < until:
        worker.listen()
        time.sleep(0.1)
    return worker.silence.seconds


def test_a_reconciler_that_really_stands_still_loses_its_rebuild_and_changes_nothing_when_it_wakes(
    settings: Settings, kafka: str, database: str
) -> None:
    store = RebuildStore(database, still_s=STILL_S)
    rebuild_id = store.begin(RebuildWanted(workers=1), workers=1).rebuild.rebuild_id
    with (
        ReconcilerProcess(kafka, settings.facts_topic, database, check_daily_at="", parked_share_max=1.0) as first,
        psycopg.connect(database, autocommit=True) as look,
    ):
        await_so(look, "select to_regclass('p2.event') is not null")
        with look.transaction():
            look.execute("lock table p2.event in share mode")
            await_so(look, "select exists (select from pg_locks where relation = 'p2.event'::regclass and not granted)")
            stop_process(first)
        with once_free(store, rebuild_id) as hold:
            assert loaded(settings, hold.rebuild).events == EVENTS
            before = line_of(look)
            wake(first)
            assert first.await_event("rebuild_lost")["rebuild"] == rebuild_id
            assert line_of(look) == before
            assert look.execute("select count(*)::int from p2.event").fetchone() == (EVENTS,)


@contextmanager
def once_free(store: RebuildStore, rebuild_id: int) -> Iterator[RebuildHold]:
    """The rebuild, taken from a reconciler that stands still, which is told first."""
    deadline, said = time.monotonic() + WAIT_S, list[str]()
    while True:
        found = store.rebuild(rebuild_id)
        assert found is not None
        said += [waiting(found[0]) or ""] if found[0].still else []
        with store.take(rebuild_id) as hold:
            if hold is not None:
                assert "its reconciler stands still since" in said[0]
                yield hold
                return
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_runner_of_a_database_that_was_lost_is_none_of_the_next_ones(database: str) -> None:
    store = RebuildStore(database)
    rebuild_id = store.begin(RebuildWanted(workers=1), workers=1).rebuild.rebuild_id
    epochs = []
    for _ in range(2):
        with store.take(rebuild_id) as hold, psycopg.connect(database, autocommit=True) as connection:
            assert hold is not None
            epochs.append(hold.rebuild.epoch)
            connection.execute("update chronofact.rebuild set epoch = 0")
        time.sleep(1)
    # by its number and its projection it could be the same: each worker's statements name the epoch as well
    assert time.time() - 60 < epochs[0] < epochs[1]


def test_a_reconciler_that_gives_signs_of_life_and_does_nothing_is_told_of(database: str) -> None:
    store = RebuildStore(database)
    rebuild_id = store.begin(RebuildWanted(workers=1), workers=1).rebuild.rebuild_id
    (turn,) = store.rebuilds()
    assert (turn.idle, "its turn" in (waiting(turn) or "")) == (None, True)
    with store.take(rebuild_id) as hold, psycopg.connect(database, autocommit=True) as connection:
        assert hold is not None
        connection.execute("update chronofact.rebuild set heartbeat_at = heartbeat_at - interval '2 minutes'")
        (idle,) = store.rebuilds()
        assert idle.still is None
        assert idle.idle is not None
        assert 120 <= idle.idle.seconds < 180
        assert "nobody has done anything for it since" in (waiting(idle) or "")
        hold.beat()
        assert store.rebuilds()[0].idle is None


def line_of(connection: psycopg.Connection[Any]) -> tuple[Any, ...]:
    """All that is kept of the rebuild."""
    found = connection.execute(
        "select r::text, (select array_agg(p::text order by p.partition) from chronofact.rebuild_part as p)"
        " from chronofact.rebuild as r"
    ).fetchone()
    return tuple(found or ())


def test_the_server_misses_a_machine_that_is_gone_within_seconds(database: str) -> None:
    with connect(database, "test") as connection:
        found = connection.execute(
            "select name, setting::int from pg_settings where name like 'tcp_keepalives%' order by name"
        ).fetchall()
    assert found == [("tcp_keepalives_count", 3), ("tcp_keepalives_idle", 5), ("tcp_keepalives_interval", 2)]
