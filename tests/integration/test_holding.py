"""Locks whose holder really stands still: it is told of, loses them to whoever asks, and finds out when it wakes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from chronofact.contracts.checking import CheckWanted
from chronofact.contracts.rebuilding import RebuildWanted
from chronofact.contracts.standstill import Standstill
from chronofact.contracts.verification import Aspects, VerifyWanted
from chronofact.postgres import check_store, holding, rebuild_store, verification_store
from chronofact.postgres.check_store import CheckStore
from chronofact.postgres.holding import Lock, held, standing_still
from chronofact.postgres.projections import create_projection
from chronofact.postgres.rebuild_store import RebuildStore
from chronofact.postgres.session import connect
from chronofact.postgres.verification_store import VerificationStore

LOCK = Lock("something", 0x74657374, "one")
STILL_S = 2.0
HOLD = """
import sys, psycopg
from chronofact.postgres.holding import Lock, alive, held
with psycopg.connect(sys.argv[1], autocommit=True) as connection, held(connection, Lock(*eval(sys.argv[2]))) as is_ours:
    with alive(connection):
        print(is_ours, flush=True)
        if sys.argv[3] == "asks":
            connection.execute("select pg_sleep(60)")
        sys.stdin.read()
    try:
        connection.execute("create table chronofact.of_a_zombie ()")
    except psycopg.OperationalError:
        print("lost", flush=True)
"""

LOOK = """
import sys
from chronofact.postgres import holding
holding.IDLE_IN_SNAPSHOT_MS = 1_500
with holding.snapshot(sys.argv[1], "looks") as connection:
    print(connection.info.backend_pid, flush=True)
    if sys.argv[2] == "takes nothing":
        connection.pgconn.send_query(b"select repeat('x', 1000) from generate_series(1, 100000)")
    sys.stdin.read()
"""


@contextmanager
def holder(database: str, lock: Lock, does: str = "waits") -> Iterator[subprocess.Popen[str]]:
    """Another process that has the lock."""
    line = [sys.executable, "-c", HOLD, database, repr(tuple(lock)), does]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "True\n"
            yield process
        finally:
            process.kill()


def test_who_stands_still_loses_its_lock_to_the_next_and_finds_out(database: str) -> None:
    told = list[tuple[str, Standstill]]()
    with holder(database, LOCK) as process, connect(database, "test", autocommit=True) as mine:
        os.kill(process.pid, signal.SIGSTOP)
        with held(mine, LOCK, still_s=STILL_S) as is_ours:
            assert not is_ours, "it may only be slow"
        time.sleep(STILL_S + holding.SIGN_S)
        (still,) = standing_still(mine, LOCK.lock_class, ["two", LOCK.key], told_s=STILL_S).items()
        with held(mine, LOCK, still_s=STILL_S, ended=lambda what, stood: told.append((what, stood))) as is_ours:
            assert is_ours
            os.kill(process.pid, signal.SIGCONT)
            assert process.communicate("", timeout=10)[0] == "lost\n"
            assert mine.execute("select to_regclass('chronofact.of_a_zombie')").fetchone() == (None,)
    assert [(what, stood.since) for what, stood in told] == [("something", still[1].since)]
    assert still[0] == LOCK.key
    assert STILL_S < still[1].seconds < STILL_S + 5


def test_who_gives_a_sign_while_it_is_looked_at_keeps_its_lock(database: str) -> None:
    """So it is with everybody once Postgres, a network, or the machine of both goes on after a while."""
    told = list[tuple[str, Standstill]]()
    with holder(database, LOCK) as process, connect(database, "test", autocommit=True) as mine:
        os.kill(process.pid, signal.SIGSTOP)
        time.sleep(STILL_S + holding.SIGN_S)
        going_on = threading.Timer(0.3, os.kill, (process.pid, signal.SIGCONT))
        going_on.start()
        with held(mine, LOCK, still_s=STILL_S, ended=lambda what, stood: told.append((what, stood))) as is_ours:
            assert not is_ours
        going_on.join()
        assert process.communicate("", timeout=10)[0] == ""
    assert told == []


@pytest.mark.parametrize("does", ["waits", "asks"])
def test_who_only_takes_long_keeps_its_lock(database: str, does: str) -> None:
    with holder(database, LOCK, does), connect(database, "test", autocommit=True) as mine:
        time.sleep(STILL_S + holding.SIGN_S)
        assert standing_still(mine, LOCK.lock_class, [LOCK.key], told_s=STILL_S) == {}
        with held(mine, LOCK, still_s=STILL_S) as is_ours:
            assert not is_ours


def check(database: str) -> AbstractContextManager[object]:
    return CheckStore(database).begin(CheckWanted("p1", seed=1))


def verification(database: str) -> AbstractContextManager[object]:
    return VerificationStore(database).begin(VerifyWanted("p1", "p2", Aspects.ALL))


def rebuild(database: str) -> AbstractContextManager[object]:
    store = RebuildStore(database)
    return store.take(store.begin(RebuildWanted(), workers=1).rebuild.rebuild_id)


@pytest.mark.parametrize(
    ("begin", "lock_class", "keys"),
    [
        (check, check_store.LOCK_CLASS, ["p1"]),
        (verification, verification_store.LOCK_CLASS, ["p1", "p2"]),
        (rebuild, rebuild_store.LOCK_CLASS, ["1", ""]),
    ],
    ids=["check", "verification", "rebuild"],
)
def test_who_holds_a_lock_for_long_gives_signs(
    database: str, begin: Callable[[str], AbstractContextManager[object]], lock_class: int, keys: list[str]
) -> None:
    with connect(database, "test", autocommit=True) as mine:
        create_projection(mine, "p2", rule=1)
        with begin(database):
            time.sleep(2 * holding.SIGN_S)
            assert standing_still(mine, lock_class, keys, told_s=0.0).keys() == {*keys}, "all are held"
            assert standing_still(mine, lock_class, keys, told_s=1.5 * holding.SIGN_S) == {}


@pytest.mark.parametrize("does", ["asks for nothing", "takes nothing"])
def test_a_snapshot_of_who_stands_still_is_ended_and_no_other(database: str, does: str) -> None:
    line = [sys.executable, "-c", LOOK, database, does]
    with (
        subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
        connect(database, "test", autocommit=True) as mine,
    ):
        assert process.stdout is not None
        backend = int(process.stdout.readline())

        def is_there() -> bool:
            return mine.execute("select from pg_stat_activity where pid = %s", (backend,)).rowcount == 1

        try:
            if does == "asks for nothing":
                time.sleep(3)
                assert is_there(), "it gives signs of life"
            os.kill(process.pid, signal.SIGSTOP)
            deadline = time.monotonic() + 15
            while is_there():
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            process.kill()
