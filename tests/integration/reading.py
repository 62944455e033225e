"""A reader over a real database that a real projector fills from a log in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx
import orjson

from chronofact.contracts.position import Position
from chronofact.contracts.reading import Watermarks
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.identity import DEVELOPMENT_TENANT, fact_id_of
from chronofact.kafka.partitioning import partition_of
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.postgres.reading_store import ReadingStore
from chronofact.reader.__main__ import build_app
from chronofact.reader.freshness import LogWatch
from chronofact.reader.http import POSTGRES
from chronofact.reader.nearness import Nearness
from chronofact.reader.ports import LogEnds
from chronofact.reader.watch import stop_all, watch_projections
from chronofact.runtime.auth import Credentials, OpenCredentials
from chronofact.runtime.config import Settings
from chronofact.runtime.health import Health
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_tail import MemoryTail
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import PARTITIONS, Fact, Said

NOW = 1_800_000_000_000_000
"""When the broker appends, in 2027: later than what tests import."""


class ScopedFact(Fact):
    """A fact in another scope than the default one."""

    def __init__(
        self, subject: str, scope: tuple[str, str], key: str = "package_manager", *, tenant: UUID = DEVELOPMENT_TENANT
    ) -> None:
        super().__init__(subject, key, tenant=tenant)
        self.identity = replace(self.identity, scope_kind=scope[0], scope_key=scope[1])
        self.canonical = self.identity.canonical()
        self.fact_id = fact_id_of(self.identity)
        self.partition = partition_of(self.fact_id, PARTITIONS)

    @property
    def id_text(self) -> str:
        return str(UUID(bytes=self.fact_id))


class World:
    """Say something, have it projected, ask about it."""

    tail: MemoryTail

    def __init__(self, database: str, topic: MemoryTopic, http: httpx.AsyncClient, store: ReadingStore) -> None:
        self.topic = topic
        self.http = http
        self.store = store
        self._written = ProjectionStore(database, "p1")
        self._projector, _ = projector_on(self.topic.join(), self._written)

    def close(self) -> None:
        """Lets the projector's connection go."""
        self._written.close()

    def say(self, *said: Said, appended_at: int = NOW) -> str:
        """Appends without projecting; the position behind it all."""
        self.topic.append(said, appended_at=appended_at)
        return self.position()

    def position(self) -> str:
        ends = {number: len(messages) for number, messages in self.topic.partitions.items() if messages}
        return Position(self.topic.topic_id, ends).encode()

    def project(self) -> None:
        """Everything that was said so far."""
        run_until_idle(self._projector)

    def tell(self, *said: Said, appended_at: int = NOW) -> str:
        """Says and projects."""
        position = self.say(*said, appended_at=appended_at)
        self.project()
        return position

    async def get(self, path: str, **parameters: Any) -> Any:
        return spelled(await self.http.get(path, params=parameters), 200)

    async def refusal(self, path: str, status: int, **parameters: Any) -> Any:
        """Why a call is refused."""
        return spelled(await self.http.get(path, params=parameters), status)["error"]

    async def ask(self, body: Any, status: int = 200) -> Any:
        response = await self.http.post(
            "/v1/resolve", content=orjson.dumps(body), headers={"content-type": "application/json"}
        )
        return spelled(response, status)

    async def pages(self, path: str, name: str, **parameters: Any) -> list[Any]:
        """Every page, one after the other."""
        found: list[Any] = []
        cursor: Mapping[str, str] = {}
        while True:
            body = await self.get(path, **parameters, **cursor)
            found += body[name]
            if body["cursor"] is None:
                return found
            cursor = {"cursor": body["cursor"]}


def topic_ends(topic: MemoryTopic) -> LogEnds:
    """Where the topic ends, as Kafka would say."""

    def ends() -> Watermarks:
        return Watermarks(topic.topic_id, {number: len(found) for number, found in topic.partitions.items()})

    return ends


def spelled(response: httpx.Response, status: int) -> Any:
    assert response.status_code == status, response.text
    return response.json()


@asynccontextmanager
async def world_on(
    database: str,
    *,
    reading: str | None = None,
    credentials: Credentials | None = None,
    settings: Settings | None = None,
    topic: MemoryTopic | None = None,
    nearness: Nearness | None = None,
) -> AsyncIterator[World]:
    """A world; ``reading`` is another address of the same database, for the reader alone; a topic may be shared."""
    store, health = ReadingStore(reading or database), Health(POSTGRES)
    await store.open()
    topic = topic or MemoryTopic()
    watch = LogWatch(topic_ends(topic))
    kinds = ScopeKinds.load()
    tail = MemoryTail(topic)
    app = build_app(
        settings or Settings(auth="off"),
        store,
        watch,
        tail,
        kinds,
        credentials or OpenCredentials(),
        health=health,
        nearness=nearness,
    )
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://reader") as http:
        tasks = [asyncio.create_task(watch.run()), asyncio.create_task(watch_projections(store, health, POSTGRES))]
        world = World(database, topic, http, store)
        world.tail = tail
        try:
            yield world
        finally:
            world.close()
            await stop_all(tasks)
            await store.close()


async def until(condition: Any, *, timeout_s: float = 20) -> None:
    """Waits for something to become so."""
    deadline = time.monotonic() + timeout_s
    while not await condition():
        assert time.monotonic() < deadline, "it never became so"
        await asyncio.sleep(0.05)


def ids_of(said: Iterable[Said]) -> list[str]:
    return [str(UUID(bytes=one.version_id)) for one in said if one.version_id is not None]
