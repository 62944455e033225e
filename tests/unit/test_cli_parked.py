"""``chronofact parked`` without a stack: help that teaches, and refusals that name the remedy."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import pytest

from chronofact.cli.__main__ import main
from chronofact.cli.parked_told import content_of, remedy
from chronofact.contracts.error_codes import CODES
from tests.integration.saying import Fact


class Command:
    """`chronofact` in this process, in an empty folder."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "160")
        self.out = ""
        self.err = ""

    def __call__(self, *arguments: str) -> int:
        self._monkeypatch.setattr(sys, "argv", ["chronofact", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        self.out, self.err = self._capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code


@pytest.fixture
def chronofact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(monkeypatch, capsys, tmp_path)


@pytest.fixture
def nowhere() -> str:
    """A Postgres that is not there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"postgresql://127.0.0.1:{port}/nothing"


def test_help_teaches_what_parked_means_and_what_each_command_does(chronofact: Command) -> None:
    assert chronofact("parked", "--help") == 0
    assert all(word in chronofact.out for word in ("held", "stale", "list", "show", "release", "drop"))
    for name, taught in (
        ("list", "--dropped"),
        ("show", "PARTITION:OFFSET"),
        ("release", "as if it had never been parked"),
        ("drop", "can't be taken back"),
    ):
        assert chronofact("parked", name, "--help") == 0
        assert taught in " ".join(chronofact.out.split())


def test_without_a_folder_of_a_stack_the_remedy_is_named(chronofact: Command) -> None:
    assert chronofact("parked", "list", "--data", "nothing") == 3
    assert "chronofact up" in chronofact.err


def test_a_postgres_that_is_away_is_unreachable(
    chronofact: Command, monkeypatch: pytest.MonkeyPatch, nowhere: str
) -> None:
    monkeypatch.setenv("CHRONOFACT_POSTGRES", nowhere)
    for arguments in (("list",), ("show", "1:2"), ("release", "--all"), ("drop", "1:2", "--reason", "no use")):
        assert chronofact("parked", *arguments) == 3
        assert "CHRONOFACT_POSTGRES" in chronofact.err


def test_the_stack_of_this_folder_is_asked_by_itself(chronofact: Command, nowhere: str) -> None:
    Path(".chronofact").mkdir()
    Path(".chronofact/stack.json").write_text(json.dumps({"postgres": nowhere, "writer": "127.0.0.1:1"}))
    assert chronofact("parked", "list") == 3
    assert "postgres_away" in chronofact.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "3"), "PARTITION:OFFSET"),
        (("show", "99999:1"), "PARTITION:OFFSET"),
        (("drop", "3:1"), "--reason"),
        (("drop", "x", "--reason", "no use"), "PARTITION:OFFSET"),
        (("release",), "--all"),
        (("release", "3:1", "--all"), "--all"),
        (("list", "--code", "event_undecodeable"), "did you mean event_undecodable?"),
        (("release", "--code", "TYPO"), "is no code"),
        (("list", "--partition", "99"), "partitions 0 to"),
        (("drop", "--reason", "no use"), "--all"),
        (("drop", "3:1", "--code", "value_missing", "--reason", "no use"), "--all"),
        (("drop", "--partition", "99", "--reason", "no use"), "partitions 0 to"),
        (("list", "--limit", "0"), "--limit"),
    ],
)
def test_wrong_usage_ends_with_2(
    chronofact: Command, monkeypatch: pytest.MonkeyPatch, nowhere: str, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.setenv("CHRONOFACT_POSTGRES", nowhere)
    assert chronofact("parked", *arguments) == 2
    assert told in chronofact.err


def test_what_parks_a_message_has_a_remedy() -> None:
    assert "drop" in remedy("held")
    assert all(remedy(code) for code in CODES)


def test_a_message_is_shown_as_far_as_it_can_be_read() -> None:
    content = content_of(Fact("ada").asserts("npm").value)
    assert (content["event"]["kind"], content["event"]["payload"]["value"]) == ("FactAsserted", "npm")
    undecodable = content_of(b"\x00" * 100)
    assert (undecodable["event"], len(undecodable["begins"])) == (None, 64 * 3 - 1)
    assert content_of(b"")["event"] is None
