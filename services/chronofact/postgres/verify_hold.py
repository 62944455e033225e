"""Holds a fed projection at a cut; a hold that nobody renews is over by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script


class Holds:
    """Of one database; every call has a connection of its own."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def hold(self, projection: str, stop_at: Mapping[int, int], *, for_s: float) -> None:
        """From now on, for so long unless said again, no message at or behind these offsets is applied.

        Of a partition that is not named, no message at all.
        """
        wanted = {
            "projection": projection,
            "partitions": list(stop_at),
            "stop_at": list(stop_at.values()),
            "for_s": for_s,
        }
        self._execute("hold", wanted)

    def let_go(self, projection: str) -> None:
        """It may go on."""
        self._execute("let_go", {"projection": projection})

    def _execute(self, name: str, parameters: Mapping[str, Any]) -> None:
        with failures_named(), connect(self._conninfo, "verify", autocommit=True) as connection:
            connection.execute(script("verify", name).filled(connection), parameters)
