from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from chronofact.cli.__main__ import main
from tests.unit.scripted_service import Told, serving
from tests.unit.test_client import AT, FACT, FRESH, ID, answer, value

HEAVY = ("pydantic", "httpx", "rich", "psycopg", "confluent_kafka", "fastapi", "psutil", "yaml")


class Command:
    """`chronofact` in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.columns = 120
        self.out = ""
        self.err = ""

    def __call__(self, *arguments: str) -> int:
        self._monkeypatch.setattr(sys, "argv", ["chronofact", *arguments])
        self._monkeypatch.setenv("COLUMNS", str(self.columns))
        with pytest.raises(SystemExit) as left:
            main()
        self.out, self.err = self._capsys.readouterr()
        assert isinstance(left.value.code, int)
        return left.value.code


@pytest.fixture
def chronofact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def test_start_up_imports_nothing_that_help_does_not_need() -> None:
    code = f"import sys, chronofact.cli.__main__; print([one for one in {HEAVY!r} if one in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_every_command_has_a_help(chronofact: Command) -> None:
    assert chronofact("--help") == 0
    for name in (
        "demo",
        "up",
        "down",
        "doctor",
        "import",
        "resolve",
        "facts",
        "history",
        "timeline",
        "conflicts",
        "context",
    ):
        assert name in chronofact.out
        assert chronofact(name, "--help") == 0
        assert chronofact("--help") == 0


def test_version(chronofact: Command) -> None:
    assert chronofact("--version") == 0
    assert chronofact.out.startswith("chronofact 0.")


def test_a_wrong_option_is_usage(chronofact: Command) -> None:
    assert chronofact("resolve", "ana", "k", "--no-such") == 2
    assert chronofact("resolve", "ana", "k", "--valid-at", "yesterday", "--reader", "http://127.0.0.1:9") == 2
    assert "RFC 3339" in chronofact.err


def test_no_stack_in_the_folder(chronofact: Command, tmp_path: Path) -> None:
    assert chronofact("resolve", "ana", "k", "--data", str(tmp_path)) == 3
    assert "chronofact up" in chronofact.err


def test_addresses_lie_in_the_folder(chronofact: Command, tmp_path: Path) -> None:
    with serving(Told(value())) as reader:
        (tmp_path / "stack.json").write_bytes(orjson.dumps({"writer": None, "reader": reader.url}))
        assert chronofact("resolve", "ana", "package_manager", "--data", str(tmp_path), "--tenant", "acme") == 0
    assert "pnpm" in chronofact.out
    assert reader.asked[0].headers["X-Tenant-Id"] == "acme"


def test_resolve_asks_at_two_instants(chronofact: Command) -> None:
    with serving(Told(value())) as reader:
        line = ["resolve", "ana", "package_manager", "--scope", "task:1", "--scope", "repo:acme/web"]
        days = ["--valid-at", "2026-07-10", "--as-of", "2026-08-01T00:00:00+02:00", "--reader", reader.url]
        assert chronofact(*line, *days, "--json") == 0
    assert orjson.loads(chronofact.out) == value()
    assert reader.asked[0].params[2:] == [
        ("scope", "task:1"),
        ("scope", "repo:acme/web"),
        ("valid_at", "2026-07-10T00:00:00Z"),
        ("as_of", "2026-08-01T00:00:00+02:00"),
    ]


def test_a_refusal_is_said_with_its_code(chronofact: Command) -> None:
    refusal = Told({"error": {"code": "role_missing", "message": "needs read", "field": None}}, 403)
    with serving(refusal) as reader:
        assert chronofact("facts", "ana", "--reader", reader.url) == 1
    assert "role_missing" in chronofact.err
    unknown = Told({"error": {"code": "token_missing", "message": "send the header", "field": None}}, 401)
    with serving(unknown) as reader:
        assert chronofact("facts", "ana", "--reader", reader.url) == 1
    assert "--token" in chronofact.err


def claim(name: str, held: Any) -> dict[str, Any]:
    bounds = ["2026-07-01T00:00:00Z", None]
    return {"version_id": ID[name], "value": held, "valid_during": bounds, "source_id": "s", "recorded_at": AT}


def test_a_text_with_brackets_is_shown_as_it_is(chronofact: Command) -> None:
    edges = [{"left": ID["a"], "right": ID["b"], "relation": "OPEN"}]
    contested = answer("conflict", versions=[claim("a", "[red]npm"), claim("b", "pnpm[/]")], edges=edges)
    with serving(Told({"facts": [contested], "cursor": None, "freshness": FRESH})) as reader:
        assert chronofact("facts", "ana", "--reader", reader.url) == 0
    assert "[red]npm or pnpm[/]" in chronofact.out


def test_conflicts_show_both_sides(chronofact: Command) -> None:
    edge = {"relation": "OPEN", "fact": FACT, "left": claim("a", "npm"), "right": claim("b", "pnpm"), "recorded_at": AT}
    with serving(Told({"conflicts": [edge], "cursor": "next"})) as reader:
        assert chronofact("conflicts", "ana", "--relation", "OPEN", "--reader", reader.url) == 0
    for shown in ("npm", "pnpm", ID["a"], ID["b"], "there is more"):
        assert shown in chronofact.out
    assert ("relation", "OPEN") in reader.asked[0].params


def test_a_command_to_be_copied_goes_where_this_one_went(chronofact: Command, tmp_path: Path) -> None:
    edge = {"relation": "OPEN", "fact": FACT, "left": claim("a", "npm"), "right": claim("b", "pnpm"), "recorded_at": AT}
    body = {"conflicts": [{**edge, "settle_command": "do it"}], "cursor": None}
    with serving(Told(body)) as reader:
        (tmp_path / "stack.json").write_text(orjson.dumps({"writer": None, "reader": reader.url}).decode())
        assert chronofact("conflicts", "--data", str(tmp_path), "--tenant", "big co") == 0
        assert f"do it --data {tmp_path} --tenant 'big co'" in chronofact.out.splitlines()
        assert chronofact("conflicts", "--data", str(tmp_path), "--tenant", "big co", "--json") == 0
        assert orjson.loads(chronofact.out)["conflicts"][0]["settle_command"] == "do it"


def test_conflicts_are_listed_with_or_without_saying_list(chronofact: Command) -> None:
    for words, named in (([], []), (["list"], []), (["list", "list"], ["list"]), (["ana", "k"], ["ana", "k"])):
        with serving(Told({"conflicts": [], "cursor": None})) as reader:
            assert chronofact("conflicts", *words, "--reader", reader.url, "--relation", "all") == 0
        assert reader.asked[0].params[:-1] == list(zip(("subject", "key"), named, strict=False))
    assert chronofact("conflicts", "--relation", "none") == 2


def test_settling_needs_a_fact_and_what_to_keep(chronofact: Command) -> None:
    assert chronofact("conflicts", "settle", "ana", "k", "--json") == 2
    assert "--keep" in chronofact.err
    assert chronofact("conflicts", "settle", "ana", "--keep", "left") == 2
    assert "--fact" in chronofact.err


def test_a_context_shows_its_lines_and_what_to_ask(chronofact: Command) -> None:
    question = {
        "kind": "conflict",
        "fact": FACT,
        "ask": "Which?",
        "sides": [],
        "settle": [],
        "settle_command": f"do [it] {'long ' * 40}now",
    }
    body = {
        "text": '- editor in user:self: "[red]vim" (always; source "s")',
        "left_out": 2,
        "too_long_count": 1,
        "unchecked_count": 1,
        "questions": [question],
        "questions_count": {"conflict": 4, "review": 0, "proposal": 0},
        "cursor": "next",
        "freshness": FRESH,
    }
    with serving(Told(body)) as reader:
        assert chronofact("context", "ana", "--scope", "task:t", "--scope", "user:self", "--reader", reader.url) == 0
    for shown in (body["text"], "3 left out", "1 line not compared", "Which?", "and 3 more questions"):
        assert str(shown) in chronofact.out
    assert question["settle_command"] in chronofact.out.splitlines()
    assert [one for one in reader.asked[0].params if one[0] == "scope"] == [("scope", "task:t"), ("scope", "user:self")]
    with serving(Told(body)) as reader:
        assert chronofact("context", "ana", "--text", "--reader", reader.url) == 0
    assert chronofact.out == f"{body['text']}\n"
    stale = {**FRESH, "stale": True, "because": "held", "held": 1}
    with serving(Told({**body, "freshness": stale})) as reader:
        assert chronofact("context", "ana", "--text", "--reader", reader.url) == 0
        assert chronofact.out == f"{body['text']}\n"
        assert "1 message parked, STALE (held)" in chronofact.err
        assert chronofact("context", "ana", "--reader", reader.url) == 0
        assert "1 message parked, STALE (held)" in chronofact.out
    assert chronofact("context", "ana", "--budget", "0") == 2
    for left_out, said in ((0, "nothing is settled"), (2, "nothing has room")):
        nothing = {**body, "text": "", "left_out": left_out, "too_long_count": 0}
        with serving(Told(nothing)) as reader:
            assert chronofact("context", "ana", "--reader", reader.url) == 0
        assert chronofact.out.startswith(said)
        assert chronofact.err == ""
    with serving(Told({**nothing, "left_out": 0, "questions": []})) as reader:
        assert chronofact("context", "ana", "--reader", reader.url) == 0
    assert chronofact.err == "chronofact facts SUBJECT lists what is known; --scope names another scope\n"


def test_a_timeline_has_both_axes(chronofact: Command) -> None:
    july, august = "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"
    rectangles = [
        {"kind": "unknown", "reason": "not_yet_valid", "valid_during": [None, july], "known_during": [july, None]},
        {"kind": "value", "value": "npm", "valid_during": [july, None], "known_during": [july, august]},
        {"kind": "value", "value": {"name": "pnpm"}, "valid_during": [july, None], "known_during": [august, None]},
    ]
    with serving(Told(value()), Told({"fact": FACT, "timeline": rectangles})) as reader:
        assert chronofact("timeline", "ana", "package_manager", "--reader", reader.url) == 0
    lines = chronofact.out.splitlines()
    assert any("2026-07-01" in line and "2026-08-01" in line for line in lines)
    assert any(line.split()[:2] == ["2026-07-01", "npm"] and "name pnpm" in line for line in lines)
    assert reader.asked[1].path == f"/v1/facts/{ID['fact']}/timeline"


def test_a_history_names_versions_by_their_values(chronofact: Command) -> None:
    said = {"value": "npm", "valid_from": None, "valid_to": None, "source_id": "chat-1", "version_id": ID["a"]}
    events = [
        {"event_seq": 1, "event_type": "FactAsserted", "payload": said},
        {"event_seq": 2, "event_type": "FactRevoked", "payload": {"version_id": ID["a"], "event_id": None}},
    ]
    told = [{**event, "recorded_at": AT, "version_ids": [ID["a"]]} for event in events]
    with serving(Told(value()), Told({"fact": FACT, "events": told})) as reader:
        assert chronofact("history", "ana", "package_manager", "--reader", reader.url) == 0
    assert "npm, always, by chat-1" in chronofact.out
    assert "version: npm" in chronofact.out


def test_the_stack_of_this_folder_answers_where_nothing_says_otherwise(
    chronofact: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with serving(Told(value())) as reader:
        (tmp_path / ".chronofact").mkdir()
        (tmp_path / ".chronofact/stack.json").write_bytes(orjson.dumps({"writer": None, "reader": reader.url}))
        assert chronofact("resolve", "ana", "package_manager") == 0
        monkeypatch.setenv("CHRONOFACT_READER_PORT", "9")
        assert chronofact("resolve", "ana", "package_manager") == 3
    assert len(reader.asked) == 1


def test_where_nothing_runs_and_nothing_is_named_the_remedy_is_to_start_a_stack(
    chronofact: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setattr("chronofact.client.shells.READER", nowhere)
    monkeypatch.setattr("chronofact.cli.options.configured", lambda: {"reader": nowhere})
    assert chronofact("resolve", "ana", "package_manager") == 3
    assert chronofact.err.startswith("no stack runs in .chronofact, and")
    assert "start one: chronofact up" in chronofact.err
    assert chronofact("resolve", "ana", "package_manager", "--reader", "http://127.0.0.1:1") == 3
    assert "no stack runs" not in chronofact.err


def test_a_doctor_who_finds_nothing_running_ends_with_3(
    chronofact: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert chronofact("doctor") == 3
    assert "chronofact up" in chronofact.out


@pytest.mark.parametrize(("content", "code", "said"), [(None, 3, "no stack runs"), ("{", 1, "can't be read")])
def test_a_folder_that_holds_no_addresses(
    chronofact: Command, tmp_path: Path, content: str | None, code: int, said: str
) -> None:
    folder = tmp_path / "folder"
    if content is None:
        folder.write_text("a file")
    else:
        folder.mkdir()
        (folder / "stack.json").write_text(content)
    assert chronofact("resolve", "ana", "k", "--data", str(folder)) == code
    assert said in chronofact.err


def test_a_wrong_instant_names_its_option(chronofact: Command) -> None:
    assert chronofact("resolve", "ana", "k", "--as-of", "2026-13-01", "--reader", "http://127.0.0.1:9") == 2
    assert "--as-of" in chronofact.err


def test_nothing_found_is_said(chronofact: Command) -> None:
    nothing = Told({"facts": [], "cursor": None, "freshness": FRESH})
    with serving(nothing, nothing, Told({"conflicts": []})) as reader:
        assert chronofact("facts", "ana", "--reader", reader.url) == 0
        assert chronofact.out == "no facts of ana\n"
        assert chronofact("facts", "ana", "--scope", "repo:a", "--reader", reader.url) == 0
        assert "no facts of ana in repo:a; without --scope every scope" in chronofact.out
        assert chronofact("conflicts", "--relation", "open", "--reader", reader.url) == 0
        assert "no conflicts" in chronofact.out
    assert ("relation", "OPEN") in reader.asked[2].params
    never = Told(answer("unknown", reason="never_recorded", valid_during=[None, None]))
    with serving(never, never, never) as reader:
        assert chronofact("resolve", "ana", "package_manager", "--reader", reader.url) == 0
        assert chronofact.err == "chronofact facts SUBJECT lists what is known; --scope names another scope\n"
        assert chronofact("resolve", "ana", "package_manager", "--json", "--reader", reader.url) == 0
        assert chronofact.err == ""
        assert chronofact("timeline", "ana", "package_manager", "--reader", reader.url) == 1
    assert "nothing was ever said about package_manager of ana in repo:acme/web" in chronofact.err


@pytest.mark.parametrize("service", ["writer", "reader"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("CHRONOFACT_TOKENS_FILE", None),
        ("CHRONOFACT_TOKENS_FILE", "tokens = 1"),
        ("CHRONOFACT_SCOPE_KINDS_FILE", "a: b: c"),
        ("CHRONOFACT_WRITER_PORT", "no number"),
    ],
)
def test_a_service_says_what_is_wrong_with_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str, name: str, content: str | None
) -> None:
    file = tmp_path / "file.toml"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv(name, content if content == "no number" else str(file))
    line = [sys.executable, "-m", "chronofact.cli", service]
    ran = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 2
    assert ran.stderr.startswith("chronofact: ")
    assert (name if content == "no number" else "file.toml") in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("service", ["writer", "reader", "projector"])
def test_a_port_that_is_taken_is_named(monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("CHRONOFACT_AUTH", "off")
        monkeypatch.setenv("CHRONOFACT_KAFKA", "127.0.0.1:9")
        monkeypatch.setenv("CHRONOFACT_POSTGRES", "postgresql://127.0.0.1:9/none")
        monkeypatch.setenv(f"CHRONOFACT_{service.upper()}_PORT", str(port))
        line = [sys.executable, "-m", "chronofact.cli", service]
        ran = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 1
    assert f"can't listen at 127.0.0.1:{port}: Address already in use; name another" in ran.stderr
    assert f"CHRONOFACT_{service.upper()}_PORT" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "said", ["copy --to", "seal --to", "reopen --to", "refill --from p1 --to", "refill --from p1 --then"]
)
@pytest.mark.parametrize("name", ["bad name!", "..", "", "t" * 250])
def test_what_kafka_takes_for_no_topic_is_usage(chronofact: Command, said: str, name: str) -> None:
    assert chronofact("topics", *said.split(), name) == 2
    assert "is no topic's name" in " ".join(chronofact.err.replace("│", " ").split())
    assert f"--{said.rpartition('--')[2]}" in chronofact.err


def test_an_import_with_nobody_there_says_so_at_once(chronofact: Command, tmp_path: Path) -> None:
    file = tmp_path / "facts.ndjson"
    file.write_text("{}")
    began_s = time.monotonic()
    assert chronofact("import", str(file), "--writer", "http://127.0.0.1:9") == 3
    assert "http://127.0.0.1:9 can't be reached" in chronofact.err
    assert time.monotonic() - began_s < 10


@pytest.mark.parametrize(
    ("data", "said"), [(".chronofact", "`chronofact down`"), ("my stack", "`chronofact down --data 'my stack'`")]
)
def test_a_stack_that_was_left_running_is_told_with_what_stops_it(
    data: str, said: str, monkeypatch: pytest.MonkeyPatch, chronofact: Command
) -> None:
    monkeypatch.setattr("chronofact.cli.running._detached", lambda *_: {"writer": "http://w", "pid": 0})
    assert chronofact("up", "--detach", "--data", data) == 0
    assert chronofact.out.splitlines()[-1] == f"{said} stops it; the data stay."
