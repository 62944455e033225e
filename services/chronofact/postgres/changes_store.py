"""What a feed of changed answers reads of a projection: how far it has come, events by offset, and what they painted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from psycopg import AsyncConnection, sql

from chronofact.contracts.changes import (
    OPEN_END,
    OPEN_START,
    ChangesWanted,
    EventApplied,
    Place,
    Reached,
    Release,
    Said,
    Stroke,
    Window,
)
from chronofact.postgres.errors import failures_named, not_routed
from chronofact.postgres.session import reading_pool
from chronofact.postgres.silence import answering
from chronofact.postgres.spelling import Int8Array, UuidArray, speak_plainly
from chronofact.postgres.template import Script, scripts

STATEMENT_TIMEOUT_MS: Final = 20_000
ANSWER_TIMEOUT_S: Final = 25
"""By our own clock, for a server that stands still."""
CONNECTIONS_MAX: Final = 5
"""One for what is new, two for listeners that catch up (as many as do at once), the rest for those who come."""


class ChangesStore:
    """Every projection that serves, over a small pool of its own: listeners never take a connection from reads."""

    def __init__(self, conninfo: str, *, connections_max: int = CONNECTIONS_MAX) -> None:
        self._pool = reading_pool(
            conninfo,
            "reader changes",
            connections_max=connections_max,
            statement_timeout_ms=STATEMENT_TIMEOUT_MS,
            configure=_configure,
        )
        self._scripts: Mapping[str, Script] = {one.name: one for one in scripts("reader")}
        self._statements: dict[tuple[str, str, tuple[str, ...]], sql.SQL] = {}

    async def open(self) -> None:
        """Starts the pool; it does not wait for Postgres."""
        await self._pool.open(wait=False)

    async def close(self) -> None:
        """Closes every connection."""
        await self._pool.close()

    async def projection_of(self, tenant_id: UUID) -> str:
        """The projection that serves the tenant."""
        rows = await self._all("route", "", tenant_id=tenant_id)
        if not rows:
            raise not_routed()
        return str(rows[0][0])

    async def served(self, projection: str, tenant_ids: Collection[UUID]) -> set[UUID]:
        """Which of the tenants it still serves."""
        rows = await self._all("changes_served", projection, tenant_ids=_uuids(tenant_ids))
        return {UUID(row[0]) for row in rows}

    async def standing(self, projection: str) -> Place | None:
        """How far the projection has come; None before a projector has begun with it."""
        rows = await self._all("changes_standing", projection)
        if not rows:
            return None
        reached = {partition: Reached(next_offset, released) for partition, next_offset, released, _ in rows}
        return Place.of(UUID(rows[0][3]).bytes, projection, reached)

    async def events(
        self, place: Place, windows: Sequence[Window], wanted: ChangesWanted, *, limit: int
    ) -> list[EventApplied]:
        """Events by offset, at most ``limit`` of each window; not those that were parked before."""
        filters, parameters = _limits(wanted)
        rows = await self._all(
            "changes_events",
            place.projection,
            filters,
            **parameters,
            topic_id=UUID(bytes=place.topic_id),
            partitions=Int8Array.of([one.partition for one in windows]),
            firsts=Int8Array.of([one.first for one in windows]),
            ends=Int8Array.of([one.end for one in windows]),
            limit=limit,
        )
        return [EventApplied(*row) for row in rows]

    async def releases(self, place: Place, partition: int, *, upto: int) -> list[Release]:
        """A partition's releases behind the place."""
        rows = await self._all(
            "changes_releases",
            place.projection,
            topic_id=UUID(bytes=place.topic_id),
            partition=partition,
            after=place.at(partition).released,
            upto=upto,
        )
        return [Release(*row) for row in rows]

    async def released_since(self, place: Place, next_offsets: Mapping[int, int]) -> Mapping[int, int]:
        """For each partition that released a message at or after an offset, the release before the first such one."""
        rows = await self._all(
            "changes_released_since",
            place.projection,
            topic_id=UUID(bytes=place.topic_id),
            partitions=Int8Array.of(list(next_offsets)),
            next_offsets=Int8Array.of(list(next_offsets.values())),
        )
        return dict(rows)

    async def released(
        self, projection: str, numbers: Sequence[int], wanted: ChangesWanted
    ) -> Mapping[int, EventApplied]:
        """The events of releases, by number."""
        filters, parameters = _limits(wanted)
        rows = await self._all("changes_released", projection, filters, **parameters, numbers=Int8Array.of(numbers))
        return {row[0]: EventApplied(*row[1:]) for row in rows}

    async def painted(self, projection: str, events: Sequence[EventApplied]) -> list[Stroke]:
        """What events painted on lane 0."""
        rows = await self._all(
            "changes_painted",
            projection,
            fact_nos=Int8Array.of([one.fact_no for one in events]),
            event_seqs=Int8Array.of([one.event_seq for one in events]),
        )
        return [_stroke(row) for row in rows]

    async def lane_before(self, projection: str, event: EventApplied, *, limit: int) -> list[Stroke]:
        """Lane 0 before an event, newest first."""
        rows = await self._all(
            "changes_lane_before", projection, fact_no=event.fact_no, event_seq=event.event_seq, limit=limit
        )
        return [_stroke(row) for row in rows]

    async def lanes(self, projection: str, event: EventApplied, *, first_seq: int, limit: int) -> list[Stroke]:
        """All lanes of the event's fact, from ``first_seq`` up to the event, in no particular order."""
        rows = await self._all(
            "changes_lanes",
            projection,
            fact_no=event.fact_no,
            first_seq=first_seq,
            last_seq=event.event_seq,
            limit=limit,
        )
        return [_stroke(row) for row in rows]

    async def said(self, projection: str, versions: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], Said]:
        """What versions say, by fact and number."""
        rows = await self._all(
            "changes_said",
            projection,
            fact_nos=Int8Array.of([fact_no for fact_no, _ in versions]),
            version_nos=Int8Array.of([number for _, number in versions]),
        )
        return {
            (fact_no, number): Said(version_id, value, source_id, OPEN_START if start is None else start[:-1])
            for fact_no, number, version_id, value, source_id, start in rows
        }

    async def _all(
        self, name: str, projection: str, filters: tuple[str, ...] = (), **parameters: Any
    ) -> list[tuple[Any, ...]]:
        with failures_named():
            async with answering(self._pool, limit_s=ANSWER_TIMEOUT_S) as connection:
                statement = self._statement(connection, name, projection, filters)
                cursor = await connection.execute(statement, parameters)
                return await cursor.fetchall()

    def _statement(
        self, connection: AsyncConnection[Any], name: str, projection: str, filters: tuple[str, ...]
    ) -> sql.SQL:
        key = (name, projection, filters)
        if key not in self._statements:
            self._statements[key] = self._scripts[name].filled(
                connection,
                schema=projection,
                projection=sql.Literal(projection),
                filters=sql.SQL(" ").join([sql.SQL(one) for one in filters]),
            )
        return self._statements[key]


def _limits(wanted: ChangesWanted) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Further conditions of ours, and the caller's part of them as parameters."""
    filters: list[str] = []
    parameters: dict[str, Any] = {"tenant_ids": _uuids(wanted.tenant_ids)}
    if wanted.subject_id is not None:
        filters.append("and f.subject_id = %(subject_id)s")
        parameters["subject_id"] = wanted.subject_id
    if wanted.scope is not None:
        filters.append("and f.scope_kind = %(scope_kind)s and f.scope_key = %(scope_key)s")
        parameters["scope_kind"], parameters["scope_key"] = wanted.scope
    if wanted.key is not None:
        filters.append("and f.fact_key = %(key)s")
        parameters["key"] = wanted.key
    if wanted.prefix is not None:
        filters.append("and starts_with(f.fact_key, %(prefix)s)")
        parameters["prefix"] = wanted.prefix
    if wanted.scopes is not None:
        spelled = "f.scope_kind || ':' || f.scope_key"
        filters.append(
            f"and ({spelled} = any(%(scopes_exact)s::text[])"
            f" or exists (select from unnest(%(scopes_prefixes)s::text[]) as p (x) where starts_with({spelled}, p.x)))"
        )
        parameters["scopes_exact"] = list(wanted.scopes.exact)
        parameters["scopes_prefixes"] = list(wanted.scopes.prefixes)
    return tuple(filters), parameters


def _uuids(ids: Collection[UUID]) -> UuidArray:
    return UuidArray.of([one.bytes for one in ids])


def _stroke(row: tuple[Any, ...]) -> Stroke:
    fact_no, event_seq, lane, start, end, *answer = row
    return Stroke(
        fact_no, event_seq, lane, OPEN_START if start is None else start[:-1], OPEN_END if end is None else end[:-1],
        *answer,
    )  # fmt: skip


async def _configure(connection: AsyncConnection[Any]) -> None:
    connection.prepare_threshold = 0
    speak_plainly(connection)
