"""Sessions of a rebuild that outlive what they were opened for: of a worker that was killed, or that stands still."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from chronofact.contracts.rebuilding import Rebuild
from chronofact.kafka.admin import create_topics
from chronofact.postgres.load_store import Loaded
from chronofact.postgres.load_work import LOCK_CLASS, LoadWork
from chronofact.postgres.session import connect
from chronofact.reconciler.rebuilding.load import load, plan
from chronofact.runtime.config import Settings
from tests.bench.workload import mixed
from tests.integration.nasty import POISON
from tests.integration.projecting import WAIT_S, append
from tests.integration.rebuilding import prepare_only, settings_for, taken
from tests.integration.saying import Fact, Said

ADA = Fact("ada")
EVENTS = 200


@pytest.fixture
def settings(kafka: str, topic_name: str, database: str) -> Settings:
    """Of a topic in which one message parks."""
    create_topics(kafka, topic_name)
    append(kafka, topic_name, [*mixed(20, EVENTS), Said(ADA.partition, ADA.fact_id, POISON, b"", None)])
    return settings_for(kafka, topic_name, database, parked_share_max=1.0, parked_row_max=1_000)


@contextmanager
def loading(settings: Settings, rebuild: Rebuild) -> Iterator[Future[Loaded]]:
    """A load at work while the block runs."""
    stopping = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(load, settings, rebuild, report=lambda _parts: None, stopping=stopping)
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


def test_the_server_misses_a_machine_that_is_gone_within_seconds(database: str) -> None:
    with connect(database, "test") as connection:
        found = connection.execute(
            "select name, setting::int from pg_settings where name like 'tcp_keepalives%' order by name"
        ).fetchall()
    assert found == [("tcp_keepalives_count", 3), ("tcp_keepalives_idle", 5), ("tcp_keepalives_interval", 2)]
