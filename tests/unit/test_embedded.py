"""Parts of the embedded stack that need neither Kafka nor Postgres."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from chronofact.cli.running import credentials_asked
from chronofact.embedded import cache, jars
from chronofact.embedded.cache import cache_folder
from chronofact.embedded.errors import EmbeddedError, FolderInUseError
from chronofact.embedded.folder import DataFolder
from chronofact.embedded.jars import Jar, ensure_jars, jars_folder, pinned_jars
from chronofact.embedded.kafka import new_cluster_id
from chronofact.embedded.ports import choose_ports, is_free
from chronofact.embedded.process import Command, KeptProcess
from chronofact.embedded.server_user import open_way
from chronofact.embedded.stack import Addresses
from chronofact.embedded.supervisor import service_addresses, service_environ
from chronofact.embedded.unit import Unit
from chronofact.runtime.config import Settings

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
WILLING = "print('up', flush=True); import time; time.sleep(60)"


def eventually(holds: Callable[[], bool], timeout_s: float = 10) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def command(tmp_path: Path, script: str, stop_timeout_s: float = 5) -> Command:
    return Command(
        "child", [sys.executable, "-c", script], tmp_path / "child.log", dict(os.environ), stop_timeout_s=stop_timeout_s
    )


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Callable[..., KeptProcess]]:
    started: list[KeptProcess] = []

    def start(script: str, stop_timeout_s: float = 5) -> KeptProcess:
        process = KeptProcess(command(tmp_path, script, stop_timeout_s))
        started.append(process)
        if "up" in script:
            eventually(lambda: "up" in process.log_tail())
        return process

    yield start
    for process in started:
        process.stop()


class TestKeeper:
    def test_stops_what_it_keeps(self, kept: Callable[..., KeptProcess]) -> None:
        assert kept(WILLING).stop() == 128 + signal.SIGTERM

    def test_kills_what_does_not_stop_in_time(self, kept: Callable[..., KeptProcess]) -> None:
        assert kept(STUBBORN, 0.2).stop() == 128 + signal.SIGKILL

    def test_gives_the_exit_code_of_what_left_by_itself(self, kept: Callable[..., KeptProcess]) -> None:
        process = kept("raise SystemExit(7)")
        eventually(lambda: process.exit_code() == 7)

    def test_says_when_it_cannot_start(self, tmp_path: Path) -> None:
        process = KeptProcess(Command("child", [str(tmp_path / "none")], tmp_path / "child.log"))
        eventually(lambda: process.exit_code() == 127)
        process.stop()
        assert "can't start" in process.log_tail()

    def test_ends_what_it_keeps_when_its_asker_is_gone(self, tmp_path: Path) -> None:
        asker = (
            "import os, sys, time; from pathlib import Path; from chronofact.embedded.process import Command, KeptProcess\n"
            f"kept = KeptProcess(Command('child', [sys.executable, '-c', {WILLING!r}], Path({str(tmp_path)!r}) / 'child.log'))\n"
            "print(kept.pid, flush=True); time.sleep(60)"
        )
        with subprocess.Popen([sys.executable, "-c", asker], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            keeper = psutil.Process(int(process.stdout.readline()))
            eventually(lambda: "up" in (tmp_path / "child.log").read_text())
            (child,) = keeper.children()
            process.kill()
        assert psutil.wait_procs([keeper, child], timeout=10)[1] == []

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
    def test_takes_what_it_keeps_along_when_killed(self, kept: Callable[..., KeptProcess]) -> None:
        process = kept(STUBBORN)
        (child,) = psutil.Process(process.pid).children()
        os.kill(process.pid, signal.SIGKILL)
        assert psutil.wait_procs([child], timeout=10)[1] == []


class TestUnit:
    def test_starts_again_with_growing_pauses(self, tmp_path: Path) -> None:
        unit = Unit("child", lambda: KeptProcess(command(tmp_path, "raise SystemExit(3)")))
        unit.start()
        said: list[str] = []

        def died_twice() -> bool:
            if happened := unit.tick():
                said.append(happened)
            return len(said) == 3

        eventually(died_twice)
        assert said == [
            "child left with code 3; again in 0.5 s",
            "child started again",
            "child left with code 3; again in 1 s",
        ]
        assert not unit.is_alive

    def test_says_why_it_cannot_start_again(self) -> None:
        def fails() -> KeptProcess:
            raise EmbeddedError("no jars")

        assert Unit("kafka", fails).tick() == "kafka no jars; again in 0.5 s"


class TestFolder:
    def test_a_new_folder_is_no_part_of_a_git_tree(self, tmp_path: Path) -> None:
        DataFolder(tmp_path / "new").make()
        assert (tmp_path / "new/.gitignore").read_text() == "*\n"
        DataFolder(tmp_path).make()
        assert not (tmp_path / ".gitignore").exists()

    def test_has_one_owner(self, tmp_path: Path) -> None:
        first, second = DataFolder(tmp_path), DataFolder(tmp_path)
        first.take()
        with pytest.raises(FolderInUseError) as refused:
            second.take()
        assert refused.value.pid == os.getpid()
        first.release()
        assert not second.is_taken()
        assert second.owner() is None
        second.take()
        second.release()

    def test_stays_taken_while_a_process_of_its_owner_lives(self, tmp_path: Path) -> None:
        folder = DataFolder(tmp_path)
        folder.take()
        child = KeptProcess(command(tmp_path, WILLING), [folder.lock_fd])
        folder.release()
        assert DataFolder(tmp_path).is_taken()
        child.stop()
        assert not DataFolder(tmp_path).is_taken()

    def test_an_owner_whose_pid_is_another_process_now_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "lock").write_text(f"{os.getpid()} 12.5")
        assert DataFolder(tmp_path).owner() is None

    def test_refuses_a_file_in_its_place(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("")
        with pytest.raises(EmbeddedError, match="can't use"):
            DataFolder(tmp_path / "data").take()

    def test_writes_what_only_its_owner_reads(self, tmp_path: Path) -> None:
        folder = DataFolder(tmp_path)
        folder.write("password.json", {"postgres": "x"})
        assert folder.read("password.json") == {"postgres": "x"}
        assert (tmp_path / "password.json").stat().st_mode & 0o777 == 0o600

    def test_reads_a_damaged_file_as_empty(self, tmp_path: Path) -> None:
        (tmp_path / "ports.json").write_text("{")
        assert DataFolder(tmp_path).read("ports.json") == {}


class TestPorts:
    def test_keeps_remembered_ports_that_are_free(self) -> None:
        chosen = choose_ports(["a", "b"], {})
        assert choose_ports(["a", "b"], chosen) == chosen

    def test_replaces_one_that_is_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            assert not is_free(port)
            assert choose_ports(["a"], {"a": port})["a"] != port

    def test_processes_of_one_seed_choose_different_ports(self) -> None:
        chosen = []
        for _ in range(2):
            random.seed(7)
            chosen.append(choose_ports(["kafka", "controller", "postgres"], {}))
        assert chosen[0] != chosen[1]

    def test_counts_up_from_a_base(self) -> None:
        base = choose_ports(["a"], {})["a"]
        assert choose_ports(["a", "b"], {"a": 1}, base) == {"a": base, "b": base + 1}

    def test_names_what_is_taken_above_a_base(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(EmbeddedError, match=f"b {port}"):
                choose_ports(["a", "b"], {}, port - 1)


class TestCache:
    @pytest.fixture
    def no_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "prefix", sys.base_prefix)

    def test_is_where_it_is_told(self, tmp_path: Path) -> None:
        assert cache_folder({"CHRONOFACT_CACHE": str(tmp_path / "x"), "HOME": "/"}) == tmp_path / "x"

    def test_is_in_the_virtual_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
        assert cache_folder({"HOME": "/"}) == tmp_path / "venv" / "cache" / "chronofact"

    def test_follows_xdg_then_home(self, tmp_path: Path, no_environment: None) -> None:
        home = {"HOME": str(tmp_path)}
        assert cache_folder(home) == tmp_path / ".cache" / "chronofact"
        assert cache_folder(home | {"XDG_CACHE_HOME": str(tmp_path / "c")}) == tmp_path / "c" / "chronofact"

    def test_is_found_without_home(self, tmp_path: Path, no_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cache, "_home_of_user", lambda: str(tmp_path))
        assert cache_folder({"HOME": ""}) == tmp_path / ".cache" / "chronofact"

    def test_goes_elsewhere_when_home_is_no_folder(
        self, tmp_path: Path, no_environment: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        (tmp_path / "home").write_text("")
        assert cache_folder({"HOME": str(tmp_path / "home")}).parent == tmp_path

    def test_that_is_named_and_unusable_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(EmbeddedError, match="no cache folder"):
            cache_folder({"CHRONOFACT_CACHE": str(tmp_path / "file" / "x")})


class TestJars:
    def test_are_pinned_with_one_version_each(self) -> None:
        names = [(jar.group, jar.artifact) for jar in pinned_jars()]
        assert len(names) == len(set(names)) == 46
        assert {jar.version for jar in pinned_jars() if jar.group == "org.apache.kafka"} == {"4.1.2"}

    def test_that_are_there_are_not_fetched(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jars, "_fetch", pytest.fail)
        jars_folder(tmp_path).mkdir()
        assert ensure_jars(tmp_path) == jars_folder(tmp_path)

    def test_appear_only_when_all_were_fetched(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fetch(jar: Jar, staging: Path) -> None:
            if jar.artifact == "kafka-clients":
                raise EmbeddedError("cut off")
            (staging / "jars" / jar.name).write_text("x")

        monkeypatch.setattr(jars, "_fetch", fetch)
        with pytest.raises(EmbeddedError, match="cut off"):
            ensure_jars(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["fetch.lock"]

    def test_progress_ends_at_the_total(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        told: list[tuple[int, int]] = []
        monkeypatch.setattr(jars, "_fetch", lambda *_: None)
        ensure_jars(tmp_path, lambda done, total: told.append((done, total)))
        assert told[-1][0] == told[-1][1] == sum(jar.size_bytes for jar in pinned_jars())

    def test_that_differ_are_not_intact(self, tmp_path: Path) -> None:
        jar = Jar("g", "a", "1", 1, "00" * 32)
        (tmp_path / "a-1.jar").write_bytes(b"x")
        assert not jar.is_intact(tmp_path / "a-1.jar")
        assert not jar.is_intact(tmp_path / "none.jar")


def test_cluster_ids_never_look_like_an_option() -> None:
    made = {new_cluster_id() for _ in range(2_000)}
    assert len(made) == 2_000
    assert {len(one) for one in made} == {22}
    assert not [one for one in made if one.startswith("-")]


def test_others_may_pass_through_but_not_look_into_the_folders_above(tmp_path: Path) -> None:
    (tmp_path / "private" / "data").mkdir(parents=True)
    (tmp_path / "private").chmod(0o700)
    assert tmp_path / "private" in open_way(tmp_path / "private" / "data")
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o701
    assert open_way(tmp_path / "private" / "data") == []


def test_services_are_told_where_all_is(tmp_path: Path) -> None:
    ports = {"writer": 1, "reader": 2, "projector": 3, "reconciler": 4}
    environ = service_environ(
        DataFolder(tmp_path), Addresses("k:1", "postgresql://p/x"), ports, {"CHRONOFACT_AUTH": "tokens"}
    )
    assert environ["CHRONOFACT_KAFKA"] == "k:1"
    assert environ["CHRONOFACT_POSTGRES"] == "postgresql://p/x"
    assert environ["CHRONOFACT_READER_PORT"] == "2"
    assert environ["CHRONOFACT_AUTH"] == "tokens"
    assert service_environ(DataFolder(tmp_path), Addresses(), ports, {})["CHRONOFACT_AUTH"] == "off"


@pytest.mark.parametrize(
    ("variables", "config", "auth"),
    [
        ({}, "", "off"),
        ({"CHRONOFACT_TOKENS_FILE": "tokens.toml"}, "", "tokens"),
        ({"CHRONOFACT_TOKENS_FILE": "tokens.toml", "CHRONOFACT_AUTH": "off"}, "", "off"),
        ({}, 'auth = "tokens"', "tokens"),
        ({}, 'tokens_file = "tokens.toml"', "tokens"),
    ],
)
def test_a_stack_asks_for_tokens_where_any_are_named(
    variables: dict[str, str], config: str, auth: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chronofact.toml").write_text(config)
    monkeypatch.setenv("CHRONOFACT_CONFIG", str(tmp_path / "chronofact.toml"))
    for name, given in variables.items():
        monkeypatch.setenv(name, given)
    ports = {"writer": 1, "reader": 2, "projector": 3, "reconciler": 4, "adjudicator": 5}
    said = variables | credentials_asked(Settings())
    assert service_environ(DataFolder(tmp_path), Addresses(), ports, said)["CHRONOFACT_AUTH"] == auth


def test_a_service_that_does_not_run_has_no_address() -> None:
    ports = {"writer": 1, "reader": 2, "projector": 3, "reconciler": 4}
    found = service_addresses(ports, ())
    assert found.pop("projectors") == []
    assert set(found.values()) == {None}


def test_an_address_shows_no_password() -> None:
    assert "secret" not in repr(Addresses("k:1", "postgresql://u:secret@p/x"))
