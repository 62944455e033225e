"""The demo and imports, as a newcomer types them; one folder for all, kept from stack to stack."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from chronofact.cli.demo.history import Labelled, lines_of
from chronofact.client import Client, Ids
from chronofact.domain.identity import tenant_id_of

ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
    name: value for name, value in os.environ.items() if name == "CHRONOFACT_CACHE"
}
RUN_S = 200
APPLIED_S = 60
TENANT = "legislators-corrected"


def line_of(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "chronofact.cli", *map(str, arguments)]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(line_of(*arguments), env=ENVIRON, capture_output=True, text=True, check=False, timeout=RUN_S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "stack"


@pytest.fixture(scope="module")
def demo(folder: Path) -> str:
    """What the demo printed, on a stack of its own that it has stopped again."""
    ran = run("demo", "--data", folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (folder / "stack.json").exists()
    return ran.stdout


@pytest.fixture(scope="module")
def stack(folder: Path, demo: str) -> Iterator[dict[str, Any]]:
    """A later stack on the folder that the demo has left."""
    ran = run("up", "--data", folder, "--detach", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    yield json.loads((folder / "stack.json").read_text())
    run("down", "--data", folder)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corrected history as a file of commands, for the tenant that the demo imports it for."""
    file = tmp_path_factory.mktemp("history") / "corrected.ndjson"
    file.write_bytes(
        b"".join(orjson.dumps(one) + b"\n" for one in Labelled(lines_of("commands"), Ids(TENANT)).commands)
    )
    return file


def tables(stack: dict[str, Any], tenant: str) -> Sequence[Any]:
    """Facts, events, and the sums of sequence numbers and state hashes of one tenant."""
    of_tenant = """
        select count(*), coalesce(sum(event_seq), 0)::bigint, md5(string_agg(state_hash::text, '' order by fact_id))
        from p1.fact where tenant_id = %s
    """
    with psycopg.connect(stack["postgres"]) as connection:
        found = connection.execute(of_tenant, (tenant_id_of(tenant),)).fetchone()
    assert found is not None
    return found


def wait_for_events(stack: dict[str, Any], tenant: str, events: int) -> Sequence[Any]:
    deadline = time.monotonic() + APPLIED_S
    while (found := tables(stack, tenant))[1] < events and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def test_every_question_of_both_histories_is_answered_right(demo: str) -> None:
    assert re.search(r"as the files said it\s+13,626\s+\S+\s+7,200\s+7,200\s", demo)
    assert re.search(r"corrected in five ways\s+7,986\s+\S+\s+2,000\s+2,000\s", demo)


def test_the_story_goes_as_it_is_told(demo: str) -> None:
    assert demo.count("✔") == 17
    assert "✘" not in demo
    assert "Everything was answered right" in demo


def test_it_says_how_to_go_on(demo: str, stack: dict[str, Any], folder: Path) -> None:
    assert f"--data {folder}" in demo
    days = ["--valid-at", "2019-07-01", "--as-of", "2019-08-01"]
    ran = run("resolve", "V000133", "office.party", *days, "--data", folder, "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["value"] == "Democrat"


def test_the_conflict_that_it_shows_is_there_to_be_settled(demo: str, stack: dict[str, Any], folder: Path) -> None:
    hint = next(line for line in demo.splitlines() if line.strip().startswith("settle the conflict"))
    words = hint.partition(" conflicts ")[2].split()
    ran = run("conflicts", *words, "--json")
    assert ran.returncode == 0, ran.stderr
    assert [one["relation"] for one in json.loads(ran.stdout)["conflicts"]].count("OPEN") > 0


def test_an_import_again_changes_nothing(stack: dict[str, Any], folder: Path, history: Path) -> None:
    before = tables(stack, TENANT)
    ran = run("import", history, "--tenant", TENANT, "--data", folder, "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout.splitlines()[-1])
    assert (told["accepted"], told["rejected"]) == (7_986, 0)
    with Client(reader=stack["reader"], tenant=TENANT) as client:
        client.facts("N000188", after=told["position"], wait_ms=30_000)
    assert before[1] == 7_986
    assert tables(stack, TENANT) == before


def test_an_import_cut_off_and_repeated_is_complete(stack: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    tenant = "cut-off"
    file = tmp_path / "corrected.ndjson"
    commands = Labelled(lines_of("commands"), Ids(tenant)).commands
    file.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in commands))
    options: list[str | Path] = ["--tenant", tenant, "--data", folder]
    with subprocess.Popen(line_of("import", "-", *options), env=ENVIRON, stdin=subprocess.PIPE) as cut:
        assert cut.stdin is not None
        cut.stdin.writelines(file.read_bytes().splitlines(keepends=True)[: len(commands) // 2])
        cut.stdin.flush()
        assert 0 < wait_for_events(stack, tenant, 1)[1] < len(commands)
        cut.send_signal(signal.SIGKILL)
    ran = run("import", file, *options, "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1])["accepted"] == len(commands)
    facts, events, _ = wait_for_events(stack, tenant, len(commands))
    assert (facts, events) == (len({(one["subject"], one["key"]) for one in commands}), len(commands))
