"""``memories`` and ``relations`` ask what was meant and show what is known, nothing of it as a terminal's command."""

from __future__ import annotations

from typing import Any

import pytest

from chronofact.client import AsyncClient, Client
from tests.unit.scripted_service import Told, serving
from tests.unit.test_cli import Command
from tests.unit.test_client import FRESH

ONE, OTHER = "0190a0a0-0000-7000-8000-000000000001", "0190a0a0-0000-7000-8000-000000000002"


@pytest.fixture
def chronofact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def memory(text: str, **changed: Any) -> dict[str, Any]:
    return {
        "version_id": ONE,
        "text": text,
        "category": "preference",
        "valid_during": ["2026-03-01T00:00:00Z", None],
        "source_id": "chat-1",
        "standing": "eligible",
        "superseded_by": None,
        "merged_into": None,
        "pending_review": False,
        "pending_pairs": False,
        "checked": True,
    } | changed


def page(*memories: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {
        "memories": list(memories),
        "searched": None,
        "left_out": {"superseded": 2, "merged": 0, "pending_pairs": 1},
        "cursor": None,
        "freshness": FRESH,
    } | changed


FACT = {"fact_id": OTHER, "subject": "ana", "scope": "user:self", "key": "memory/preference"}
PENDING = {
    "left": ONE,
    "right": OTHER,
    "reason": "model_not_configured",
    "since": "2026-06-01T00:00:00Z",
    "age_s": 7_300.5,
    "left_text": "User prefers Python\x1b[2J",
    "right_text": "User is switching to Go",
    "left_valid_from": "2026-03-01T00:00:00Z",
    "right_valid_from": None,
    "fact_id": OTHER,
    "fact": FACT,
    "decide_command": f"chronofact decide {ONE} {OTHER}",
}
RELATION = {
    "left": ONE,
    "right": OTHER,
    "relation": "supersedes",
    "newer": OTHER,
    "decided_by": "rule",
    "reason": "slot_changed",
    "llm_call_made": False,
    "decided_at": "2026-06-01T00:00:00Z",
    "left_text": "User prefers Python",
    "right_text": "User is switching to Go",
}


def test_memories_are_listed_with_what_is_to_know_of_them(chronofact: Command) -> None:
    body = page(
        memory("User is switching to Go\x1b[2J"),
        memory(
            "User prefers Python", standing="superseded", superseded_by=OTHER, valid_during=[None, None], checked=False
        ),
        memory("User likes tea", standing="merged", merged_into=OTHER, pending_pairs=True),
    )
    with serving(Told(body)) as reader:
        assert (
            chronofact("memories", "ana", "--include", "superseded", "--include", "merged", "--reader", reader.url) == 0
        )
    assert reader.asked[0].params == [
        ("subject", "ana"),
        ("limit", "20"),
        ("include", "superseded"),
        ("include", "merged"),
    ]
    for shown in (
        "- User is switching to Go",
        "since 2026-03-01T00:00:00Z",
        f"start unknown; by chat-1; superseded by {OTHER}; not checked yet",
        f"merged by {OTHER}; pending pairs",
        "left out: 2 superseded, 1 waiting for a verdict; --include superseded --include pending_pairs shows them",
        "chronofact relations SUBJECT tells",
    ):
        assert shown in " ".join(chronofact.out.split())
    assert "\x1b[2J" not in chronofact.out


def test_a_search_by_words_alone_says_so(chronofact: Command) -> None:
    searched = {"words": True, "nearness": False, "because": "text_not_installed"}
    with serving(Told(page(searched=searched, left_out={}))) as reader:
        assert chronofact("memories", "ana", "which language", "--category", "work", "--reader", reader.url) == 0
    assert ("query", "which language") in reader.asked[0].params
    assert "no memories" in chronofact.out
    assert "searched by words alone: text_not_installed" in chronofact.out


def test_relations_are_told_in_the_order_of_the_change(chronofact: Command) -> None:
    nameless = PENDING | {"right": None, "right_text": None, "decide_command": None, "reason": "not_told"}
    body = {"relations": [RELATION], "pending": [nameless], "checked": False, "cursor": None, "freshness": FRESH}
    with serving(Told(body)) as reader:
        assert chronofact("relations", "--version-id", OTHER, "--wait-ms", "0", "--reader", reader.url) == 0
    assert reader.asked[0].params == [("version_id", OTHER), ("limit", "100"), ("wait_ms", "0")]
    told = " ".join(chronofact.out.split())
    assert "“User is switching to Go” supersedes “User prefers Python”" in told
    assert "by rule; 2026-06-01T00:00:00Z; slot_changed" in told
    assert "(since 2026-03-01T00:00:00Z) and others not_told; waits 2 h" in told
    assert "not all is checked yet" in told


def test_of_pairs_that_wait_as_many_are_shown_as_were_asked_for(chronofact: Command) -> None:
    body = {"relations": [], "pending": [PENDING] * 9, "checked": True, "cursor": None, "freshness": FRESH}
    with serving(Told(body)) as reader:
        assert chronofact("relations", "ana", "--limit", "2", "--reader", reader.url) == 0
    assert chronofact.out.count("model_not_configured") == 2
    assert "7 more wait" in chronofact.out


def test_a_pair_that_waits_is_told_with_both_texts_and_the_command_that_decides(chronofact: Command) -> None:
    body = {"relations": [], "pending": [PENDING], "checked": True, "cursor": None, "freshness": FRESH}
    with serving(Told(body)) as reader:
        assert chronofact("relations", "ana", "--reader", reader.url) == 0
    told = " ".join(chronofact.out.split())
    assert "(since 2026-03-01T00:00:00Z) and “User is switching to Go” (start unknown)" in told
    assert f"model_not_configured; waits 2 h chronofact decide {ONE} {OTHER}" in told
    assert "\x1b[2J" not in chronofact.out


def test_relations_of_nobody_are_a_wrong_usage(chronofact: Command) -> None:
    assert chronofact("relations") == 2
    assert "--version-id" in chronofact.err


def test_clients_ask_the_same() -> None:
    with serving(Told(page())) as reader, Client(reader=reader.url) as client:
        client.memories("ana", "tea", scope="task:t", include=["merged"], category="note", as_of="2026-06-01T00:00:00Z")
        client.relations(version_id=ONE, relation="supersedes", wait_ms=5)
    assert reader.asked[0].params == [
        ("subject", "ana"),
        ("query", "tea"),
        ("category", "note"),
        ("as_of", "2026-06-01T00:00:00Z"),
        ("scope", "task:t"),
        ("include", "merged"),
    ]
    assert reader.asked[1].params == [("version_id", ONE), ("relation", "supersedes"), ("wait_ms", "5")]


async def test_and_so_does_the_one_of_an_event_loop() -> None:
    with serving(Told(page())) as reader:
        async with AsyncClient(reader=reader.url) as client:
            assert (await client.memories("ana", include="superseded"))["memories"] == []
            await client.relations("ana")
    assert [asked.path for asked in reader.asked] == ["/v1/memories", "/v1/relations"]
