"""What others said reaches a terminal without its control, direction and invisible characters."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest

from chronofact.cli.changes import _show
from chronofact.cli.conflicts import _asked
from chronofact.cli.reads import show
from chronofact.cli.render import conflicts_told, events_told
from chronofact.cli.why import _rendered
from chronofact.client.answers import Fact
from chronofact.client.changes import Change, ChangedAnswer

HOSTILE = "\x1b]0;pwn\x07\x1b[2J\u202ex\nOPEN  forged\u3164"
ID = str(UUID(int=7))
BOUNDS: list[str | None] = [None, None]


def side(value: Any) -> dict[str, Any]:
    return {"version_id": ID, "value": value, "valid_during": BOUNDS, "source_id": HOSTILE}


def edge() -> dict[str, Any]:
    return {
        "relation": "OPEN",
        "fact": {"key": "k", "subject": HOSTILE, "scope": "user:self"},
        "recorded_at": "2026-03-01T00:00:00Z",
        "left": side(HOSTILE),
        "right": side({HOSTILE: [HOSTILE]}),
        "decision": {"keep": None, "decided_by": HOSTILE, "decided_at": "2026-03-01T00:00:00Z", "reason": HOSTILE},
        "settle": {"subject": HOSTILE},
    }


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    text = capsys.readouterr().out
    assert all(one.isprintable() or one == "\n" for one in text), repr(text)
    assert "\u3164" not in text
    return text


def test_conflicts_are_shown_without_raw_controls(capsys: pytest.CaptureFixture[str]) -> None:
    body = {"conflicts": [edge()], "cursor": None}
    show(body, lambda: conflicts_told(body["conflicts"] or []), json=False)
    assert r"\u001b" in printed(capsys)


def test_a_pair_to_settle_is_shown_escaped_and_settled_by_its_own_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chronofact.cli.conflicts._choice", lambda: "l")
    ((asked, kept),) = _asked([edge()])
    assert (asked["settle"]["subject"], kept) == (HOSTILE, ID)
    printed(capsys)


def test_events_are_shown_without_raw_controls(capsys: pytest.CaptureFixture[str]) -> None:
    payload = {"version_id": ID, "value": HOSTILE, "valid_from": None, "valid_to": None, "source_id": HOSTILE}
    event = {"event_seq": 1, "recorded_at": None, "event_type": "FactAsserted", "version_ids": [ID], "payload": payload}
    body = {"events": [event]}
    show(body, lambda: events_told(body["events"]), json=False)
    printed(capsys)


def test_reasons_why_are_shown_without_raw_controls(capsys: pytest.CaptureFixture[str]) -> None:
    fresh = {"projection": "p1", "rule": 1, "lag_events": 0, "lag_s": 0, "stale": False}
    version = {**side(HOSTILE), "valid_to": None, "standing": "eligible"}
    fact = {"key": "k", "subject": HOSTILE, "scope": "user:self"}
    body = {"fact": fact, "sentences": [HOSTILE], "freshness": fresh, "versions": [version], "versions_count": 1}
    show(body, lambda: _rendered(body), json=False)
    printed(capsys)


def test_changes_are_shown_without_raw_controls(capsys: pytest.CaptureFixture[str]) -> None:
    fact = Fact(UUID(int=1), HOSTILE, "user:self", "k")
    changed = ChangedAnswer("value", (None, None), value=HOSTILE)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    _show(Change("a", fact, UUID(int=2), 1, "FactAsserted", at, (changed,), {}), json=False)
    assert r"\u001b]0;pwn\u0007" in printed(capsys)


def test_json_is_json_with_the_text_itself(capsys: pytest.CaptureFixture[str]) -> None:
    show({"value": HOSTILE}, lambda: "", json=True)
    assert orjson.loads(capsys.readouterr().out) == {"value": HOSTILE}
