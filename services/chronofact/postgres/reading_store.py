"""The reader's side of the database: single answers, and snapshots that do not change while they are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from psycopg import AsyncConnection, sql

from chronofact.contracts.position import Position
from chronofact.contracts.reading import (
    Ask,
    Claim,
    Edge,
    EdgesWanted,
    EventLine,
    FactHead,
    FactsWanted,
    Found,
    ListedFact,
    Rectangle,
    Scopes,
    Side,
    Silence,
    Standing,
    VersionLine,
    WantedClaim,
)
from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import reading_pool
from chronofact.postgres.spelling import Instant, InstantArray, Int8Array, UuidArray, speak_plainly
from chronofact.postgres.template import Script, scripts
from chronofact.runtime.failures import Unfit

STATEMENT_TIMEOUT_MS: Final = 20_000
_POSITION_COLUMNS: Final = 5
_SLICE: Final = 1_000
"""Answers a statement, so that the event loop is not away for long."""


@dataclass(slots=True)
class _Statements:
    """The reader's statements for one projection, filled once."""

    scripts: Mapping[str, Script] = field(default_factory=lambda: {one.name: one for one in scripts("reader")})
    made: dict[tuple[str, str, tuple[str, ...]], sql.SQL] = field(default_factory=dict)

    def get(
        self, connection: AsyncConnection[Any], name: str, projection: str, filters: tuple[str, ...] = ()
    ) -> sql.SQL:
        """The statement; ``filters`` are further conditions of ours, never a caller's text."""
        key = (name, projection, filters)
        if key not in self.made:
            self.made[key] = self.scripts[name].filled(
                connection,
                schema=projection,
                projection=sql.Literal(projection),
                filters=sql.SQL(" ").join([sql.SQL(one) for one in filters]),
            )
        return self.made[key]


class ReadingStore:
    """Every projection that serves, read over a pool."""

    def __init__(self, conninfo: str, *, connections_max: int = 8) -> None:
        self._pool = reading_pool(
            conninfo,
            "reader",
            connections_max=connections_max,
            statement_timeout_ms=STATEMENT_TIMEOUT_MS,
            configure=_configure,
        )
        self._statements = _Statements()
        self._routes: dict[UUID, str] = {}

    async def open(self) -> None:
        """Starts the pool; it does not wait for Postgres."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        """Closes every connection."""
        await self._pool.close()

    async def answer(self, tenant_id: UUID, ask: Ask) -> tuple[Standing, Found]:
        """One answer with its position, in one statement."""
        parameters = {
            "tenant_id": tenant_id,
            "fact_id": UUID(bytes=ask.fact_id),
            "valid_at": Instant(ask.valid_at),
            "system_as_of": Instant.of(ask.system_as_of),
        }
        with failures_named():
            async with self._pool.connection() as connection:
                standing, row = await self._routed(connection, tenant_id, "resolve_one", parameters)
        return standing, Found(*row[_POSITION_COLUMNS:])

    async def standing(self, tenant_id: UUID) -> Standing:
        """How far the tenant's projection has come."""
        with failures_named():
            async with self._pool.connection() as connection:
                standing, _ = await self._routed(connection, tenant_id, "position", {"tenant_id": tenant_id})
        return standing

    @asynccontextmanager
    async def snapshot(self, tenant_id: UUID) -> AsyncIterator[PostgresSnapshot]:
        """The tenant's projection, unchanging while the block runs."""
        with failures_named():
            async with self._pool.connection() as connection:
                await connection.execute("begin isolation level repeatable read read only")
                try:
                    standing, _ = await self._routed(connection, tenant_id, "position", {"tenant_id": tenant_id})
                    yield PostgresSnapshot(connection, self._statements, standing)
                finally:
                    if not connection.closed:
                        await connection.execute("rollback")

    async def _routed(
        self, connection: AsyncConnection[Any], tenant_id: UUID, name: str, parameters: Mapping[str, Any]
    ) -> tuple[Standing, tuple[Any, ...]]:
        """A statement of the projection that the tenant is routed to; a remembered route is checked by what it reads."""
        projection = self._routes.get(tenant_id) or await self._route(connection, tenant_id)
        row = await _one(connection, self._statements.get(connection, name, projection), parameters)
        if row is None or not row[3]:
            projection = await self._route(connection, tenant_id)
            row = await _one(connection, self._statements.get(connection, name, projection), parameters)
        if row is None:
            raise _not_routed()
        return _standing(projection, row), row

    async def _route(self, connection: AsyncConnection[Any], tenant_id: UUID) -> str:
        statement = self._statements.get(connection, "route", "")
        row = await _one(connection, statement, {"tenant_id": tenant_id})
        if row is None:
            raise _not_routed()
        if len(self._routes) > 10_000:
            self._routes.clear()
        self._routes[tenant_id] = projection = str(row[0])
        return projection


class PostgresSnapshot:
    """One projection within one transaction."""

    def __init__(self, connection: AsyncConnection[Any], statements: _Statements, standing: Standing) -> None:
        self._connection = connection
        self._statements = statements
        self.standing = standing

    async def answers(self, asks: Sequence[Ask]) -> list[Found]:
        """In the order of the asks."""
        found: list[Found] = []
        for start in range(0, len(asks), _SLICE):
            part = asks[start : start + _SLICE]
            rows = await self._all(
                "resolve_many",
                fact_ids=UuidArray.of([ask.fact_id for ask in part]),
                valid_ats=InstantArray.of([ask.valid_at for ask in part]),
                system_as_ofs=InstantArray.of([ask.system_as_of for ask in part]),
            )
            found += [Found(*row) for row in rows]
        return found

    async def claims(self, wanted: Sequence[WantedClaim]) -> list[Claim]:
        """In no particular order."""
        rows = await self._all(
            "claims",
            ats=Int8Array.of([one.at for one in wanted]),
            fact_nos=Int8Array.of([one.fact_no for one in wanted]),
            version_nos=Int8Array.of([one.version_no for one in wanted]),
            system_as_ofs=InstantArray.of([one.system_as_of for one in wanted]),
        )
        return [Claim(*row) for row in rows]

    async def silences(self, asks: Sequence[tuple[int, int, int | None]]) -> list[Silence]:
        """For each fact number, ``valid_at`` and ``system_as_of``, in order."""
        rows = await self._all(
            "silences",
            fact_nos=Int8Array.of([ask[0] for ask in asks]),
            valid_ats=InstantArray.of([ask[1] for ask in asks]),
            system_as_ofs=InstantArray.of([ask[2] for ask in asks]),
        )
        return [Silence(*row) for row in rows]

    async def held(self, fact_ids: Sequence[bytes]) -> Mapping[str, int]:
        """How many messages of those facts are parked."""
        return dict(await self._all("held", fact_ids=UuidArray.of(fact_ids)))

    async def fact(self, tenant_id: UUID, fact_id: bytes) -> FactHead | None:
        """The tenant's fact of that id."""
        rows = await self._all("fact", tenant_id=tenant_id, fact_id=UUID(bytes=fact_id))
        return FactHead(*rows[0]) if rows else None

    async def facts(self, wanted: FactsWanted) -> list[ListedFact]:
        """A page by scope and key."""
        filters: list[str] = []
        parameters: dict[str, Any] = {
            "tenant_id": wanted.tenant_id,
            "subject_id": wanted.subject_id,
            "valid_at": Instant(wanted.valid_at),
            "system_as_of": Instant.of(wanted.system_as_of),
            "limit": wanted.limit,
        }
        parameters |= zip(("after_kind", "after_scope", "after_key"), wanted.after, strict=True)
        if wanted.scope is not None:
            filters.append("and one.scope_kind = %(scope_kind)s and one.scope_key = %(scope_key)s")
            parameters["scope_kind"], parameters["scope_key"] = wanted.scope
        if wanted.prefix is not None:
            filters.append("and starts_with(one.fact_key, %(prefix)s)")
            parameters["prefix"] = wanted.prefix
        _limit_scopes("one", wanted.scopes, filters, parameters)
        rows = await self._all("facts", tuple(filters), **parameters)
        return [ListedFact(row[0], row[1], row[2], row[3], Found(*row[4:])) for row in rows]

    async def events(self, fact_no: int, *, after: int, limit: int) -> list[EventLine]:
        """A page by ``event_seq``."""
        return [EventLine(*row) for row in await self._all("events", fact_no=fact_no, after=after, limit=limit)]

    async def versions(self, fact_no: int, *, after: int, limit: int) -> list[VersionLine]:
        """A page by number."""
        return [VersionLine(*row) for row in await self._all("versions", fact_no=fact_no, after=after, limit=limit)]

    async def timeline(self, fact_no: int, *, after: int, limit: int) -> list[Rectangle]:
        """A page by when it became known; ``after`` counts rectangles."""
        return [Rectangle(*row) for row in await self._all("timeline", fact_no=fact_no, after=after, limit=limit)]

    async def claims_of(self, fact_no: int, version_nos: Sequence[int]) -> Mapping[int, tuple[str, bytes]]:
        """Id and value of some of a fact's versions, by number."""
        rows = await self._all("claims_of_fact", fact_no=fact_no, version_nos=Int8Array.of(version_nos))
        return {number: (version_id, value) for number, version_id, value in rows}

    async def edges(self, wanted: EdgesWanted) -> list[Edge]:
        """A page of conflict edges."""
        filters: list[str] = []
        parameters: dict[str, Any] = {"tenant_id": wanted.tenant_id, "limit": wanted.limit}
        parameters |= zip(("after_no", "after_left", "after_right"), wanted.after, strict=True)
        if wanted.relation is not None:
            filters.append("and c.relation = %(relation)s")
            parameters["relation"] = wanted.relation
            if wanted.relation == "OPEN":
                filters.append("and f.conflicts_open > 0")
        if wanted.subject_id is not None:
            filters.append("and f.subject_id = %(subject_id)s")
            parameters["subject_id"] = wanted.subject_id
        if wanted.key is not None:
            filters.append("and f.fact_key = %(key)s")
            parameters["key"] = wanted.key
        if wanted.fact_id is not None:
            filters.append("and f.fact_id = %(fact_id)s")
            parameters["fact_id"] = UUID(bytes=wanted.fact_id)
        _limit_scopes("f", wanted.scopes, filters, parameters)
        return [_edge(row) for row in await self._all("conflicts", tuple(filters), **parameters)]

    async def _all(self, name: str, filters: tuple[str, ...] = (), **parameters: Any) -> list[tuple[Any, ...]]:
        statement = self._statements.get(self._connection, name, self.standing.projection, filters)
        cursor = await self._connection.execute(statement, parameters)
        return await cursor.fetchall()


def _edge(row: tuple[Any, ...]) -> Edge:
    fact_no, left, right, relation, recorded_at, age_s, fact_id, *rest = row
    subject_id, label, kind, scope_key, key, conflicts_open, *sides = rest
    head = FactHead(fact_no, subject_id, label, kind, scope_key, key, 0, 0, conflicts_open)
    return Edge(fact_no, Side(left, *sides[:5]), Side(right, *sides[5:]), relation, recorded_at, age_s, fact_id, head)


def _limit_scopes(table: str, scopes: Scopes | None, filters: list[str], parameters: dict[str, Any]) -> None:
    if scopes is None:
        return
    spelled = f"{table}.scope_kind || ':' || {table}.scope_key"
    filters.append(
        f"and ({spelled} = any(%(scopes_exact)s::text[])"
        f" or exists (select from unnest(%(scopes_prefixes)s::text[]) as p (x) where starts_with({spelled}, p.x)))"
    )
    parameters["scopes_exact"], parameters["scopes_prefixes"] = list(scopes.exact), list(scopes.prefixes)


def _standing(projection: str, row: Sequence[Any]) -> Standing:
    rule, next_offsets, topic_id, _serves, holds = row[:_POSITION_COLUMNS]
    position = None if topic_id is None else Position(UUID(topic_id).bytes, dict(next_offsets))
    return Standing(projection, rule, position, holds)


async def _one(
    connection: AsyncConnection[Any], statement: sql.SQL, parameters: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    cursor = await connection.execute(statement, parameters)
    return await cursor.fetchone()


async def _configure(connection: AsyncConnection[Any]) -> None:
    connection.prepare_threshold = 0
    speak_plainly(connection)


def _not_routed() -> Unfit:
    return Unfit("tenant_not_routed", "no projection serves this tenant", remedy="run `chronofact migrate`")
