from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from chronofact.cli.outcome import ExitCode
from chronofact.client import Client, Refused
from tests.unit.scripted_service import Told, serving
from tests.unit.test_cli import Command
from tests.unit.test_client import token

AT = "2026-06-17T10:30:00Z"
WINDOW = {"valid_from": "2026-06-08T00:00:00Z", "valid_to": None}
MEMORY = WINDOW | {"text": "I moved to \x1b[31mOslo last week."}
FACT = WINDOW | {"key": "residence", "value": "oslo", "succession": "explicit", "blocked_by": "additive"}
TURNS = [{"role": "user", "text": "I moved to Oslo last week.", "at": AT}, {"role": "assistant", "text": "Nice!"}]


def talk(*, position: str | None = "") -> Told:
    first = {
        "index": 0,
        "role": "user",
        "memories": [MEMORY],
        "facts": [FACT],
        "not_taken": [{"reason": "dates_several"}],
    }
    last = {"index": 1, "role": "assistant", "memories": [], "facts": [], "not_taken": [{"reason": "context"}]}
    return Told({"turns": [first, last], "position": token(p3=7) if position == "" else position}, status=201)


@pytest.fixture
def chronofact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


@pytest.fixture(params=["array", "lines"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "chat-17.json"
    path.write_bytes(orjson.dumps(TURNS) if request.param == "array" else b"\n\n".join(map(orjson.dumps, TURNS)))
    return path


def test_a_conversation_is_sent_and_told(chronofact: Command, file: Path) -> None:
    with serving(talk()) as writer:
        code = chronofact("interact", str(file), "--subject", "ana", "--writer", writer.url)
    assert code == ExitCode.DONE
    (asked,) = writer.asked
    assert asked.path == "/v1/interactions"
    assert asked.json() == {"subject": "ana", "source": {"id": "chat-17.json"}, "turns": TURNS}
    assert chronofact.out.splitlines() == [
        "0  memory  I moved to \N{REPLACEMENT CHARACTER}[31mOslo last week.  [2026-06-08T00:00:00Z, open)",
        "0  fact    residence = oslo  [2026-06-08T00:00:00Z, open)  (explicit: additive)",
        "0  not     dates_several",
        "kept 1 memory and 1 fact of 2 turns",
    ]


def test_a_trial_by_stdin_as_json(chronofact: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(orjson.dumps(TURNS))))
    with serving(talk(position=None)) as writer:
        asked = ("interact", "-", "--subject", "ana", "--source", "chat", "--category", "note", "--dry-run", "--json")
        assert chronofact(*asked, "--writer", writer.url) == ExitCode.DONE
    assert writer.asked[0].params == [("dry_run", "true")]
    assert (writer.asked[0].json()["source"], writer.asked[0].json()["category"]) == ({"id": "chat"}, "note")
    assert orjson.loads(chronofact.out)["turns"][0]["facts"] == [FACT]


@pytest.mark.parametrize("text", ["{", "[1]", '[{"role": "user"}]', '{"role": "user", "text": "a", "speaker": "b"}'])
def test_a_file_that_holds_no_turns_is_not_sent(chronofact: Command, tmp_path: Path, text: str) -> None:
    path = tmp_path / "chat.json"
    path.write_text(text)
    assert chronofact("interact", str(path), "--subject", "ana") == ExitCode.USAGE
    assert chronofact("interact", str(tmp_path / "nowhere"), "--subject", "ana") == ExitCode.USAGE


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        ({"role": "user"}, "turn 1 lacks text"),
        ({"role": "user", "content": "a"}, "turn 1 has content; what others call content is text here"),
        ({"role": "user", "text": "a", "speaker": "b"}, "turn 1 has speaker; a turn has role, text and perhaps at"),
        ("a", "turn 1 is no object"),
    ],
)
def test_what_is_amiss_with_a_turn_is_named(chronofact: Command, tmp_path: Path, turn: object, why: str) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(orjson.dumps([TURNS[0], turn]))
    assert chronofact("interact", str(path), "--subject", "ana") == ExitCode.USAGE
    assert why in " ".join(chronofact.err.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", " ").split())


@pytest.mark.parametrize(
    ("at", "code"), [("2026-06-17", "instant_malformed"), ("2026-06-17T10:30:00", "offset_missing")]
)
def test_a_time_of_a_turn_that_is_no_instant_is_refused_as_the_writer_does(
    chronofact: Command, tmp_path: Path, at: str, code: str
) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(orjson.dumps([TURNS[0] | {"at": at}]))
    assert chronofact("interact", str(path), "--subject", "ana", "--writer", "http://127.0.0.1:1") == ExitCode.FAILED
    assert chronofact.err.startswith(f"refused: {code} at turns.0.at: ")


def test_a_mark_of_byte_order_at_the_beginning_is_no_part_of_a_conversation(
    chronofact: Command, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(b"\xef\xbb\xbf" + orjson.dumps(TURNS))
    with serving(talk()) as writer:
        assert chronofact("interact", str(path), "--subject", "ana", "--writer", writer.url) == ExitCode.DONE
    assert writer.asked[0].json()["turns"] == TURNS


def test_the_client_remembers_the_position_and_names_what_was_wrong() -> None:
    said: list[dict[str, Any]] = [{"role": "user", "text": "a", "at": "2026-06-17T12:30:00+02:00"}]
    error = {"code": "nul_character", "message": "text", "field": "turns.0.text", "index": 0}
    with serving(talk(), Told({"error": error}, 422)) as writer, Client(writer=writer.url) as client:
        told = client.interact("ana", said, source="chat", scope="repo:acme/web")
        assert client.position == told["position"] == token(p3=7)
        with pytest.raises(Refused, match="nul_character"):
            client.interact("ana", said, source="chat")
    assert writer.asked[0].json()["turns"][0]["at"] == AT
    assert writer.asked[0].json()["scope"] == "repo:acme/web"
