"""Locks of processes that give signs of life: one that stands still loses its own to whoever wants them next (ADR 26)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import Connection

from chronofact.contracts.standstill import STILL_S, TOLD_S, Ended, Standstill, nobody_is_told
from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script

SIGN_S: Final = 1.0
"""So often a holder's connection asks for nothing. Postgres keeps when it last did, and whether it computes meanwhile."""
LOOK_AGAIN_S: Final = 2.5
"""Nobody is ended at the first look: after Postgres, a network or a clock made a leap all seem to have stood still."""
IDLE_IN_SNAPSHOT_MS: Final = 15 * 60_000
"""What keeps vacuum from its work asks for nothing for so long at most: its process stands still, and Postgres ends it."""
_JOIN_S: Final = 1.0


class Lock(NamedTuple):
    """What one session holds at a time."""

    of: str
    """In words."""
    lock_class: int
    key: str


@contextmanager
def alive(connection: Connection[Any]) -> Iterator[None]:
    """Signs of life while the block runs, however long it asks nothing; it may use the connection as if alone."""
    over = threading.Event()
    giving = threading.Thread(target=_give_signs, args=(connection, over), name="signs", daemon=True)
    giving.start()
    try:
        yield
    finally:
        over.set()
        giving.join(_JOIN_S)


@contextmanager
def snapshot(conninfo: str, name: str, **settings: str | int) -> Iterator[Connection[Any]]:
    """A connection in one snapshot, read only, for as long as this process gives signs of life; errors are named."""
    bounds: dict[str, str | int] = {"idle_in_transaction_session_timeout": IDLE_IN_SNAPSHOT_MS}
    with failures_named(), connect(conninfo, name, autocommit=False, **settings, **bounds) as connection:
        connection.execute("set transaction isolation level repeatable read, read only")
        with alive(connection):
            yield connection


@contextmanager
def held(
    connection: Connection[Any], lock: Lock, *, still_s: float = STILL_S, ended: Ended = nobody_is_told
) -> Iterator[bool]:
    """Whether the lock is ours while the block runs; who has it and stands still is ended for that.

    Whoever holds it keeps its connection ``alive``.
    """
    is_ours = _tried(connection, lock) or (_end_still(connection, lock, still_s, ended) and _tried(connection, lock))
    try:
        yield is_ours
    finally:
        # the end of the connection would do it too, but a moment after it was closed here
        if is_ours and not connection.closed and not connection.broken:
            connection.execute("select pg_advisory_unlock(%s, hashtext(%s))", lock[1:])


def standing_still(
    connection: Connection[Any], lock_class: int, keys: Sequence[str], *, told_s: float = TOLD_S
) -> Mapping[str, Standstill]:
    """Which of these locks are held by somebody who gives no sign any more."""
    found = _stills(connection, lock_class, keys, still_s=told_s, is_to_end=False)
    return {key: Standstill(since, seconds) for key, since, seconds, _ in found}


def _tried(connection: Connection[Any], lock: Lock) -> bool:
    found = connection.execute("select pg_try_advisory_lock(%s, hashtext(%s))", lock[1:]).fetchone()
    return found is not None and bool(found[0])


def _end_still(connection: Connection[Any], lock: Lock, still_s: float, ended: Ended) -> bool:
    if not _stills(connection, lock.lock_class, [lock.key], still_s=still_s, is_to_end=False):
        return False
    time.sleep(LOOK_AGAIN_S)
    found = _stills(connection, lock.lock_class, [lock.key], still_s=still_s, is_to_end=True)
    for _, since, seconds, _ in found:
        ended(lock.of, Standstill(since, seconds))
    return bool(found)


def _stills(
    connection: Connection[Any], lock_class: int, keys: Sequence[str], *, still_s: float, is_to_end: bool
) -> list[tuple[Any, ...]]:
    parameters = {"lock_class": lock_class, "keys": list(keys), "still_s": still_s, "is_to_end": is_to_end}
    return connection.execute(script("holding", "stills").filled(connection), parameters).fetchall()


def _give_signs(connection: Connection[Any], over: threading.Event) -> None:
    while not over.wait(SIGN_S):
        try:
            connection.execute("select")
        except psycopg.Error:
            if connection.closed:
                return  # whoever works with it will be told
