"""Counts verifications and routes."""

from __future__ import annotations

from typing import Any

from chronofact.contracts.outcomes import Outcomes
from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script


class OutcomeCounts:
    """Those of one database; every call has a connection of its own."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def count(self) -> Outcomes:
        """As they stand now.

        Raises:
            Transient, Unfit: Postgres is away, or is not migrated.
        """
        with failures_named(), connect(self._conninfo, "outcomes", autocommit=True) as connection:

            def lines(*path: str) -> list[tuple[Any, ...]]:
                return connection.execute(script(*path).filled(connection)).fetchall()

            return Outcomes(
                dict(lines("verify", "counts")),
                [(left, right, found) for left, right, found in lines("verify", "last")],
                [(projection, tenants, others) for projection, tenants, others in lines("routing", "counts")],
                dict(lines("routing", "change_counts")),
            )
