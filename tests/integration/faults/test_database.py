"""Postgres stopped at once, restored from an older copy, and without room on its disk, under load."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from chronofact.embedded.postgres import PostgresServer
from chronofact.kafka.admin import create_topics
from chronofact.postgres.migrate import migrate
from chronofact.runtime.lifecycle import CUT_SHORT
from tests.integration.faults.servers import Server, address_of, fill, may_mount, postgres_in, small_disk
from tests.integration.faults.services import site
from tests.integration.projecting import await_offsets
from tests.integration.rebuild_world import ReconcilerProcess

DISK_MB = 160


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


@pytest.fixture
def server(stack_folder: Path) -> Iterator[Server]:
    """A migrated Postgres of the test's own."""
    made = postgres_in(stack_folder / "own")
    made.start()
    try:
        migrate(address_of(made))
        yield made
    finally:
        made.stop()


def copy_of(server: Server, folder: Path) -> Path:
    """The data folder as it is on disk now, as a cold backup takes it."""
    assert isinstance(server.node, PostgresServer)
    target = folder / "copy"
    shutil.copytree(server.node.data, target)
    for path in (target, *target.rglob("*")):
        given = server.node.data / path.relative_to(target)
        os.chown(path, given.stat().st_uid, given.stat().st_gid)
        path.chmod(given.stat().st_mode)
    return target


def restore(server: Server, copy: Path) -> None:
    """Replace the data of a stopped server by the copy."""
    assert isinstance(server.node, PostgresServer)
    shutil.rmtree(server.node.data)
    copy.rename(server.node.data)


def test_an_immediate_stop_and_an_older_copy_are_caught_up_with(
    kafka: str, topic: str, server: Server, stack_folder: Path
) -> None:
    database = address_of(server)
    with site(kafka, topic, database) as here, here.projector() as projector, here.reader() as reader:
        here.load.await_more(200)
        await_offsets(database, 200)
        server.stop_immediately()
        projector.await_readyz("postgres_away")
        reader.await_readyz("postgres_away")
        here.load.await_more(200)
        copy = copy_of(server, stack_folder)
        server.start()
        projector.await_readyz()
        reader.await_readyz()
        here.load.await_more(400)
        await_offsets(database, 600)
        server.stop_immediately()
        projector.await_readyz("postgres_away")
        restore(server, copy)
        server.start()
        with psycopg.connect(database) as connection:
            found = connection.execute("select sum(next_offset) from chronofact.checkpoint").fetchone()
        assert found is not None
        assert found[0] < 600
        projector.await_readyz()
        here.load.await_more(200)
        here.assert_agreed()
        reader.await_readyz()


def move_to(disk: Path, server: Server, part: str) -> None:
    """Have a part of the data folder lie on another disk."""
    assert isinstance(server.node, PostgresServer)
    here = server.node.data / part
    owner = here.stat()
    shutil.copytree(here, disk / part)
    for path in (disk / part, *(disk / part).rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    (disk / part).chmod(0o700)
    shutil.rmtree(here)
    here.symlink_to(disk / part)


def use_up_log(database: str) -> None:
    """Begin new segments of the write-ahead log until there is no room for one."""
    with contextlib.suppress(psycopg.OperationalError), psycopg.connect(database, autocommit=True) as connection:
        for _ in range(200):
            connection.execute("select pg_current_xact_id()")
            connection.execute("select pg_switch_wal()")


@pytest.mark.skipif(not may_mount(), reason="a small disk can't be mounted here")
@pytest.mark.parametrize(
    ("part", "code"), [("base", "postgres_resources"), pytest.param("pg_wal", "postgres_away", marks=pytest.mark.soak)]
)
def test_a_full_disk_is_waited_for(kafka: str, topic: str, stack_folder: Path, part: str, code: str) -> None:
    """The disk of the tables, or of the write-ahead log, has no byte left (ENOSPC), and then some again."""
    server = postgres_in(stack_folder / "own")
    server.start()
    database = address_of(server)
    try:
        migrate(database)
        server.stop()
        with small_disk(DISK_MB) as disk:
            move_to(disk, server, part)
            server.start()
            with site(kafka, topic, database) as here, here.projector() as projector:
                here.load.await_more(200)
                await_offsets(database, 200)
                ballast = fill(disk)
                if part == "pg_wal":
                    use_up_log(database)
                projector.await_readyz(code)
                here.load.await_more(200)
                ballast.unlink()
                if part == "pg_wal":
                    # it gave up in the middle of its recovery; whoever keeps it starts it again
                    server.stop()
                    server.start()
                projector.await_readyz()
                here.assert_agreed()
            server.stop()
    finally:
        server.stop()


@pytest.mark.soak
def test_a_postgres_that_stands_still_is_told_though_no_connection_breaks(
    kafka: str, topic: str, server: Server
) -> None:
    """Its kernel answers for it, so neither keep-alives nor its own timeouts tell."""
    database = address_of(server)
    brief = {"drain_timeout_s": 2, "delivery_timeout_s": 1}
    with (
        site(kafka, topic, database) as here,
        here.projector() as projector,
        here.reader() as reader,
        ReconcilerProcess(kafka, topic, database, check_daily_at="", **brief) as reconciler,
    ):
        here.load.await_more(100)
        await_offsets(database, 100)
        reader.await_readyz()
        reconciler.await_readyz()
        still = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
        for process in still:
            process.suspend()
        try:
            asked = httpx.get(
                f"http://127.0.0.1:{reader.port}/v1/resolve",
                params={"subject": "load-1-0-1", "key": "package_manager"},
                timeout=40,
            )
            assert (asked.status_code, asked.json()["error"]["code"]) == (503, "postgres_away")
            reader.await_readyz("postgres_away")
            projector.await_readyz("stalled")
            assert reconciler.stop() == CUT_SHORT, "it leaves within its time"
        finally:
            for process in still:
                process.resume()
        projector.await_readyz()
        reader.await_readyz()
        here.assert_agreed()
