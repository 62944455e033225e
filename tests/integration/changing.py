"""Readers that stream changes over real sockets, what a projector fills them from, and a listener that remembers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self
from uuid import UUID

import httpx
import orjson
import uvicorn
from fastapi import FastAPI

from chronofact.contracts.changes import Place
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.postgres.changes_store import ChangesStore
from chronofact.reader.changes_http import ChangesRoute, add_changes
from chronofact.reader.changes_stream import Changes
from chronofact.runtime.auth import Credentials, OpenCredentials
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.metrics import Metrics

WAIT_S = 20.0


class ChangesReader:
    """A reader with nothing but changes, on a port of loopback."""

    def __init__(self, changes: Changes, port: int) -> None:
        self.changes = changes
        self.port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/changes"


@asynccontextmanager
async def changes_reader(
    database: str,
    *,
    credentials: Credentials | None = None,
    listeners_max: int = 100,
    heartbeat_s: float = 0.2,
    sndbuf: int | None = None,
) -> AsyncIterator[ChangesReader]:
    """Serves while the block runs; ``sndbuf`` makes the kernel keep little for a listener that does not read."""
    store = ChangesStore(database)
    await store.open()
    metrics = Metrics("reader")
    changes = Changes(store, metrics, listeners_max=listeners_max, heartbeat_s=heartbeat_s)
    app = create_app("reader", "Changes.", health=Health(), metrics=metrics)
    add_changes(app, ChangesRoute(changes, credentials or OpenCredentials(), ScopeKinds.load(), metrics))
    try:
        async with serving(app, sndbuf) as port:
            yield ChangesReader(changes, port)
            changes.close()
    finally:
        await store.close()


@asynccontextmanager
async def serving(app: FastAPI, sndbuf: int | None = None) -> AsyncIterator[int]:
    """On a port of loopback while the block runs."""
    config = uvicorn.Config(app, port=0, log_config=None, lifespan="off", timeout_graceful_shutdown=5)
    listener = config.bind_socket()
    if sndbuf is not None:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server._serve([listener]))  # without its signal handlers
    while not server.started:  # noqa: ASYNC110 - uvicorn says it in no other way
        await asyncio.sleep(0.01)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await serving


class Listening:
    """One listener: what came, in order, and the id to come again with."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.changes: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.last_id: str | None = None
        self.heartbeats = 0
        self.has_ended = False
        self.came = asyncio.Event()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            block: dict[str, str] = {}
            async for line in self.response.aiter_lines():
                if line:
                    name, _, content = line.partition(": ")
                    block[name] = content
                    continue
                self._took(block)
                block = {}
        except httpx.TransportError:
            pass
        self.has_ended = True
        self.came.set()

    def _took(self, block: Mapping[str, str]) -> None:
        self.last_id = block.get("id", self.last_id)
        self.heartbeats += block.get("") == "heartbeat"
        if "data" in block:
            assert block["event"] == "change"
            self.changes.append(orjson.loads(block["data"]))
            self.ids.append(block["id"])
        self.came.set()

    async def until(self, count: int) -> list[dict[str, Any]]:
        """Once so many changes came."""
        async with asyncio.timeout(WAIT_S):
            while len(self.changes) < count:
                assert not self.has_ended, f"ended after {len(self.changes)} of {count}"
                self.came.clear()
                await self.came.wait()
        return self.changes

    async def until_ended(self) -> None:
        async with asyncio.timeout(WAIT_S):
            while not self.has_ended:
                self.came.clear()
                await self.came.wait()

    async def until_id(self) -> str:
        """The first id."""
        async with asyncio.timeout(WAIT_S):
            while self.last_id is None:
                self.came.clear()
                await self.came.wait()
        return self.last_id

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.wait({self._reading})
        await self.response.aclose()

    @property
    def event_ids(self) -> list[str]:
        return [one["event_id"] for one in self.changes]


@asynccontextmanager
async def listening(
    reader: ChangesReader | str, *, after: str | None = None, headers: Mapping[str, str] | None = None, **params: str
) -> AsyncIterator[Listening]:
    """A stream, from the last id on if there is one."""
    sent = {**(headers or {}), **({} if after is None else {"Last-Event-ID": after})}
    url = reader if isinstance(reader, str) else reader.url
    async with httpx.AsyncClient(timeout=httpx.Timeout(WAIT_S)) as http:
        request = http.build_request("GET", url, params=params, headers=sent)
        response = await http.send(request, stream=True)
        if response.status_code != 200:
            await response.aread()
        assert response.status_code == 200, response.text
        listener = Listening(response)
        try:
            await listener.until_id()
            yield listener
        finally:
            await listener.close()


def place_of(token: str) -> Place:
    place = Place.parse(token)
    assert isinstance(place, Place)
    return place


def tenant_header(tenant: UUID = DEVELOPMENT_TENANT) -> dict[str, str]:
    return {"X-Tenant-Id": str(tenant)}


class Sent:
    """Counts what listeners got against what was said: each once, none missing, a fact's in order."""

    def __init__(self) -> None:
        self.changes: list[dict[str, Any]] = []

    def add(self, changes: list[dict[str, Any]]) -> Self:
        self.changes += changes
        return self

    def check(self, wanted: list[str]) -> None:
        found = [one["event_id"] for one in self.changes]
        assert len(found) == len(set(found)), "something came twice"
        assert sorted(found) == sorted(wanted)
        seqs: dict[str, int] = {}
        for one in self.changes:
            fact_id = one["fact"]["fact_id"]
            assert one["event_seq"] > seqs.get(fact_id, 0), "a fact's changes came out of order"
            seqs[fact_id] = one["event_seq"]
