"""Which projections are to be fed just now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from psycopg import Connection

from chronofact.postgres import silence
from chronofact.postgres.errors import failures_named
from chronofact.postgres.projections import SERVING
from chronofact.postgres.session import connect

TO_FEED: Final = ("catching_up", "verifying", *SERVING)
"""States from the end of a bulk load to the end of the rollback window."""
STATEMENT_TIMEOUT_MS: Final = 5_000


class Roster:
    """The list of projections in the database, over a connection of its own."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: Connection[Any] | None = None

    def to_feed(self) -> Mapping[str, bool]:
        """By name, and whether tenants may read it.

        Raises:
            Transient, Unfit: Postgres is away or not migrated.
        """
        with failures_named():
            try:
                found = self._open().execute(
                    "select name, state = any(%s) from chronofact.projection where state = any(%s) order by name",
                    (list(SERVING), list(TO_FEED)),
                )
                return dict(found.fetchall())
            except BaseException:
                self.close()
                raise

    def cut(self) -> None:
        """End a wait for it, from another thread: a server that stands still does not look at its own clock."""
        if (connection := self._connection) is not None:
            silence.cut(connection)

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(
                self._conninfo, "roster", autocommit=True, statement_timeout=STATEMENT_TIMEOUT_MS
            )
        return self._connection
