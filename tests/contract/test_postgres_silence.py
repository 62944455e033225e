"""A statement that outlasts our own clock is ended at the socket, and the pool goes on with another connection."""

from __future__ import annotations

import threading
import time

import pytest

from chronofact.postgres.check_run import SETTINGS
from chronofact.postgres.errors import failures_named
from chronofact.postgres.feeding import STATEMENT_TIMEOUT_MS, Roster
from chronofact.postgres.session import connect, reading_pool
from chronofact.postgres.silence import answering, cut
from chronofact.runtime.failures import Transient


async def as_it_is(_connection: object) -> None:
    pass


async def test_an_answer_that_does_not_come_is_given_up(database: str) -> None:
    pool = reading_pool(database, "test", connections_max=1, statement_timeout_ms=60_000, configure=as_it_is)
    async with pool:
        began = time.monotonic()
        with pytest.raises(Transient) as away, failures_named():
            async with answering(pool, limit_s=0.2) as connection:
                await connection.execute("select pg_sleep(30)")
        assert away.value.code == "postgres_away"
        assert time.monotonic() - began < 5
        async with answering(pool, limit_s=20) as connection:
            found = await (await connection.execute("select 1")).fetchone()
        assert found == (1,)


def test_a_wait_of_another_thread_is_cut(database: str) -> None:
    connection = connect(database, "test", autocommit=True)
    threading.Timer(0.2, cut, [connection]).start()
    with pytest.raises(Transient) as away, failures_named():
        connection.execute("select pg_sleep(30)")
    assert away.value.code == "postgres_away"
    cut(connection)
    connection.close()


def test_a_wait_for_the_roster_is_cut(database: str) -> None:
    roster = Roster(database)
    assert roster.to_feed() == {"p1": True}
    with connect(database, "test") as other:
        other.execute("lock table chronofact.projection in access exclusive mode")
        threading.Timer(0.2, roster.cut).start()
        began = time.monotonic()
        with pytest.raises(Transient) as away:
            roster.to_feed()
        assert away.value.code == "postgres_away"
        assert time.monotonic() - began < STATEMENT_TIMEOUT_MS / 1_000
    assert roster.to_feed() == {"p1": True}
    roster.close()
    roster.cut()


def test_a_check_ends_with_its_client(database: str) -> None:
    """A server at work hears of a client's death only where it looks for it."""
    connection = connect(database, "test", autocommit=True, **SETTINGS)
    backend = connection.info.backend_pid
    connection.pgconn.send_query(b"select count(*) from generate_series(1, 1000000000000)")
    connection.pgconn.flush()
    time.sleep(0.2)
    cut(connection)
    with connect(database, "test", autocommit=True) as other:
        deadline = time.monotonic() + 10
        while other.execute("select from pg_stat_activity where pid = %s", (backend,)).fetchone():
            assert time.monotonic() < deadline
            time.sleep(0.1)
    connection.close()
