"""Says verdicts through the writer's HTTP API, with a service's token, until they are in the log."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import httpx
import orjson

from chronofact.domain.errors import Rejected
from chronofact.postgres.judging_store import FactNames
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health

PART: Final = "writer"
COMMANDS_MAX: Final = 1_000
"""In one request."""
TIMEOUT_S: Final = 30.0
PAUSE_MAX_S: Final = 10.0
_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class WriterCalls:
    """``POST /v1/events``; sending again is safe, as the same command is the same event."""

    def __init__(
        self,
        url: str,
        token: str | None,
        health: Health,
        *,
        lacks_token: bool = False,
        retried: Callable[[str], None] = lambda _code: None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        headers = {"content-type": "application/json"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        # this machine is never asked through a proxy that the environment names
        is_local = httpx.URL(url).host in _LOCAL
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=TIMEOUT_S, trust_env=not is_local)
        self._health = health
        self._lacks_token = lacks_token
        self._retried = retried
        self._sleep = sleep

    async def send(self, tenant_id: bytes, names: FactNames, commands: Sequence[Mapping[str, Any]]) -> None:
        """As the port says."""
        fact = {"subject": names.subject, "scope": names.scope, "key": names.key}
        for start in range(0, len(commands), COMMANDS_MAX):
            part = [{**one, **fact} for one in commands[start : start + COMMANDS_MAX]]
            await self._send(str(UUID(bytes=tenant_id)), orjson.dumps(part))

    async def look(self) -> None:
        """Whether the writer is there, for readiness, and would take what we say."""
        if self._lacks_token:
            self._health.hindered(PART, _refused("the adjudicator has no token, and the writer wants one"))
            return
        try:
            answer = await self._http.get("/livez")
            answer.raise_for_status()
        except httpx.HTTPError:
            self._health.hindered(PART, Transient("writer_unreachable", "the writer can't be reached"))
        else:
            self._health.ready(PART)

    async def close(self) -> None:
        """Gives its connections back."""
        await self._http.aclose()

    async def _send(self, tenant: str, body: bytes) -> None:
        pause_s = 0.1
        while True:
            try:
                await self._once(tenant, body)
            except (Transient, Unfit) as failure:
                self._health.hindered(PART, failure)
                self._retried(failure.code)
                await self._sleep(pause_s * (0.5 + random.random() / 2))  # noqa: S311 - not a secret
                pause_s = min(2 * pause_s, PAUSE_MAX_S)
            else:
                self._health.ready(PART)
                return

    async def _once(self, tenant: str, body: bytes) -> None:
        try:
            answer = await self._http.post("/v1/events", content=body, headers={"x-tenant-id": tenant})
        except httpx.HTTPError:
            raise Transient("writer_unreachable", "the writer can't be reached") from None
        if answer.status_code in {401, 403}:
            raise _refused(f"the writer refuses the adjudicator's token with status {answer.status_code}")
        if answer.status_code == 429 or answer.status_code >= 500:
            raise Transient("writer_busy", f"the writer answered with status {answer.status_code}")
        _check_accepted(answer)


def _refused(why: str) -> Unfit:
    return Unfit(
        "writer_refuses", why, remedy="give CHRONOFACT_ADJUDICATOR_TOKEN a token with the roles write and service"
    )


def _check_accepted(answer: httpx.Response) -> None:
    told = orjson.loads(answer.content)
    refused = [one["error"] for one in told.get("results", []) if one.get("status") != "accepted"]
    if not answer.is_success:
        refused.append(told.get("error", {}))
    if refused:
        code = str(refused[0].get("code", "unknown"))
        raise Rejected(code, "the writer refuses what the adjudicator says", field=refused[0].get("field"))
