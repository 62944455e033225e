"""The writer's application in this process, over the log in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import orjson
from fastapi import FastAPI

from chronofact.contracts.codec import FactEvent, decode_event
from chronofact.contracts.fact_keys import KeyDeclarations
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.contracts.topics import facts_topic
from chronofact.domain.errors import Rejected
from chronofact.runtime.auth import Credentials, OpenCredentials
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.metrics import Metrics
from chronofact.writer.__main__ import build_app
from chronofact.writer.accept import Acceptor
from chronofact.writer.text_side import TextSide
from chronofact.writer.watch import PART, Watch
from tests.contract.append_log import MemoryAppendLog

TOPIC_ID = bytes(range(16))
JSON = {"content-type": "application/json"}
TEXTS_OFF = Rejected("texts_off", "this writer takes no memories")
LINES = {"content-type": "application/x-ndjson"}


class WriterInProcess:
    """Requests to an application; ``failure`` is what the next look at the topic finds."""

    def __init__(
        self,
        credentials: Credentials | None = None,
        *,
        texts: Callable[[Metrics], TextSide] | Rejected = TEXTS_OFF,
        **limits: Any,
    ) -> None:
        self.log = MemoryAppendLog()
        self.failure: Transient | Unfit | None = None
        self.health, self.metrics = Health(PART), Metrics("writer")
        self.health.ready(PART)
        self.watch = Watch(self._look, self.health, check_s=0.01)
        self.watch.topic_id = TOPIC_ID
        self.app: FastAPI = build_app(
            Settings(auth="off", **limits),
            self.log,
            Acceptor(KeyDeclarations.load(), ScopeKinds.load()),
            credentials or OpenCredentials(),
            topic=facts_topic(),
            watch=self.watch,
            health=self.health,
            metrics=self.metrics,
            texts=texts if isinstance(texts, Rejected) else texts(self.metrics),
        )

    def _look(self) -> bytes:
        if self.failure is not None:
            raise self.failure
        return TOPIC_ID

    def post(self, content: bytes, headers: Mapping[str, str] = JSON, *, query: str = "") -> httpx.Response:
        return self.ask("POST", f"/v1/events{query}", content=content, headers=headers)

    def send(self, commands: Any, headers: Mapping[str, str] = JSON, *, query: str = "") -> httpx.Response:
        return self.post(orjson.dumps(commands), headers, query=query)

    def ask(self, method: str, path: str, **said: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://writer") as client:
                return await client.request(method, path, **said)

        return asyncio.run(asked())

    def events(self) -> list[FactEvent]:
        return [decode_event(message.value) for message in self.log.messages()]


def assertion(**said: Any) -> dict[str, Any]:
    """A command that is right, but for what the test says otherwise."""
    plain = {
        "type": "assert",
        "subject": "ada",
        "key": "package_manager",
        "value": "npm",
        "source": {"id": "s", "text": "t"},
    }
    return {name: field for name, field in (plain | said).items() if field is not ...}
