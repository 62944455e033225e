"""Dates that were lost, shifted, clamped or invented: each test is named after what was reported."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.integration.remembering import Memory, claim

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARCH, JUNE, JULY = "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"


@pytest.mark.parametrize("field", ["valid_from", "valid_to", "recorded_at"])
async def test_a_time_without_a_zone_never_meets_one_with(memory: Memory, field: str) -> None:
    """getzep/graphiti#920, #893: crash comparing zoned and unzoned times."""
    said = claim("zones", "employer", "Acme", **{field: "2026-03-01T00:00:00"})
    assert await memory.refused(said) == ("offset_missing", field)
    error = await memory.world.refusal(
        "/v1/resolve", 422, subject="zones", key="employer", valid_at="2026-03-01T00:00:00"
    )
    assert (error["code"], error["field"]) == ("offset_missing", "valid_at")


async def test_backfilled_text_does_not_get_todays_date_as_its_start(memory: Memory) -> None:
    """getzep/graphiti#1489, DeytaHQ/khora#994: an unknown start is open, not the time of ingest."""
    await memory.tell(claim("backfill", "employer", "Acme"))
    answer = await memory.answer("backfill", "employer", valid_at="1990-01-01T00:00:00Z")
    assert (answer["value"], answer["valid_during"]) == ("Acme", [None, None])


async def test_an_expiry_date_is_not_dropped(memory: Memory) -> None:
    """mem0ai/mem0#3696, #5508."""
    await memory.tell(claim("expiry", "token", "abc", MARCH, valid_to=JUNE))
    assert (await memory.answer("expiry", "token", valid_at="2026-05-31T23:59:59.999999Z"))["value"] == "abc"
    assert (await memory.answer("expiry", "token", valid_at=JUNE))["reason"] == "ended"


@pytest.mark.parametrize("said", ["2026-03-01T08:00:00+08:00", "2026-02-28T19:00:00-05:00", "2026-03-01T00:00:00Z"])
async def test_no_eight_hour_shift(memory: Memory, said: str) -> None:
    """MemTensor/MemOS#2369, Lexus2016/hermes-agent-evolution#1291."""
    subject = f"shift {said}"
    await memory.tell(claim(subject, "employer", "Acme", said))
    assert (await memory.answer(subject, "employer"))["valid_during"] == [MARCH, None]
    before = await memory.answer(subject, "employer", valid_at="2026-02-28T23:59:59.999999Z")
    assert before["reason"] == "not_yet_valid"


async def test_the_session_zone_of_a_sql_reader_moves_nothing(memory: Memory, shared_database: str) -> None:
    """Lexus2016/hermes-agent-evolution#1291, seen from SQL."""
    (said,) = await memory.tell(claim("session", "employer", "Acme", MARCH))
    found = set()
    for zone in ("UTC", "Asia/Shanghai", "America/New_York"):
        with psycopg.connect(shared_database, options=f"-c timezone={zone}") as connection:
            line = connection.execute(
                "select kind, lower(valid_during) = timestamptz '2026-03-01 00:00:00Z'"
                " from chronofact.resolve(%s::uuid, timestamptz '2026-03-01 00:00:00Z', null)",
                (said["fact_id"],),
            ).fetchone()
            found.add(line)
    assert found == {("value", True)}


async def test_every_time_can_be_said_and_is_kept_apart_from_when_it_was_learned(memory: Memory) -> None:
    """alphaonedev/ai-memory-mcp#2258: the field exists, no write call can set it."""
    (said,) = await memory.tell(claim("said", "employer", "Acme", MARCH, valid_to=JULY, recorded_at=JUNE))
    (version,) = (await memory.history(said["fact_id"], "versions"))["versions"]
    assert (version["valid_during"], version["recorded_at"]) == ([MARCH, JULY], JUNE)


async def test_a_start_before_what_was_known_is_not_clamped(memory: Memory) -> None:
    """xtdb/xtdb#5572."""
    await memory.tell(
        claim("clamp", "employer", "Acme", JUNE), claim("clamp", "employer", "Acme", "0001-01-01T00:00:00Z")
    )
    answer = await memory.answer("clamp", "employer", valid_at="1066-10-14T00:00:00Z")
    assert answer["valid_during"] == ["0001-01-01T00:00:00Z", None]


async def test_system_time_never_goes_backwards(memory: Memory) -> None:
    """xtdb/xtdb#3251, #4603."""
    (said, *_) = await memory.tell(
        claim("backwards", "employer", "Acme", MARCH, recorded_at=JULY),
        claim("backwards", "employer", "Umbrella", JUNE, recorded_at=MARCH),
    )
    events = (await memory.history(said["fact_id"], "events"))["events"]
    assert [event["recorded_at"] for event in events] == [JULY, JULY]


@pytest.mark.parametrize(("until", "code"), [(MARCH, "interval_reversed"), (JUNE, "interval_empty")])
async def test_an_inverted_interval_is_not_accepted(memory: Memory, until: str, code: str) -> None:
    """xtdb/xtdb#2494."""
    assert await memory.refused(claim("inverted", "employer", "Acme", JUNE, valid_to=until)) == (code, "valid_to")


async def test_an_end_without_words_closes_the_rest_and_no_more(memory: Memory) -> None:
    """xtdb/xtdb#4650, #326: which portion a change means by default."""
    (said,) = await memory.tell(claim("portion", "employer", "Acme", MARCH))
    end = {"type": "end", "subject": "portion", "key": "employer", "version_id": said["version_id"]}
    assert await memory.refused(end) == ("field_missing", "effective_at")
    await memory.tell({**end, "effective_at": JUNE})
    assert (await memory.answer("portion", "employer", valid_at=MARCH))["valid_during"] == [MARCH, JUNE]


async def test_a_retroactive_end_is_not_ignored(memory: Memory) -> None:
    """xtdb/xtdb#1442."""
    (said,) = await memory.tell(claim("retro", "employer", "Acme", MARCH, recorded_at=MARCH))
    end = {"type": "end", "subject": "retro", "key": "employer", "version_id": said["version_id"]}
    await memory.tell({**end, "effective_at": "2026-04-01T00:00:00Z", "recorded_at": JULY})
    asked: dict[str, Any] = {"valid_at": "2026-05-01T00:00:00Z"}
    assert (await memory.answer("retro", "employer", **asked))["reason"] == "ended"
    assert (await memory.answer("retro", "employer", **asked, as_of=JUNE))["value"] == "Acme"


async def test_two_updates_in_one_millisecond_hide_no_history(memory: Memory) -> None:
    """xtdb/xtdb#1837: both events stay, though what held only between them was never known by itself."""
    said = await memory.tell(
        claim("same ms", "status.current", "one", MARCH), claim("same ms", "status.current", "two", JUNE)
    )
    fact_id = said[0]["fact_id"]
    events = (await memory.history(fact_id, "events"))["events"]
    assert [event["event_seq"] for event in events] == [1, 2]
    assert len({event["recorded_at"] for event in events}) == 1
    assert (await memory.answer("same ms", "status.current", valid_at=MARCH))["value"] == "one"
    assert (await memory.answer("same ms", "status.current", valid_at=JUNE))["value"] == "two"
