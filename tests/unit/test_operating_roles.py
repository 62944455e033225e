"""Whatever the reconciler offers over HTTP takes a credential that may operate, before anything else is looked at."""

from __future__ import annotations

from hashlib import sha256
from unittest.mock import Mock
from uuid import UUID

import httpx

from chronofact.reconciler.__main__ import build_app
from chronofact.runtime.auth import Role, TokenCredentials
from chronofact.runtime.config import Settings
from chronofact.runtime.health import Health
from chronofact.runtime.metrics import Metrics

OTHERS = "token of one who may do all but operate"
TENANT = UUID(int=1)
CHANGING = {
    "POST /v1/checks",
    "POST /v1/rebuilds",
    "DELETE /v1/rebuilds/{rebuild_id}",
    "POST /v1/rebuilds/{rebuild_id}/verification",
    "POST /v1/verifications",
    "POST /v1/routes",
}


async def test_without_the_role_nothing_is_done_or_told() -> None:
    others = frozenset(Role) - {Role.OPERATE}
    credentials = TokenCredentials({sha256(OTHERS.encode()).digest(): (TENANT, others, ("*",))})
    untouched = Mock(side_effect=AssertionError)
    app = build_app(
        Settings(auth="off"), untouched, untouched, credentials, health=Health(), metrics=Metrics("reconciler")
    )
    calls = {
        f"{method.upper()} {path}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path.startswith("/v1/")
    }
    assert calls >= CHANGING
    assert {one for one in calls if not one.startswith("GET ")} == CHANGING, "a further one that changes something"
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://reconciler") as client:
        for call in sorted(calls):
            method, path = call.split(" ")
            for name in ("rebuild_id", "run_id", "verification_id", "projection"):
                path = path.replace(f"{{{name}}}", "1")
            for headers, wanted in (
                ({"authorization": f"Bearer {OTHERS}"}, (403, "role_missing")),
                ({"authorization": "Bearer of nobody"}, (401, "token_unknown")),
                ({}, (401, "token_missing")),
            ):
                answer = await client.request(method, path, headers=headers, content=b"{" if method == "POST" else None)
                assert (answer.status_code, answer.json()["error"]["code"]) == wanted, call
    assert untouched.mock_calls == []
