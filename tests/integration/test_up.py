"""`chronofact up | down | doctor`, as a person or a script types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from chronofact.embedded.ports import choose_ports
from tests.contract.writing import assertion
from tests.integration.fixtures_stack import reachable_folder
from tests.integration.pages import Walk
from tests.integration.processes import processes_of, wait_until_gone

STOP_S = 20
ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
    name: value for name, value in os.environ.items() if name == "CHRONOFACT_CACHE"
}
SERVICES = ("writer", "projector", "reader", "reconciler", "adjudicator")


def chronofact(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "chronofact.cli", *map(str, arguments)]
    return subprocess.run(line, env=ENVIRON | environ, capture_output=True, text=True, check=False, timeout=120)


class Up:
    """`chronofact up --json` in the foreground."""

    def __init__(self, folder: Path, *options: str) -> None:
        line = [sys.executable, "-m", "chronofact.cli", "up", "--data", str(folder), "--json", *options]
        self.folder = folder
        self.process = subprocess.Popen(line, env=ENVIRON, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        if not first:
            self.kill()
        self.found: dict[str, Any] = json.loads(first)

    def stop(self) -> tuple[int, str]:
        """Exit code and what was printed after the first line."""
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate(timeout=STOP_S)
        return self.process.returncode, rest

    def kill(self) -> None:
        """As if the machine had run out of memory."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    with reachable_folder() as folder:
        started = Up(folder / "data")
        yield started
        started.kill()
        assert wait_until_gone(folder, STOP_S) == []


def is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz", timeout=2, verify=False).is_success
    except httpx.HTTPError:
        return False


def eventually(holds: Callable[[], bool], timeout_s: float = 40) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_up_says_one_line_once_all_is_ready(up: Up) -> None:
    assert {"writer", "reader", "reconciler", "adjudicator", "kafka", "postgres"} < up.found.keys()
    assert up.found["reconciler"].startswith("http://127.0.0.1:")
    assert up.found["pid"] == up.process.pid
    assert json.loads((up.folder / "stack.json").read_text()) == up.found
    assert (up.folder / "stack.json").stat().st_mode & 0o077 == 0
    for name in SERVICES[:-1]:
        assert is_ready(up.found[name]), name
    # it starts last, and nobody waits for it
    eventually(lambda: is_ready(up.found["adjudicator"]))


def test_a_setting_that_is_no_good_ends_the_start_at_once_and_is_named(stack_folder: Path) -> None:
    for name, value, told in (
        ("CHRONOFACT_FACT_KEYS_FILE", str(stack_folder / "none.yaml"), "No such file"),
        ("CHRONOFACT_BATCH_WAIT_MS", "no number", "CHRONOFACT_BATCH_WAIT_MS"),
    ):
        began_s = time.monotonic()
        done = chronofact("up", "--data", stack_folder / "data", **{name: value})
        assert done.returncode == 2
        assert told in done.stderr
        assert name.lower().removeprefix("chronofact_") in done.stderr.lower()
        assert time.monotonic() - began_s < 5


def test_a_second_up_of_the_folder_is_refused_by_name(up: Up) -> None:
    again = chronofact("up", "--data", up.folder)
    assert again.returncode == 1
    assert f"in use by process {up.process.pid}" in again.stderr
    assert "chronofact down" in again.stderr


def test_doctor_finds_all_well(up: Up) -> None:
    done = chronofact("doctor", "--data", up.folder, "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, checks
    assert checks.pop("last check")["state"] == "skipped"
    assert {check["state"] for check in checks.values()} == {"ok"}
    expected = {
        "java",
        "kafka jars",
        "postgres binaries",
        "data folder",
        "ports",
        "kafka",
        "postgres",
        "parked",
        "projections",
        "lag",
        "routes",
        "fold",
        "rebuilds",
        "sessions",
        "text models",
        *SERVICES,
        *(f"projector-{number}" for number, _ in enumerate(up.found["projectors"][1:], 2)),
    }
    assert expected == set(checks)


def test_all_state_is_made_anew_proven_switched_to_and_back(up: Up) -> None:
    """The way that `chronofact rebuild --help` teaches, with nothing but the folder."""
    said = httpx.post(f"{up.found['writer']}/v1/events", json=assertion(subject="ada", key="editor", value="vim"))
    assert said.is_success, said.text
    began = chronofact("rebuild", "start", "--data", up.folder, "--wait", "--json")
    assert began.returncode == 0, (began.stdout, began.stderr)
    made = json.loads(began.stdout.splitlines()[-1])
    assert (made["projection"], made["state"], made["compared_with"]) == ("p2", "ready", "p1")
    way: list[tuple[tuple[str, ...], str]] = [
        (("rebuild", "watch"), "chronofact switch --all --to p2"),
        (("verify", "p1", "p2"), "identical"),
        (("switch", "--all", "--to", "p2"), "p2"),
        (("routes",), "p2"),
        (("resolve", "ada", "editor"), "vim"),
        (("rollback", "--all"), "p1"),
        (("retire", "p2", "--drop", "--force", "--reason", "it was to be tried"), "p2"),
    ]
    for typed, told in way:
        done = chronofact(*typed, "--data", up.folder)
        assert (done.returncode, told in done.stdout) == (0, True), (typed, done.stdout, done.stderr)


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_that_dies_is_started_again(up: Up, name: str) -> None:
    line = [sys.executable, "-m", f"chronofact.{name}"]
    option, port = f"CHRONOFACT_{name.upper()}_PORT", up.found[name].rsplit(":", 1)[1]
    running = [one for one in processes_of(up.folder.parent) if one.cmdline() == line]
    (service,) = [one for one in running if one.environ()[option] == port]
    service.kill()
    eventually(lambda: not service.is_running())
    eventually(lambda: is_ready(up.found[name]))
    assert f"{name} started again" in (up.folder / "logs" / "up.log").read_text()


def test_sigterm_stops_everything_in_time_and_quietly(stack_folder: Path) -> None:
    started = Up(stack_folder / "data")
    assert started.stop() == (0, "")
    assert processes_of(stack_folder) == []
    assert not (stack_folder / "data" / "stack.json").exists()


def test_a_killed_up_leaves_nothing_running(stack_folder: Path) -> None:
    started = Up(stack_folder / "data")
    assert (
        len([one for one in psutil.Process(started.process.pid).children() if "keeper.py" in str(one.cmdline())]) >= 2
    )
    started.kill()
    assert wait_until_gone(stack_folder, STOP_S) == []


def test_sigterm_in_the_middle_of_the_start_leaves_nothing_running(stack_folder: Path) -> None:
    line = [sys.executable, "-m", "chronofact.cli", "up", "--data", str(stack_folder / "data")]
    process = subprocess.Popen(line, env=ENVIRON, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: any(one.name() == "java" for one in processes_of(stack_folder)))
    process.terminate()
    assert process.wait(STOP_S) == 0
    assert processes_of(stack_folder) == []


def move(folder: Path) -> None:
    """To a topic of more partitions, as the page says, with nothing but the folder that it is said in."""
    editor = {"subject": "ada", "key": "editor"}
    assert chronofact("migrate", "--data", folder).returncode == 0
    assert chronofact("topics", "--data", folder).returncode == 0

    def writes(value: str) -> bool:
        found = json.loads((folder / "stack.json").read_text())
        said = httpx.post(f"{found['writer']}/v1/events", json=assertion(**editor, value=value))
        return said.is_success

    cache = {"cache": os.environ["CHRONOFACT_CACHE"]} if "CHRONOFACT_CACHE" in os.environ else {}
    with Walk("operations/more-partitions-up.md", folder=folder.parent, **cache) as walk:
        assert writes("vim")
        walk.step("chronofact topics copy")
        walk.step("chronofact topics seal")
        assert not writes("emacs"), "the old topic is closed"
        walk.step("chronofact down")
        walk.step("CHRONOFACT_FACTS_TOPIC")
        assert "vim" in walk.execute("chronofact resolve ada editor").stdout
        assert walk.execute("chronofact doctor").returncode == 0, "each projection is held against its own topic"
        walk.step("chronofact rebuild")
        walk.step("chronofact verify")
        walk.step("chronofact switch")
        assert writes("emacs")
        eventually(lambda: "emacs" in walk.execute("chronofact resolve ada editor").stdout)
        told = walk.step("chronofact doctor")
        assert "p1 of memory.facts.v1, p2: all of the log is applied" in told
        walk.step("chronofact retire")


def test_detached_it_runs_on_until_down_and_moves_to_more_partitions(stack_folder: Path) -> None:
    folder = stack_folder / ".chronofact"
    base = choose_ports(["writer"], {})["writer"]
    done = chronofact("up", "--data", folder, "--detach", "--port-base", str(base))
    assert done.returncode == 0, done.stderr
    steps = [line.split("s  ", 1)[1] for line in done.stderr.splitlines()]
    assert {"Kafka is ready", "Postgres is ready", "writer is ready", "reader is ready"} <= set(steps)
    found = json.loads((folder / "stack.json").read_text())
    assert found["writer"] == f"http://127.0.0.1:{base}"
    assert found["kafka"] == f"127.0.0.1:{base + 4}"
    move(folder)
    stopped = chronofact("down", "--data", folder, "--json")
    assert stopped.returncode == 0
    assert json.loads(stopped.stdout)["pid"] != found["pid"]
    assert processes_of(stack_folder) == []


def test_down_where_nothing_runs_says_so(stack_folder: Path) -> None:
    done = chronofact("down", "--data", stack_folder)
    assert (done.returncode, done.stdout) == (0, f"nothing runs in {stack_folder}\n")


def test_down_of_no_folder_is_a_usage_error(stack_folder: Path) -> None:
    assert chronofact("down", "--data", stack_folder / "none").returncode == 2


def test_an_address_that_does_not_answer_ends_with_3(stack_folder: Path) -> None:
    done = chronofact(
        "up",
        "--data",
        stack_folder / "data",
        CHRONOFACT_KAFKA="127.0.0.1:9",
        CHRONOFACT_POSTGRES="postgresql://127.0.0.1:9/x",
    )
    assert done.returncode == 3, done.stderr
    assert processes_of(stack_folder) == []


def test_doctor_of_a_stack_that_is_down_ends_with_3(stack_folder: Path) -> None:
    done = chronofact("doctor", "--data", stack_folder / "data")
    assert done.returncode == 3
    assert "chronofact up" in done.stdout


def test_doctor_names_damaged_jars(stack_folder: Path) -> None:
    done = chronofact("doctor", "--json", CHRONOFACT_CACHE=str(stack_folder / "cache"))
    (jars,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "kafka jars"]
    assert done.returncode == 1
    assert "prefetch" in jars["remedy"]
