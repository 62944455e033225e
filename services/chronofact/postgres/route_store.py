"""Routes as Postgres keeps them: each change in one transaction with what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

from chronofact.contracts.routing import Beside, Known, Line, Move, Route, RouteChange, RouteWanted, Undoable
from chronofact.postgres.errors import failures_named
from chronofact.postgres.projections import PUBLISH_LOCK_TIMEOUT_MS, publish_within
from chronofact.postgres.session import connect
from chronofact.postgres.template import script

LOCK_TIMEOUT_MS: Final = 2_000
"""How long another change of routes may take."""
STATEMENT_TIMEOUT_MS: Final = 20_000


class RouteChanging:
    """One change of routes within one transaction; no other runs at the same time."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def projections(self) -> Mapping[str, Known]:
        """All of them by name, locked from now on."""
        return {one.name: one for one in self._typed("lock", Known, {})}

    def lines(self, tenant_ids: Sequence[UUID]) -> list[Line]:
        """Where these tenants' reads go; nowhere without a line for all others."""
        return [Line._make(one) for one in self._all("lines_of", {"tenant_ids": list(tenant_ids)}) if one[1]]

    def lines_of_default(self) -> list[Line]:
        """The line for all others, and the tenants' lines that name the same projection."""
        return [Line._make(one) for one in self._all("lines_of_default", {})]

    def elsewhere(self, to_projection: str) -> Mapping[str, int]:
        """Tenants with a line of their own that names neither it nor the projection of all others."""
        return dict(self._all("elsewhere", {"to_projection": to_projection}))

    def undoable(self, lines: Sequence[Line]) -> Mapping[UUID | None, Undoable]:
        """Of each line the newest switch that is not taken back."""
        found = self._all("undoable", {"tenant_ids": [one.tenant_id for one in lines]})
        return {tenant_id: Undoable._make(rest) for tenant_id, *rest in found}

    def beside(self, to_projection: str, from_projection: str) -> Beside:
        """What is known of a projection beside another."""
        named = {"to_projection": to_projection, "from_projection": from_projection}
        found: list[Beside] = self._typed("standing", Beside, named)
        return found[0]

    def went_there(self, to_projection: str, tenant_ids: Sequence[UUID | None]) -> bool:
        """Whether these tenants may go there as to what was read before: no doubt was forced aside for others alone."""
        named = {"to_projection": to_projection, "tenant_ids": list(tenant_ids)}
        return bool(self._all("went_there", named)[0][0])

    def change(self, wanted: RouteWanted, moves: Sequence[Move], overridden: Sequence[str]) -> None:
        """Writes lines and what is kept of each; projections become live, or know that they were left."""
        named: dict[str, Any] = {
            "tenant_ids": [one.tenant_id for one in moves],
            "from_projections": [one.from_projection for one in moves],
            "to_projections": [one.to_projection for one in moves],
            "undoes": [one.undoes for one in moves],
            "kind": wanted.kind.value,
            "is_forced": wanted.is_forced and bool(overridden),
            "overridden": list(overridden),
            "reason": wanted.reason,
            "changed_by": wanted.changed_by,
        }
        self._run("change", named)
        self._run("routed", {"projections": sorted({one for move in moves for one in move[1:3]})})

    def publish(self, projections: Sequence[str]) -> None:
        """Sees to it that what people read by SQL holds these."""
        for one in projections:
            ((is_published,),) = self._all("is_published", {"view": f"{one}.memory_current"})
            if not is_published:
                self._connection.execute(f"set local lock_timeout = {PUBLISH_LOCK_TIMEOUT_MS}")
                publish_within(self._connection)
                return

    def _run(self, name: str, named: Mapping[str, Any]) -> None:
        self._connection.execute(script("routing", name).filled(self._connection), named)

    def _all(self, name: str, named: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(script("routing", name).filled(self._connection), named).fetchall()

    def _typed(self, name: str, kind: type[Any], named: Mapping[str, Any]) -> list[Any]:
        with self._connection.cursor(row_factory=class_row(kind)) as cursor:
            return cursor.execute(script("routing", name).filled(self._connection), named).fetchall()


class RouteStore:
    """The routes of one database; every call has a connection of its own."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo

    @contextmanager
    def changing(self) -> Iterator[RouteChanging]:
        """A change: kept when the block ends well, and as if it had never been otherwise.

        Raises:
            Transient: Postgres is away, or another change or the readers of a view took too long.
            Unfit: it is not migrated.
        """
        with failures_named(), self._connected(lock_timeout=LOCK_TIMEOUT_MS) as connection, connection.transaction():
            yield RouteChanging(connection)

    def goes_to(self, tenant_id: UUID) -> str | None:
        """The projection that a tenant's reads go to; None without any line for it."""
        with failures_named(), self._connected() as connection:
            found = connection.execute(script("routing", "lines_of").filled(connection), {"tenant_ids": [tenant_id]})
            lines = [Line._make(one) for one in found.fetchall()]
        return next((one.projection for one in lines if one.projection), None)

    def routes(self, *, after: UUID | None, limit: int) -> list[Route]:
        """A page, the line for all others first, then by tenant."""
        return self._typed("list", Route, {"after": after, "limit": limit})

    def changes(self, *, before: int | None, limit: int) -> list[RouteChange]:
        """Newest first."""
        return self._typed("changes", RouteChange, {"before": before, "limit": limit})

    def _typed(self, name: str, kind: type[Any], named: Mapping[str, Any]) -> list[Any]:
        with (
            failures_named(),
            self._connected() as connection,
            connection.cursor(row_factory=class_row(kind)) as cursor,
        ):
            return cursor.execute(script("routing", name).filled(connection), named).fetchall()

    def _connected(self, **settings: int) -> Connection[Any]:
        return connect(
            self._conninfo, "routes", autocommit=True, statement_timeout=STATEMENT_TIMEOUT_MS, jit="off", **settings
        )
