"""The reader's side of the database: single answers, and snapshots that do not change while they are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from psycopg import AsyncConnection, sql

from chronofact.contracts.position import Position
from chronofact.contracts.projection import StoredEvent
from chronofact.contracts.reading import (
    Ask,
    Claim,
    EventLine,
    FactHead,
    Found,
    HeldFact,
    Silence,
    Standing,
    StoredHistory,
    VersionLine,
    WantedClaim,
)
from chronofact.contracts.tail import TailMessage
from chronofact.domain.identity import FactIdentity
from chronofact.domain.rules import RULE_DEFAULT, value_key
from chronofact.postgres.errors import failures_named, not_routed
from chronofact.postgres.memory_reads import MemoryReads
from chronofact.postgres.page_reads import PageReads
from chronofact.postgres.rules import known_rule
from chronofact.postgres.session import reading_pool
from chronofact.postgres.silence import answering
from chronofact.postgres.spelling import Instant, InstantArray, Int8Array, UuidArray, speak_plainly
from chronofact.postgres.template import Script, scripts
from chronofact.runtime.failures import Unfit

STATEMENT_TIMEOUT_MS: Final = 20_000
ANSWER_TIMEOUT_S: Final = 25
"""By our own clock, for a server that stands still."""
HELD_MESSAGES_MAX: Final = 2_000
"""Parked messages that one list looks at."""
_POSITION_COLUMNS: Final = 5
ROUTES_MAX: Final = 10
"""Projections that one read tries while its tenant is switched; the last answers, as it served a moment ago."""
_FEW_EVENTS: Final = 200
"""So many are read without asking first how large they are."""
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
        try:
            return await self._answer(tenant_id, ask)
        except Unfit:
            if self._routes.pop(tenant_id, None) is None:
                raise
            return await self._answer(tenant_id, ask)  # the projection that was remembered may be gone

    async def _answer(self, tenant_id: UUID, ask: Ask) -> tuple[Standing, Found]:
        parameters = {
            "tenant_id": tenant_id,
            "fact_id": UUID(bytes=ask.fact_id),
            "valid_at": Instant(ask.valid_at),
            "system_as_of": Instant.of(ask.system_as_of),
        }
        with failures_named():
            async with answering(self._pool, limit_s=ANSWER_TIMEOUT_S) as connection:
                standing, row = await self._routed(connection, tenant_id, "resolve_one", parameters)
        return standing, Found(*row[_POSITION_COLUMNS:])

    async def standing(self, tenant_id: UUID) -> Standing:
        """How far the tenant's projection has come."""
        with failures_named():
            async with answering(self._pool, limit_s=ANSWER_TIMEOUT_S) as connection:
                standing, _ = await self._routed(connection, tenant_id, "position", {"tenant_id": tenant_id})
        return standing

    @asynccontextmanager
    async def snapshot(self, tenant_id: UUID) -> AsyncIterator[PostgresSnapshot]:
        """The tenant's projection, unchanging while the block runs."""
        with failures_named():
            async with answering(self._pool, limit_s=ANSWER_TIMEOUT_S) as connection:
                await connection.execute("begin isolation level repeatable read read only")
                try:
                    standing, _ = await self._routed(connection, tenant_id, "position", {"tenant_id": tenant_id})
                    yield PostgresSnapshot(connection, self._statements, standing)
                finally:
                    if not connection.closed:
                        await connection.execute("commit")  # after a rollback psycopg forgets what is planned

    async def _routed(
        self, connection: AsyncConnection[Any], tenant_id: UUID, name: str, parameters: Mapping[str, Any]
    ) -> tuple[Standing, tuple[Any, ...]]:
        """A statement of the projection that the tenant is routed to, as its own snapshot says; a remembered route is a guess."""
        projection = self._routes.get(tenant_id) or await self._route(connection, tenant_id)
        for tries_left in reversed(range(ROUTES_MAX)):
            row = await _one(connection, self._statements.get(connection, name, projection), parameters)
            if (row is not None and row[3]) or not tries_left:
                break
            projection = await self._route(connection, tenant_id)
        if row is None:
            raise not_routed()
        return _standing(projection, row), row

    async def _route(self, connection: AsyncConnection[Any], tenant_id: UUID) -> str:
        statement = self._statements.get(connection, "route", "")
        row = await _one(connection, statement, {"tenant_id": tenant_id})
        if row is None:
            raise not_routed()
        if len(self._routes) > 10_000:
            self._routes.clear()
        self._routes[tenant_id] = projection = str(row[0])
        return projection


class PostgresSnapshot(PageReads, MemoryReads):
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
        claims = [Claim(*row) for row in rows]
        rule = self.standing.rule
        return claims if rule == RULE_DEFAULT else [_keyed(one, rule) for one in claims]

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

    async def held_facts(
        self, tenant_id: UUID, subject_id: UUID | None, fact_id: bytes | None
    ) -> tuple[list[HeldFact], bool]:
        """The facts of which messages are parked: the tenant's, and all that have no event; and whether there are more."""
        rows = await self._all(
            "held_facts",
            () if fact_id is None else ("and e.fact_id = %(fact_id)s",),
            tenant_id=tenant_id,
            subject_id=subject_id,
            fact_id=None if fact_id is None else UUID(bytes=fact_id),
            limit=HELD_MESSAGES_MAX + 1,
        )
        return [_held_fact(*row[1:]) for row in rows if row[1] is not None], rows[0][0] > HELD_MESSAGES_MAX

    async def held_samples(self, fact_ids: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """One parked message of each of those facts, by fact."""
        rows = await self._all("held_samples", fact_ids=UuidArray.of(fact_ids))
        return {UUID(fact_id).bytes: bytes.fromhex(message or "") for fact_id, message in rows}

    async def fact(self, tenant_id: UUID, fact_id: bytes) -> FactHead | None:
        """The tenant's fact of that id."""
        rows = await self._all("fact", tenant_id=tenant_id, fact_id=UUID(bytes=fact_id))
        return FactHead(*rows[0]) if rows else None

    async def events(self, fact_no: int, *, after: int, limit: int) -> list[EventLine]:
        """A page by ``event_seq``."""
        return [EventLine(*row) for row in await self._all("events", fact_no=fact_no, after=after, limit=limit)]

    async def versions(self, fact_no: int, *, after: int, limit: int) -> list[VersionLine]:
        """A page by number."""
        return [VersionLine(*row) for row in await self._all("versions", fact_no=fact_no, after=after, limit=limit)]

    async def claims_of(self, fact_no: int, version_nos: Sequence[int]) -> Mapping[int, tuple[str, bytes]]:
        """Id and value of some of a fact's versions, by number."""
        rows = await self._all("claims_of_fact", fact_no=fact_no, version_nos=Int8Array.of(version_nos))
        return {number: (version_id, value) for number, version_id, value in rows}

    async def stored(self, fact_ids: Sequence[bytes], *, events_max: int, bytes_max: int) -> list[StoredHistory] | None:
        """Those of the facts that are known, of any tenant, with all their events; None: more than so many."""
        heads = await self._all("stored_facts", fact_ids=UuidArray.of(fact_ids))
        found = {row[2]: StoredHistory(UUID(row[0]).bytes, UUID(row[1]), FactHead(*row[2:]), []) for row in heads}
        fact_nos = Int8Array.of(list(found))
        count = sum(one.head.event_seq for one in found.values())
        if count > events_max:
            return None
        if count > _FEW_EVENTS and (await self._all("stored_size", fact_nos=fact_nos))[0][0] > bytes_max:
            return None
        for line in await self._all("stored_events", fact_nos=fact_nos) if found else ():
            fact_no, event_id, kind, recorded_at, payload = line
            found[fact_no].events.append(StoredEvent(bytes.fromhex(event_id), kind, recorded_at, payload.encode()))
        return list(found.values())

    async def parked_of(self, fact_ids: Sequence[bytes]) -> list[TailMessage]:
        """The parked messages of those facts, in offset order."""
        rows = await self._all("parked_of", fact_ids=UuidArray.of(fact_ids))
        return [
            TailMessage(partition, offset, bytes.fromhex(key or ""), bytes.fromhex(value or ""), appended_at)
            for partition, offset, key, value, appended_at in rows
        ]

    async def dropped(self, topic_id: bytes, messages: Sequence[TailMessage]) -> frozenset[tuple[int, int]]:
        """The partition and offset of those that were given up."""
        rows = await self._all(
            "dropped_among",
            topic_id=UUID(bytes=topic_id),
            partitions=Int8Array.of([one.partition for one in messages]),
            offsets=Int8Array.of([one.offset for one in messages]),
        )
        return frozenset((partition, offset) for partition, offset in rows)

    async def _all(self, name: str, filters: tuple[str, ...] = (), **parameters: Any) -> list[tuple[Any, ...]]:
        statement = self._statements.get(self._connection, name, self.standing.projection, filters)
        cursor = await self._connection.execute(statement, parameters)
        return await cursor.fetchall()


def _held_fact(fact_id: str, held: int, tenant_id: str | None, subject_id: str | None, *named: str) -> HeldFact:
    is_known = tenant_id is not None and subject_id is not None
    identity = FactIdentity(UUID(tenant_id), UUID(subject_id), *named) if is_known else None
    return HeldFact(UUID(fact_id).bytes, held, identity)


def _keyed(claim: Claim, rule: int) -> Claim:
    """Its hash, as the statement gives it, made what values share that are one."""
    return claim._replace(value_key=value_key(claim.value, bytes.fromhex(claim.value_key), rule).hex())


def _standing(projection: str, row: Sequence[Any]) -> Standing:
    rule, next_offsets, topic_id, _serves, holds = row[:_POSITION_COLUMNS]
    position = None if topic_id is None else Position(UUID(topic_id).bytes, dict(next_offsets))
    return Standing(projection, known_rule(projection, rule), position, holds)


async def _one(
    connection: AsyncConnection[Any], statement: sql.SQL, parameters: Mapping[str, Any]
) -> tuple[Any, ...] | None:
    cursor = await connection.execute(statement, parameters)
    return await cursor.fetchone()


async def _configure(connection: AsyncConnection[Any]) -> None:
    connection.prepare_threshold = 0
    speak_plainly(connection)
