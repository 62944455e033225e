"""Retired facts that come back, and changes that do nothing: each test is named after what was reported."""

from __future__ import annotations

import pytest

from tests.integration.remembering import Memory, claim

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARCH, JUNE, JULY = "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"


async def test_default_lists_do_not_return_retired_facts(memory: Memory) -> None:
    """getzep/graphiti#769, #1664; topoteretes/cognee#4890."""
    await memory.tell(
        claim("list", "location.current", "Paris", MARCH),
        claim("list", "location.current", "Rome", JUNE),
        claim("list", "employer", "Acme", MARCH, valid_to=JUNE),
    )
    facts = (await memory.world.get("/v1/facts", subject="list"))["facts"]
    assert {fact["fact"]["key"]: fact.get("value") for fact in facts} == {"location.current": "Rome", "employer": None}
    assert {fact["kind"] for fact in facts if fact["fact"]["key"] == "employer"} == {"unknown"}


async def test_the_former_employer_does_not_keep_surfacing(memory: Memory) -> None:
    """mem0ai/mem0#4956."""
    (old,) = await memory.tell(claim("jobs", "employer", "Acme", MARCH))
    await memory.tell({"type": "end", "subject": "jobs", "key": "employer", "version_id": old["version_id"],
                       "effective_at": JUNE})  # fmt: skip
    answer = await memory.answer("jobs", "employer")
    assert (answer["kind"], answer["reason"]) == ("unknown", "ended")
    then = await memory.answer("jobs", "employer", valid_at="2026-05-01T00:00:00Z")
    assert then["value"] == "Acme"


async def test_an_end_that_comes_before_its_version_is_not_lost_in_silence(memory: Memory) -> None:
    """topoteretes/cognee#4105: closing what was not there did nothing."""
    said = claim("early end", "employer", "Acme", MARCH)
    (result,) = await memory.post(said)
    ended = {"type": "end", "subject": "early end", "key": "employer", "version_id": result["version_id"]}
    other = claim("early end", "employer", "Umbrella", JULY)
    await memory.tell({**ended, "effective_at": JUNE}, other)
    events = (await memory.history(result["fact_id"], "events"))["events"]
    assert "FactEnded" in {event["event_type"] for event in events}
    await memory.tell(said)
    assert (await memory.answer("early end", "employer", valid_at="2026-06-15T00:00:00Z"))["reason"] == "ended"
    assert (await memory.answer("early end", "employer", valid_at="2026-05-01T00:00:00Z"))["value"] == "Acme"


async def test_as_of_does_not_bring_superseded_facts_back(memory: Memory) -> None:
    """moorcheh-ai/memanto#1279: what was known then is kept apart from what held then."""
    await memory.tell(claim("as of", "location.current", "Paris", MARCH, recorded_at=MARCH))
    await memory.tell(claim("as of", "location.current", "Rome", JUNE, recorded_at=JUNE))
    (paris,) = await memory.tell(claim("as of", "location.current", "Paris", MARCH, recorded_at=JULY))
    assert (await memory.answer("as of", "location.current", as_of=JULY))["value"] == "Rome"
    assert (await memory.answer("as of", "location.current", as_of="2026-05-01T00:00:00Z"))["value"] == "Paris"
    assert len((await memory.history(paris["fact_id"], "events"))["events"]) == 2


async def test_a_conflict_loses_neither_side_and_is_shown_side_by_side(memory: Memory) -> None:
    """moorcheh-ai/memanto#1418, Agentscreator/engram-memory#267, knacklabs/gantry#311, letta-ai/letta#3431."""
    await memory.tell(claim("sides", "employer", "Acme", MARCH), claim("sides", "employer", "Umbrella", JUNE))
    answer = await memory.answer("sides", "employer")
    assert answer["kind"] == "conflict"
    assert {version["value"] for version in answer["versions"]} == {"Acme", "Umbrella"}
    (conflict,) = (await memory.world.get("/v1/conflicts", subject="sides"))["conflicts"]
    assert {conflict[side]["value"] for side in ("left", "right")} == {"Acme", "Umbrella"}
    assert all(conflict[side]["source_id"] for side in ("left", "right"))


async def test_what_was_revoked_does_not_survive_in_anything_derived(memory: Memory) -> None:
    """getzep/graphiti#1837: a deleted fact lived on inside a summary."""
    (wrong,) = await memory.tell(claim("derived", "employer", "Initech", MARCH))
    revoke = {"type": "revoke", "subject": "derived", "key": "employer", "version_id": wrong["version_id"]}
    await memory.tell(revoke)
    assert (await memory.answer("derived", "employer"))["reason"] == "revoked"
    for path in ("/v1/facts", "/v1/conflicts", "/v1/context"):
        body = await memory.world.http.get(path, params={"subject": "derived"})
        assert (body.status_code, b"Initech" in body.content) == (200, False)
