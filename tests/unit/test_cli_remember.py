from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from chronofact.cli.outcome import ExitCode
from tests.unit.scripted_service import Told, serving
from tests.unit.test_cli import Command
from tests.unit.test_client import ID, accepted, rejected, token

FRAME = {
    "entity": "user",
    "slot": "switch",
    "value": "go",
    "temporality": "change",
    "cues": ["changed"],
    "line": "n:user V:switch P:to N:go",
}


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
        f"  held against the others next; what came of it: chronofact relations --version-id {ID['a']}",
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
    for line_end in ("", "\n", "\r\n"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"User prefers\nPython{line_end}"))
        with serving(remembered()) as writer:
            chronofact("remember", "ana", "-", "--writer", writer.url)
        assert writer.asked[0].json()["text"] == "User prefers\nPython"


def lines(*several: Any) -> bytes:
    return b"".join(orjson.dumps(one) + b"\n" for one in several)


def test_many_come_from_a_file_and_lack_what_the_command_says(chronofact: Command, tmp_path: Path) -> None:
    whole = b'{"subject":"bob","category":"work","scope":"task:t","source":{"id":"s"},"text":"a","text":"b"}\n'
    file = tmp_path / "memories.ndjson"
    file.write_bytes(lines({"text": "User likes tea", "valid_from": "2026-03-01T00:00:00Z"}) + b"\n" + whole + b"{\n")
    told = [accepted(token(p0=1)), rejected(1), rejected(2)]
    with serving(Told({"results": told, "position": token(p0=1)})) as writer:
        words = ("ana", "--file", str(file), "--source", "move", "--category", "note", "--scope", "task:u")
        assert chronofact("remember", *words, "--writer", writer.url) == ExitCode.FAILED
    (asked,) = writer.asked
    assert asked.path == "/v1/memories"
    first, second, third, *_ = asked.body.split(b"\n")
    assert orjson.loads(first) == {
        "subject": "ana",
        "category": "note",
        "scope": "task:u",
        "source": {"id": "move"},
        "text": "User likes tea",
        "valid_from": "2026-03-01T00:00:00Z",
    }
    assert (second + b"\n", third) == (whole, b"{")
    assert "1 accepted, 2 rejected" in chronofact.out
    assert f"{file}.rejected.ndjson (lines 3, 4)" in chronofact.out


def test_a_long_file_goes_in_small_requests_and_says_so_as_json(chronofact: Command, tmp_path: Path) -> None:
    file = tmp_path / "memories.ndjson"
    file.write_bytes(lines(*({"text": f"User likes {number}"} for number in range(450))))
    script = [Told({"results": [accepted(token(p0=1))] * size, "position": token(p0=1)}) for size in (200, 200, 50)]
    with serving(*script) as writer:
        assert chronofact("remember", "ana", "--file", str(file), "--json", "--writer", writer.url) == ExitCode.DONE
    assert len(writer.asked) == 3
    assert orjson.loads(chronofact.out)["accepted"] == 450


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("ana",),
        ("ana", "text", "--file", "-"),
        ("ana", "--file", "-", "--dry-run"),
        ("ana", "--file", "-", "--valid-from", "2026-03-01"),
        ("ana", "--file", "/nowhere"),
    ],
)
def test_what_can_not_be_meant_is_a_wrong_usage(chronofact: Command, words: tuple[str, ...]) -> None:
    assert chronofact("remember", *words, "--writer", "http://127.0.0.1:9") == ExitCode.USAGE


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
