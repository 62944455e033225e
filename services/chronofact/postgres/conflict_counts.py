"""How many conflicts are open, by tenant, in the projections that tenants read."""

from __future__ import annotations

from typing import Final

from psycopg import sql

from chronofact.contracts.conflict_counts import TenantConflicts
from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script

STATEMENT_TIMEOUT_MS: Final = 60_000
_ROUTED: Final = "select distinct r.projection from chronofact.tenant_route as r order by r.projection"


class ConflictCounts:
    """Counts anew with every call."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    def count(self) -> list[TenantConflicts]:
        """Every tenant that has some.

        Raises:
            Transient, Unfit: Postgres is away, or not migrated.
        """
        found: list[TenantConflicts] = []
        with (
            failures_named(),
            connect(self._conninfo, "conflicts", autocommit=True, statement_timeout=STATEMENT_TIMEOUT_MS) as connection,
        ):
            for (projection,) in connection.execute(_ROUTED).fetchall():
                statement = script("reconciler", "open_conflicts").filled(
                    connection, schema=projection, projection=sql.Literal(projection)
                )
                found += [TenantConflicts(str(line[0]), *line[1:]) for line in connection.execute(statement)]
        return found
