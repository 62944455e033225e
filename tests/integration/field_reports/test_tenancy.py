"""Other people's memory: each test is named after what was reported."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.integration.remembering import Memory, claim

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARCH = "2026-03-01T00:00:00Z"


async def asked_by(memory: Memory, tenant: str, path: str, **asked: Any) -> Any:
    response = await memory.world.http.get(path, params=asked, headers={"x-tenant-id": tenant})
    return response.json()


async def test_parallel_groups_do_not_write_into_another_tenant(memory: Memory) -> None:
    """getzep/graphiti#1676, #222."""
    tenants = [f"tenant {n}" for n in range(8)]
    await asyncio.gather(*(memory.post(claim("ada", "employer", one, MARCH), tenant=one) for one in tenants))
    await memory.tell()
    for tenant in tenants:
        answer = await asked_by(memory, tenant, "/v1/resolve", subject="ada", key="employer")
        assert (answer["kind"], answer["value"]) == ("value", tenant)


async def test_there_is_no_default_user_that_tenants_share(memory: Memory) -> None:
    """elewa-git/opencrane#182."""
    (ours,) = await memory.tell(claim("shared", "employer", "Acme", MARCH), tenant="one")
    (theirs,) = await memory.tell(claim("shared", "employer", "Acme", MARCH), tenant="other")
    assert ours["fact_id"] != theirs["fact_id"]
    assert ours["version_id"] != theirs["version_id"]


async def test_a_foreign_id_reads_like_an_unknown_one(memory: Memory) -> None:
    """getzep/graphiti#222."""
    (said,) = await memory.tell(claim("foreign", "employer", "Acme", MARCH), tenant="one")
    unknown = "00000000-0000-4000-8000-000000000000"
    for what in ("events", "versions", "timeline"):
        found = await asked_by(memory, "other", f"/v1/facts/{said['fact_id']}/{what}")
        assert found == await asked_by(memory, "other", f"/v1/facts/{unknown}/{what}")


async def test_taking_back_one_tenants_claim_leaves_everyone_elses(memory: Memory) -> None:
    """mem0ai/mem0#3928: "delete all" removed everyone's; here nothing is deleted, and a revocation has one fact."""
    (ours,) = await memory.tell(claim("revoked", "employer", "Acme", MARCH), tenant="one")
    await memory.tell(claim("revoked", "employer", "Acme", MARCH), tenant="other")
    revoke = {"type": "revoke", "subject": "revoked", "key": "employer", "version_id": ours["version_id"]}
    await memory.tell(revoke, tenant="other")
    assert (await asked_by(memory, "one", "/v1/resolve", subject="revoked", key="employer"))["value"] == "Acme"
    await memory.tell(revoke, tenant="one")
    assert (await asked_by(memory, "one", "/v1/resolve", subject="revoked", key="employer"))["reason"] == "revoked"
    assert (await asked_by(memory, "other", "/v1/resolve", subject="revoked", key="employer"))["value"] == "Acme"


async def test_a_revocation_leaves_no_edges_behind(memory: Memory) -> None:
    """getzep/graphiti#1491."""
    first, _ = await memory.tell(
        claim("edges", "employer", "Acme", MARCH), claim("edges", "employer", "Umbrella", MARCH)
    )
    revoke = {"type": "revoke", "subject": "edges", "key": "employer", "version_id": first["version_id"]}
    await memory.tell(revoke)
    assert (await memory.world.get("/v1/conflicts", subject="edges"))["conflicts"] == []
    assert (await memory.answer("edges", "employer"))["value"] == "Umbrella"
