"""Too much retired, too little, or the wrong one: each test is named after what users of such memories reported."""

from __future__ import annotations

import pytest

from tests.integration.remembering import Memory, claim

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARCH, JUNE, JULY = "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"


async def test_history_added_after_the_fact_closes_the_older_statement(memory: Memory) -> None:
    """getzep/graphiti#139."""
    await memory.tell(claim("late", "location.current", "Rome", JUNE))
    await memory.tell(claim("late", "location.current", "Oslo", MARCH))
    now = await memory.answer("late", "location.current")
    assert (now["value"], now["valid_during"]) == ("Rome", [JUNE, None])
    before = await memory.answer("late", "location.current", valid_at="2026-05-01T00:00:00Z")
    assert (before["value"], before["valid_during"]) == ("Oslo", [MARCH, JUNE])


async def test_the_same_fact_true_in_two_periods_is_not_merged_into_one(memory: Memory) -> None:
    """getzep/graphiti#1865."""
    first, second = await memory.tell(
        claim("twice", "employer", "Acme", MARCH, valid_to=JUNE), claim("twice", "employer", "Acme", JULY)
    )
    assert first["version_id"] != second["version_id"]
    gap = await memory.answer("twice", "employer", valid_at="2026-06-15T00:00:00Z")
    assert (gap["kind"], gap["reason"]) == ("unknown", "ended")
    back = await memory.answer("twice", "employer", valid_at="2026-08-01T00:00:00Z")
    assert (back["value"], back["valid_during"]) == ("Acme", [JULY, None])


async def test_telling_it_the_same_thing_twice_deletes_nothing(memory: Memory) -> None:
    """mem0ai/mem0#1674."""
    said = claim("again", "employer", "Acme", MARCH)
    first, second = await memory.tell(said, said)
    assert first["event_id"] == second["event_id"]
    await memory.tell(said)
    answer = await memory.answer("again", "employer")
    assert (answer["value"], answer["version_id"]) == ("Acme", first["version_id"])
    events = await memory.history(first["fact_id"], "events")
    assert len(events["events"]) == 1


async def test_going_a_b_a_leaves_one_value_current(memory: Memory) -> None:
    """imtms/tagent-core#78."""
    await memory.tell(
        claim("aba", "status.current", "A", MARCH),
        claim("aba", "status.current", "B", JUNE),
        claim("aba", "status.current", "A", JULY, source="said again"),
    )
    for valid_at, value in [(MARCH, "A"), (JUNE, "B"), (JULY, "A")]:
        answer = await memory.answer("aba", "status.current", valid_at=valid_at)
        assert (answer["kind"], answer["value"]) == ("value", value)


async def test_a_real_update_is_not_labelled_a_rival_claim(memory: Memory) -> None:
    """inite-ai/inite-brain-service#465."""
    first, _ = await memory.tell(
        claim("update", "location.current", "Paris", MARCH), claim("update", "location.current", "Rome", JUNE)
    )
    listed = await memory.world.get("/v1/conflicts", subject="update")
    assert listed["conflicts"] == []
    (old, new) = (await memory.history(first["fact_id"], "versions"))["versions"]
    assert (old["lifecycle"], new["lifecycle"]) == ("SUPERSEDED", "ACTIVE")
    assert old["superseded_by_id"] == new["version_id"]


async def test_a_supersedes_link_switches_the_old_one_off(memory: Memory) -> None:
    """1jehuang/jcode#1104."""
    (old,) = await memory.tell(claim("link", "editor", "vi", MARCH))
    edge = {"version_id": old["version_id"]}
    await memory.tell(claim("link", "editor", "emacs", JUNE, supersedes=edge))
    answer = await memory.answer("link", "editor")
    assert (answer["kind"], answer["value"]) == ("value", "emacs")


async def test_a_duplicate_of_what_was_superseded_does_not_keep_it_alive(memory: Memory) -> None:
    """1jehuang/jcode#960: the same claim again is the same version, and a declared duplicate goes with its group."""
    old_claim = claim("duplicate", "editor", "vi", MARCH)
    (old,) = await memory.tell(old_claim)
    await memory.tell(claim("duplicate", "editor", "emacs", JUNE, supersedes={"version_id": old["version_id"]}))
    await memory.tell(old_claim)
    assert (await memory.answer("duplicate", "editor"))["value"] == "emacs"
    texts = [claim("duplicate", "memory/tools", text, MARCH) for text in ("uses vi", "is using vi")]
    one, other = await memory.tell(*texts)
    (new,) = await memory.tell(
        claim("duplicate", "memory/tools", "uses emacs", JUNE, supersedes={"version_id": other["version_id"]})
    )
    pair = {"left_version_id": one["version_id"], "right_version_id": other["version_id"]}
    decided = {"decided_at": JULY, "decided_by": "model", "relation": "near_duplicate"}
    await memory.tell({"type": "declare_relation", "subject": "duplicate", "key": "memory/tools", **pair, **decided})
    answer = await memory.answer("duplicate", "memory/tools")
    assert [value["version_id"] for value in answer["values"]] == [new["version_id"]]


async def test_a_bounded_exception_does_not_close_the_rule(memory: Memory) -> None:
    """getzep/graphiti#1729, the commonest wrong retirement: an exception taken for a replacement."""
    (rule,) = await memory.tell(claim("exception", "package_manager", "npm", MARCH))
    edge = {"version_id": rule["version_id"]}
    await memory.tell(claim("exception", "package_manager", "pnpm", JUNE, valid_to=JULY, supersedes=edge))
    for valid_at, value in [(MARCH, "npm"), (JUNE, "pnpm"), (JULY, "npm")]:
        assert (await memory.answer("exception", "package_manager", valid_at=valid_at))["value"] == value


async def test_values_that_never_overlap_are_no_contradiction(memory: Memory) -> None:
    """getzep/graphiti#1804."""
    await memory.tell(
        claim("apart", "employer", "Acme", MARCH, valid_to=JUNE), claim("apart", "employer", "Umbrella", JUNE)
    )
    assert (await memory.world.get("/v1/conflicts", subject="apart"))["conflicts"] == []


async def test_different_memories_are_never_deduplicated(memory: Memory) -> None:
    """headroomlabs-ai/headroom#2303, cniska/acolyte#148: nothing is merged for being similar."""
    texts = ["prefers Python", "prefers Python 3", "prefers python", "prefers Python "]
    said = await memory.tell(*(claim("similar", "memory/preferences", text, MARCH) for text in texts))
    assert len({one["version_id"] for one in said}) == len(texts)
    answer = await memory.answer("similar", "memory/preferences")
    assert sorted(value["value"] for value in answer["values"]) == sorted(texts)


async def test_each_retirement_names_what_retired_it(memory: Memory) -> None:
    """getzep/graphiti#1729: an audit can follow every one."""
    said = [claim("audit", "location.current", f"place {day}", f"2026-03-{day:02}T00:00:00Z") for day in range(1, 10)]
    results = await memory.tell(*said)
    versions = (await memory.history(results[0]["fact_id"], "versions"))["versions"]
    known = {version["version_id"] for version in versions}
    retired = [version for version in versions if version["lifecycle"] == "SUPERSEDED"]
    assert len(retired) == 8
    assert all(version["superseded_by_id"] in known for version in retired)
