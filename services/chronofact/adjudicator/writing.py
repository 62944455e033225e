"""Says verdicts through the writer's HTTP API, with a service's token, until they are in the log."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

import httpx
import orjson

from chronofact.adjudicator.ports import Still
from chronofact.domain.errors import Rejected
from chronofact.postgres.looking import FactNames
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.together import Together

PART: Final = "writer"
COMMANDS_MAX: Final = 1_000
MEMORIES_MAX: Final = 64
"""In one request."""
LANES: Final = 2
TENANTS_MAX: Final = 1_000
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
        self._of_tenants: dict[bytes, Together[list[bytes], Rejected | None]] = {}

    async def send(
        self, tenant_id: bytes, names: FactNames, commands: Sequence[Mapping[str, Any]], *, still: Still
    ) -> None:
        """As the port says; what is said of several memories at the same time is one request. A command may name another key."""
        fact = {"subject": names.subject, "scope": names.scope, "key": names.key}
        for start in range(0, len(commands), COMMANDS_MAX):
            part = [orjson.dumps({**fact, **one}) for one in commands[start : start + COMMANDS_MAX]]
            refusal = await self._said(tenant_id, part, still)
            if refusal is not None:
                raise refusal

    async def _said(self, tenant_id: bytes, part: list[bytes], still: Still) -> Rejected | None:
        """Said with others, until the writer answers; each who was in vain says it again for itself."""
        pause_s = 0.1
        while True:
            try:
                refusal = await self._together(tenant_id).ask(part)
            except (Transient, Unfit) as failure:
                self._health.hindered(PART, failure)
                self._retried(failure.code)
                await self._sleep(pause_s * (0.5 + random.random() / 2))  # noqa: S311 - not a secret
                pause_s = min(2 * pause_s, PAUSE_MAX_S)
                await still()
            else:
                self._health.ready(PART)
                return refusal

    def _together(self, tenant_id: bytes) -> Together[list[bytes], Rejected | None]:
        found = self._of_tenants.get(tenant_id)
        if found is None:
            if len(self._of_tenants) >= TENANTS_MAX:
                self._of_tenants = {tenant: one for tenant, one in self._of_tenants.items() if one.is_busy}
            work = partial(self._sent, str(UUID(bytes=tenant_id)))
            found = self._of_tenants[tenant_id] = Together(work, most=MEMORIES_MAX, lanes=LANES)
        return found

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

    async def _sent(self, tenant: str, parts: Sequence[list[bytes]]) -> list[Rejected | None]:
        """Of each part the first refusal in it."""
        commands = [one for part in parts for one in part]
        if len(parts) == 1 or len(commands) <= COMMANDS_MAX:
            answer = await self._once(tenant, b"[%s]" % b",".join(commands))
            refusals = _refusals(answer, len(commands))
            if refusals is not None:
                told = iter(refusals)
                return [next(filter(None, [next(told) for _ in part]), None) for part in parts]
            if len(parts) == 1:
                return [_as_a_whole(answer)]
        # the request is too large, or refused as a whole: whosever fault that is, the others are heard
        return [(await self._sent(tenant, [part]))[0] for part in parts]

    async def _once(self, tenant: str, body: bytes) -> httpx.Response:
        try:
            answer = await self._http.post("/v1/events", content=body, headers={"x-tenant-id": tenant})
        except httpx.HTTPError:
            raise Transient("writer_unreachable", "the writer can't be reached") from None
        if answer.status_code in {401, 403}:
            raise _refused(f"the writer refuses the adjudicator's token with status {answer.status_code}")
        if answer.status_code == 429 or answer.status_code >= 500:
            raise Transient("writer_busy", f"the writer answered with status {answer.status_code}")
        return answer


def _refused(why: str) -> Unfit:
    return Unfit(
        "writer_refuses", why, remedy="give CHRONOFACT_ADJUDICATOR_TOKEN a token with the roles write and service"
    )


def _refusals(answer: httpx.Response, commands: int) -> list[Rejected | None] | None:
    """Of each command; None where the request was refused as a whole."""
    results = orjson.loads(answer.content).get("results")
    if not isinstance(results, list) or len(results) != commands:
        return None
    return [None if one.get("status") == "accepted" else _rejected(one.get("error", {})) for one in results]


def _as_a_whole(answer: httpx.Response) -> Rejected:
    return _rejected(orjson.loads(answer.content).get("error", {}))


def _rejected(error: Mapping[str, Any]) -> Rejected:
    code = str(error.get("code", "unknown"))
    return Rejected(code, "the writer refuses what the adjudicator says", field=error.get("field"))
