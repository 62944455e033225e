"""What a producer says through the writer and what a reader then answers, over a real database."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson

from tests.contract.remembering import RememberingWriter
from tests.contract.writing import JSON, WriterInProcess
from tests.integration.reading import NOW, World, world_on


class Memory:
    """A writer, its log, a projector and a reader; each test speaks of subjects of its own."""

    def __init__(self, world: World, writer: WriterInProcess, http: httpx.AsyncClient) -> None:
        self.world = world
        self._writer = writer
        self._http = http
        self._taken: Counter[int] = Counter()

    async def post(self, *commands: dict[str, Any], tenant: str | None = None) -> Any:
        """The writer's results, nothing projected yet."""
        headers = {**JSON, **({"x-tenant-id": tenant} if tenant else {})}
        response = await self._http.post("/v1/events", content=orjson.dumps(list(commands)), headers=headers)
        assert response.status_code == 200, response.text
        return response.json()["results"]

    async def call_writer(self, method: str, path: str) -> Any:
        """Another call of the writer."""
        return (await self._http.request(method, path)).json()

    async def tell(self, *commands: dict[str, Any], tenant: str | None = None) -> list[Any]:
        """Says it all, sees it accepted and projected."""
        results = await self.post(*commands, tenant=tenant) if commands else []
        assert [one["status"] for one in results] == ["accepted"] * len(commands), results
        for partition, messages in self._writer.log.partitions.items():
            for message in messages[self._taken[partition] :]:
                self.world.topic.append_raw(partition, message.key, message.value, appended_at=NOW)
            self._taken[partition] = len(messages)
        self.world.project()
        return list(results)

    async def refused(self, command: dict[str, Any]) -> tuple[str, str | None]:
        """Code and field of a refusal."""
        (result,) = await self.post(command)
        assert result["status"] == "rejected", result
        return result["error"]["code"], result["error"].get("field")

    async def answer(self, subject: str, key: str, **asked: Any) -> Any:
        return await self.world.get("/v1/resolve", subject=subject, key=key, **asked)

    async def history(self, fact_id: str, what: str) -> Any:
        return await self.world.get(f"/v1/facts/{fact_id}/{what}")


def claim(subject: str, key: str, value: Any, valid_from: str | None = None, **said: Any) -> dict[str, Any]:
    """An assertion; its evidence is named after its value unless said."""
    source = said.pop("source", None) or f"about {orjson.dumps(value).decode()[:40]}"
    return {
        "type": "assert",
        "subject": subject,
        "key": key,
        "value": value,
        "valid_from": valid_from,
        "source": {"id": source, "text": source},
        **said,
    }


@asynccontextmanager
async def memory_on(database: str) -> AsyncIterator[Memory]:
    """All of it over one database."""
    writer = RememberingWriter()
    transport = httpx.ASGITransport(writer.app, raise_app_exceptions=False)
    async with world_on(database) as world, httpx.AsyncClient(transport=transport, base_url="http://writer") as http:
        yield Memory(world, writer, http)
