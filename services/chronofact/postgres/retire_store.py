"""Lets a projection go that nobody reads any more: out of the views, fed no longer, and dropped if that is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from time import sleep
from typing import Any, Final, NamedTuple

from psycopg import Connection
from psycopg.rows import class_row

from chronofact.postgres.errors import failures_named
from chronofact.postgres.projections import PUBLISH_LOCK_TIMEOUT_MS, PUBLISH_TRIES, drop_projection, publish_within
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.runtime.failures import Transient

LOCK_TIMEOUT_MS: Final = 5_000
DROP_TRIES: Final = 5


class Retirable(NamedTuple):
    """A projection as far as it matters here."""

    name: str
    state: str
    left_at: datetime | None
    routes: int
    window_ends_at: datetime | None
    is_within_window: bool


class NotRetirable(Exception):
    """Something speaks against it; ``can_be_forced`` says whether a reason is enough."""

    def __init__(self, code: str, message: str, *, can_be_forced: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.can_be_forced = can_be_forced


class RetireStore:
    """The projections of one database."""

    def __init__(self, conninfo: str, *, window_s: float) -> None:
        self._conninfo = conninfo
        self._window_s = window_s

    def retire(self, projection: str, *, is_forced: bool = False, reason: str | None = None) -> Retirable:
        """Ends its feeding and takes it out of what people read; again changes nothing.

        Raises:
            NotRetirable: it is read, unfinished, unknown, or may still be rolled back to.
            Transient: readers held the views for too long, or Postgres is away.
        """
        for tries_left in reversed(range(PUBLISH_TRIES)):
            try:
                with self._changing() as connection:
                    connection.execute(script("routing", "lock").filled(connection))
                    found = self._look(connection, projection)
                    if found.state != "retired":
                        refuse(found, is_forced=is_forced)
                        connection.execute(
                            script("routing", "retire").filled(connection), {"projection": projection, "reason": reason}
                        )
                        connection.execute(f"set local lock_timeout = {PUBLISH_LOCK_TIMEOUT_MS}")
                        publish_within(connection)
                    return found
            except Transient as failure:
                if failure.code != "postgres_busy" or not tries_left:
                    raise
                sleep(PUBLISH_LOCK_TIMEOUT_MS / 1_000)
        raise AssertionError("the last try returns or raises")

    def drop(self, projection: str) -> None:
        """Removes a retired projection, tables and all.

        Raises:
            Transient: somebody still used its tables after several tries.
        """
        for tries_left in reversed(range(DROP_TRIES)):
            try:
                with failures_named(), self._connected() as connection:
                    drop_projection(connection, projection)
            except Transient as failure:
                if failure.code != "postgres_busy" or not tries_left:
                    raise
            else:
                return

    def _look(self, connection: Connection[Any], projection: str) -> Retirable:
        named = {"projection": projection, "window_s": self._window_s}
        with connection.cursor(row_factory=class_row(Retirable)) as cursor:
            found = cursor.execute(script("routing", "retirable").filled(connection), named).fetchone()
        if found is None:
            raise NotRetirable(
                "projection_unknown", f"there is no projection {projection}; `chronofact doctor` names all"
            )
        return found

    @contextmanager
    def _changing(self) -> Iterator[Connection[Any]]:
        with failures_named(), self._connected() as connection, connection.transaction():
            yield connection

    def _connected(self) -> Connection[Any]:
        return connect(self._conninfo, "retire", autocommit=True, lock_timeout=LOCK_TIMEOUT_MS)


def refuse(found: Retirable, *, is_forced: bool) -> None:
    """Says what speaks against it.

    Raises:
        NotRetirable: it is read, unfinished, or may still be rolled back to.
    """
    if found.routes:
        told = "the reads of all others or of a tenant go" if found.routes == 1 else f"{found.routes:,} routes go"
        remedy = "`chronofact switch --all --to PROJECTION` first; `chronofact routes` shows them"
        raise NotRetirable("retire_routed", f"{told} to {found.name}; {remedy}")
    if found.state in {"building", "catching_up", "verifying"}:
        raise NotRetirable("retire_unfinished", f"{found.name} is being rebuilt; `chronofact rebuild cancel` ends that")
    if found.is_within_window and not is_forced:
        told = f"{found.name} may be rolled back to until {found.window_ends_at:%Y-%m-%d %H:%M:%SZ}"
        raise NotRetirable("retire_window", told, can_be_forced=True)
