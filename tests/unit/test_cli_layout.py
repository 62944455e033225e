"""What the commands print at the width of a usual terminal: nothing to be copied is cut, no instant is broken."""

from __future__ import annotations

from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.counted import counted
from tests.unit.scripted_service import Told, serving
from tests.unit.test_cli import Command, chronofact, claim
from tests.unit.test_client import AT, FACT, FRESH, ID, answer, value

__all__ = ["chronofact"]
WIDTH = 80
COMMAND = f"chronofact conflicts settle --fact {ID['fact']} --left {ID['a']} --right {ID['b']} --keep left --reason WHY"


@pytest.fixture
def narrow(chronofact: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    chronofact.columns = WIDTH
    return chronofact


def test_the_command_that_settles_is_one_line_to_be_copied(narrow: Command) -> None:
    edge = {"relation": "OPEN", "fact": FACT, "left": claim("a", "npm"), "right": claim("b", "pnpm"), "recorded_at": AT}
    with serving(Told({"conflicts": [{**edge, "settle_command": COMMAND}], "cursor": None})) as reader:
        assert narrow("conflicts", "list", "--reader", reader.url) == 0
    assert COMMAND in narrow.out.splitlines()
    for name in ("a", "b"):
        assert ID[name] in narrow.out


def test_a_history_breaks_no_instant_and_names_whole_versions(narrow: Command) -> None:
    said = {"value": "npm " * 30, "valid_from": AT, "valid_to": None, "source_id": "chat-1", "version_id": ID["a"]}
    event = {"event_seq": 10, "event_type": "FactAsserted", "payload": said, "version_ids": [ID["a"]]}
    with serving(
        Told(value()), Told({"fact": FACT, "events": [{**event, "recorded_at": "2026-07-01T10:11:12.123456Z"}]})
    ) as reader:
        assert narrow("history", "ana", "package_manager", "--reader", reader.url) == 0
    assert all(shown in narrow.out for shown in ("2026-07-01", "10:11:12.123456", "FactAsserted"))
    assert any(line.startswith(f"{ID['a']}  npm npm") for line in narrow.out.splitlines())


def rectangles(count: int) -> list[dict[str, Any]]:
    bounds = [f"2026-07-{day:02}T10:11:12.123456Z" for day in range(1, count + 1)]
    return [
        {"kind": "value", "value": f"v{at}", "valid_during": [bounds[0], None], "known_during": [start, end]}
        for at, (start, end) in enumerate(zip(bounds, [*bounds[1:], None], strict=True))
    ]


def test_a_timeline_shows_the_columns_that_fit_and_breaks_no_instant(narrow: Command) -> None:
    with serving(Told(value()), Told({"fact": FACT, "timeline": rectangles(9)})) as reader:
        assert narrow("timeline", "ana", "package_manager", "--reader", reader.url) == 0
    lines = narrow.out.splitlines()
    assert max(map(len, lines)) <= WIDTH
    (days,) = (line for line in lines if "2026-07-09" in line)
    assert days.count("2026-07-") == narrow.out.count("10:11:12.123456") - 1
    assert f"{9 - days.count('2026-07-')} earlier columns left out; --columns 9 shows all" in narrow.out


def test_an_unknown_holds_nothing(narrow: Command) -> None:
    nothing = answer("unknown", reason="never_recorded", valid_during=[None, None])
    with serving(Told(nothing)) as reader:
        assert narrow("resolve", "ana", "package_manager", "--reader", reader.url) == 0
    assert "for all valid time" in narrow.out
    assert "holds" not in narrow.out
    del nothing["freshness"]
    with serving(Told({"facts": [nothing], "cursor": None, "freshness": {**FRESH, "stale": True}})) as reader:
        assert narrow("facts", "ana", "--reader", reader.url) == 0
    assert "always" not in narrow.out
    assert "STALE" in narrow.out


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(number, "fact") for number in (0, 1, 2_000)] == ["0 facts", "1 fact", "2,000 facts"]
    assert counted(2, "entry", "entries") == "2 entries"


def test_no_paragraph_of_a_help_is_broken_in_its_middle() -> None:
    def walk(command: Any) -> list[str]:
        _, *rest = (command.help or "").split("\n\n")
        own = [f"{command.name}: {one}" for one in rest if "\n" in one.strip()]
        return own + [one for each in getattr(command, "commands", {}).values() for one in walk(each)]

    assert walk(get_command(app)) == []


def test_no_help_names_the_type_of_what_takes_no_value() -> None:
    said = [
        CliRunner().invoke(app, [*words, "--help"]).output
        for words in ((), ("verify",), ("rebuild", "start"), ("topics",))
    ]
    assert all("--help" in one for one in said)
    assert not any("<bool>" in one for one in said)
