"""Copies that multiply, writes that vanish, two current values: each test is named after what was reported."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from chronofact.domain.identity import DEVELOPMENT_TENANT
from tests.integration.remembering import Memory, claim

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARCH, JUNE, JULY = "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"


def counts(database: str) -> tuple[Any, ...]:
    with psycopg.connect(database) as connection:
        line = connection.execute(
            "select (select count(*) from p1.event), (select count(*) from p1.version), (select count(*) from p1.timeline)"
        ).fetchone()
    assert line is not None
    return line


async def test_a_bulk_load_run_again_creates_no_duplicates(memory: Memory, shared_database: str) -> None:
    """getzep/graphiti#1872, #767, #963."""
    load = [
        claim(f"bulk {n % 7}", "location.current", f"place {n}", f"2026-03-{n + 1:02}T00:00:00Z") for n in range(28)
    ]
    await memory.tell(*load)
    before = counts(shared_database)
    await memory.tell(*load)
    await memory.tell(*reversed(load))
    assert counts(shared_database) == before


async def test_parallel_writers_overwrite_no_pointer(memory: Memory) -> None:
    """getzep/graphiti#1755, odysseus-dev/odysseus#1940, letta-ai/letta-code#417: a lost update."""
    said = [claim("parallel", "employer", f"employer {n}", MARCH) for n in range(20)]
    await asyncio.gather(*(memory.post(one) for one in said))
    await memory.tell()
    answer = await memory.answer("parallel", "employer")
    assert answer["kind"] == "conflict"
    assert {version["value"] for version in answer["versions"]} == {f"employer {n}" for n in range(20)}


async def test_two_values_are_never_both_latest(memory: Memory) -> None:
    """rohitg00/agentmemory#15: whoever says so is told that it is a conflict, in SQL too."""
    await memory.tell(claim("latest", "employer", "Acme", MARCH), claim("latest", "employer", "Umbrella", MARCH))
    facts = (await memory.world.get("/v1/facts", subject="latest"))["facts"]
    assert [fact["kind"] for fact in facts] == ["conflict"]
    assert (await memory.answer("latest", "employer"))["kind"] == "conflict"


async def test_a_contradiction_creates_no_duplicate(memory: Memory) -> None:
    """mem0ai/mem0#4896, #4903."""
    said = [claim("contra", "employer", "Acme", MARCH), claim("contra", "employer", "Umbrella", MARCH)]
    first, _ = await memory.tell(*said)
    await memory.tell(*said)
    assert len((await memory.history(first["fact_id"], "versions"))["versions"]) == 2


async def test_what_was_read_and_said_again_adds_no_junk(memory: Memory) -> None:
    """mem0ai/mem0#4573: a feedback loop filled the store with its own answers."""
    said = claim("loop", "employer", "Acme", MARCH)
    (first,) = await memory.tell(said)
    for _ in range(5):
        answer = await memory.answer("loop", "employer")
        start, end = answer["valid_during"]
        await memory.tell({**said, "value": answer["value"], "valid_from": start, "valid_to": end})
    assert len((await memory.history(first["fact_id"], "events"))["events"]) == 1


async def test_an_event_is_answered_by_an_update_not_by_a_409(memory: Memory) -> None:
    """letta-ai/letta#3366: noisy 409s; nothing here is compared before it is appended."""
    (first, second) = await memory.post(claim("409", "employer", "Acme", MARCH), claim("409", "employer", "Umbrella"))
    assert (first["status"], second["status"]) == ("accepted", "accepted")
    writer = await memory.call_writer("GET", "/openapi.json")
    assert all("409" not in call["responses"] for path in writer["paths"].values() for call in path.values())


async def test_altered_history_does_not_go_unnoticed(memory: Memory, shared_database: str) -> None:
    """letta-ai/letta-code#4433: each event keeps the hash of the very bytes that it said."""
    (said,) = await memory.tell(claim("altered", "employer", "Acme", MARCH))
    (event,) = (await memory.history(said["fact_id"], "events"))["events"]
    with psycopg.connect(shared_database) as connection:
        line = connection.execute(
            "select encode(payload_hash, 'hex'), encode(sha256(convert_to(canonical_payload, 'UTF8')), 'hex')"
            " from chronofact.memory_fact_event where event_id = %s and tenant_id = %s",
            (event["event_id"], DEVELOPMENT_TENANT),
        ).fetchone()
    assert line is not None
    assert line[0] == line[1] == event["payload_hash"]
