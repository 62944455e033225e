from __future__ import annotations

import gzip
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from chronofact.cli.__main__ import main
from tests.unit.scripted_service import ScriptedService, Told, serving
from tests.unit.test_client import accepted, rejected, token

COMMAND = b'{"type":"assert","subject":"ana","key":"k","value":1,"source":{"id":"s","text":"t"}}'


@dataclass(frozen=True)
class Ran:
    returncode: int
    stdout: str
    stderr: str


class Importing:
    """`chronofact import` in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, service: ScriptedService, *arguments: str | Path) -> Ran:
        line = ["chronofact", "import", *map(str, arguments), "--writer", service.url]
        self._monkeypatch.setattr(sys, "argv", line)
        with pytest.raises(SystemExit) as left:
            main()
        code = left.value.code
        assert isinstance(code, int)
        return Ran(code, *self._capsys.readouterr())


@pytest.fixture
def run_import(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Importing:
    return Importing(monkeypatch, capsys)


def results(*several: dict[str, Any]) -> Told:
    return Told({"results": list(several), "position": token(p0=len(several))})


def last_line(ran: Ran) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", ["facts.ndjson", "facts.ndjson.gz"])
def test_lines_go_as_they_are(run_import: Importing, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    lines = b"\n".join([COMMAND, b"", b"  " + COMMAND + b"\r"])
    file.write_bytes(gzip.compress(lines) if name.endswith("gz") else lines)
    with serving(results(accepted(token(p0=1)), accepted(token(p0=2)))) as writer:
        ran = run_import(writer, file, "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = last_line(ran)
    assert (told["accepted"], told["rejected"], told["position"]) == (2, 0, token(p0=2))
    assert writer.asked[0].body == COMMAND + b"\n" + COMMAND
    assert writer.asked[0].headers["Content-Type"] == "application/x-ndjson"


def test_a_mark_of_byte_order_at_the_beginning_is_no_part_of_the_first_line(
    run_import: Importing, tmp_path: Path
) -> None:
    file = tmp_path / "facts.ndjson"
    file.write_bytes(b"\xef\xbb\xbf" + COMMAND + b"\n" + COMMAND)
    with serving(results(accepted(token(p0=1)), accepted(token(p0=2)))) as writer:
        assert run_import(writer, file).returncode == 0
    assert writer.asked[0].body == COMMAND + b"\n" + COMMAND


def test_rejected_lines_are_kept_with_why(run_import: Importing, tmp_path: Path) -> None:
    file = tmp_path / "facts.ndjson"
    file.write_bytes(COMMAND + b"\n\n" + b"{cut" + b"\n")
    with serving(results(accepted(token(p0=1)), rejected(1))) as writer:
        ran = run_import(writer, file)
    assert ran.returncode == 1
    assert "1 accepted, 1 rejected" in ran.stdout
    assert ran.stdout.splitlines()[-1] == "  line 3: key_empty at key: key is empty"
    kept = [orjson.loads(line) for line in (tmp_path / "facts.ndjson.rejected.ndjson").read_bytes().splitlines()]
    error = {"code": "key_empty", "message": "key is empty", "field": "key"}
    assert kept == [{"line": 3, "error": error, "command": "{cut"}]


def test_an_import_without_rejects_takes_away_the_old_file_of_them(run_import: Importing, tmp_path: Path) -> None:
    file = tmp_path / "facts.ndjson"
    file.write_bytes(COMMAND)
    old = tmp_path / "facts.ndjson.rejected.ndjson"
    old.write_text("{}\n")
    with serving(results(accepted(token(p0=1)))) as writer:
        assert run_import(writer, file).returncode == 0
    assert not old.exists()


def test_a_body_refused_as_a_whole_is_halved_to_the_line_that_is_too_large(
    run_import: Importing, tmp_path: Path
) -> None:
    file = tmp_path / "facts.ndjson"
    file.write_bytes(b"\n".join([COMMAND] * 4))
    large = Told({"error": {"code": "body_too_large", "message": "too large"}}, 413)
    fine = results(accepted(token(p0=1)), accepted(token(p0=2)))
    one = results(accepted(token(p0=3)))
    with serving(large, fine, large, one, large) as writer:
        ran = run_import(writer, file, "--json")
    assert ran.returncode == 1
    assert [asked.body.count(b"\n") + 1 for asked in writer.asked] == [4, 2, 2, 1, 1]
    told = last_line(ran)
    assert (told["accepted"], told["rejected"]) == (3, 1)


def test_nobody_there_is_another_exit_code(run_import: Importing, tmp_path: Path) -> None:
    file = tmp_path / "facts.ndjson"
    file.write_bytes(COMMAND)
    refused = Told({"error": {"code": "token_unknown", "message": "not known"}}, 401)
    with serving(refused) as writer:
        assert run_import(writer, file).returncode == 1
    assert run_import(writer, tmp_path / "missing").returncode == 2


def test_a_damaged_archive_says_what_was_taken(run_import: Importing, tmp_path: Path) -> None:
    file = tmp_path / "facts.ndjson.gz"
    file.write_bytes(gzip.compress(b"\n".join([COMMAND] * 5_000))[:-20])
    with serving(results(*[accepted(token(p0=1))] * 1_000)) as writer:
        ran = run_import(writer, file)
    assert ran.returncode == 1
    assert "can't be read to its end" in ran.stderr
    assert "repeating is safe" in ran.stderr


def test_texts_of_memories_go_in_smaller_requests(run_import: Importing, tmp_path: Path) -> None:
    file = tmp_path / "facts.ndjson"
    lines = [{"key": "memory/note" if number % 2 else "note", "value": number} for number in range(900)]
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    script = [results(*[accepted(token(p0=1))] * size) for size in (400, 400, 100)]
    with serving(*script) as writer:
        ran = run_import(writer, file, "--json")
    assert (ran.returncode, last_line(ran)["accepted"]) == (0, 900)
    assert [one.body.count(b"memory/") for one in writer.asked] == [200, 200, 50]
