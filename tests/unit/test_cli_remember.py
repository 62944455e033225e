from __future__ import annotations

import io
import sys
from typing import Any

import orjson
import pytest

from chronofact.cli.outcome import ExitCode
from tests.unit.scripted_service import Told, serving
from tests.unit.test_cli import Command
from tests.unit.test_client import ID, accepted, token

FRAME = {"entity": "user", "slot": "switch", "value": "go", "temporality": "change", "cues": ["changed"]}


@pytest.fixture
def chronofact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def remembered(*frames: dict[str, Any]) -> Told:
    return Told(accepted(token(p0=1)) | {"frames": list(frames)}, status=201)


def test_a_text_is_kept_and_its_frames_are_shown(chronofact: Command) -> None:
    with serving(remembered(FRAME)) as writer:
        code = chronofact(
            *("remember", "ana", "User is switching to Go", "--category", "preference"),
            *("--valid-from", "2026-06-01", "--source", "chat-9", "--writer", writer.url),
        )
    assert code == ExitCode.DONE
    sent = writer.asked[0].json()
    assert (sent["category"], sent["valid_from"], sent["source"]["id"]) == (
        "preference",
        "2026-06-01T00:00:00Z",
        "chat-9",
    )
    assert chronofact.out.splitlines() == [
        f"kept in memory/preference of ana: {ID['a']}",
        "  user · switch · go (cues changed; temporality change)",
    ]


def test_a_start_that_is_not_said_is_not_sent(chronofact: Command) -> None:
    with serving(remembered()) as writer:
        assert chronofact("remember", "ana", "User likes tea", "--writer", writer.url) == ExitCode.DONE
    assert not {"valid_from", "valid_to"} & writer.asked[0].json().keys()
    assert "no frames found" in chronofact.out


def test_json_is_one_line(chronofact: Command) -> None:
    with serving(remembered(FRAME)) as writer:
        chronofact("remember", "ana", "User is switching to Go", "--writer", writer.url, "--json")
    (line,) = chronofact.out.splitlines()
    assert orjson.loads(line)["frames"] == [FRAME]


def test_a_text_may_come_by_stdin(chronofact: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("User prefers\nPython"))
    with serving(remembered()) as writer:
        chronofact("remember", "ana", "-", "--writer", writer.url)
    assert writer.asked[0].json()["text"] == "User prefers\nPython"


def test_a_text_can_not_command_the_terminal(chronofact: Command) -> None:
    with serving(remembered(FRAME | {"value": "\x1b[31mgo\u202e"})) as writer:
        chronofact("remember", "ana", "a", "--writer", writer.url)
    assert "\x1b" not in chronofact.out
    assert "\u202e" not in chronofact.out


def test_a_writer_without_texts_names_what_helps(chronofact: Command) -> None:
    refusal = Told({"error": {"code": "text_not_installed", "message": "not installed: spacy"}}, 501)
    with serving(refusal) as writer:
        assert chronofact("remember", "ana", "a", "--writer", writer.url) == ExitCode.FAILED
    assert "text_not_installed" in chronofact.err
    assert "docs/memories.md" in chronofact.err


def test_an_empty_source_is_not_taken_for_none(chronofact: Command) -> None:
    with serving(remembered()) as writer:
        chronofact("remember", "ana", "User likes tea", "--source", "", "--writer", writer.url)
    assert not writer.asked[0].json()["source"]["id"]
