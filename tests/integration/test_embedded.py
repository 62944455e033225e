"""Kafka and Postgres of one folder: started, kept, restarted, stopped, and never left behind."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from chronofact.embedded.cache import cache_folder
from chronofact.embedded.errors import FolderInUseError
from chronofact.embedded.jars import ensure_jars
from chronofact.embedded.stack import Addresses, Stack
from tests.integration.processes import is_running, processes_of, wait_until_gone

STOP_S = 20


def put(addresses: Addresses, text: str) -> None:
    assert addresses.kafka is not None
    assert addresses.postgres is not None
    admin = AdminClient({"bootstrap.servers": addresses.kafka})
    admin.create_topics([NewTopic("kept", 1, 1)], operation_timeout=10)["kept"].result(10)
    producer = Producer({"bootstrap.servers": addresses.kafka, "acks": "all"})
    producer.produce("kept", text.encode())
    assert producer.flush(10) == 0
    with psycopg.connect(addresses.postgres) as connection:
        connection.execute("CREATE TABLE kept AS SELECT %s::text AS text", (text,))


def got(addresses: Addresses) -> tuple[str, str]:
    assert addresses.kafka is not None
    assert addresses.postgres is not None
    consumer = Consumer({"bootstrap.servers": addresses.kafka, "group.id": "kept", "enable.auto.commit": False})
    consumer.assign([TopicPartition("kept", 0, 0)])
    message = consumer.poll(20)
    consumer.close()
    assert message is not None
    with psycopg.connect(addresses.postgres) as connection:
        found = connection.execute("SELECT text FROM kept").fetchone()
    assert found is not None
    return (message.value() or b"").decode(), found[0]


def start_owner(folder: Path) -> subprocess.Popen[bytes]:
    """A process that owns a stack, as a developer would start it."""
    owner = subprocess.Popen([sys.executable, "-m", "chronofact.embedded", "--data", str(folder)])
    deadline = time.monotonic() + 60
    while not (folder / "stack.json").exists():
        assert owner.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return owner


@pytest.fixture
def owner(stack_folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = start_owner(stack_folder / "data")
    yield process
    process.kill()
    process.wait()
    assert wait_until_gone(stack_folder, STOP_S) == []


def test_data_and_ports_outlive_a_restart(stack_folder: Path) -> None:
    stack = Stack(stack_folder / "data")
    with stack as addresses:
        put(addresses, "before")
    assert processes_of(stack_folder) == []
    with stack as again:
        assert again == addresses
        assert got(again) == ("before", "before")


def test_two_folders_are_two_stacks(stack_folder: Path) -> None:
    with Stack(stack_folder / "a") as one, Stack(stack_folder / "b") as other:
        put(one, "one")
        put(other, "other")
        assert got(one) == ("one", "one")
        assert got(other) == ("other", "other")


def test_a_folder_has_one_owner_who_is_named(owner: subprocess.Popen[bytes], stack_folder: Path) -> None:
    with pytest.raises(FolderInUseError, match=f"process {owner.pid}"):
        Stack(stack_folder / "data").start()


def test_given_addresses_are_used_and_nothing_is_started(stack_folder: Path) -> None:
    given = Addresses("kafka.example:9092", "postgresql://postgres.example/facts")
    with Stack(stack_folder / "data", external=given) as addresses:
        assert addresses == given
        assert processes_of(stack_folder) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all_of_it_cleanly(stack_folder: Path, number: signal.Signals) -> None:
    owner = start_owner(stack_folder / "data")
    owner.send_signal(number)
    assert owner.wait(STOP_S) == 0
    assert processes_of(stack_folder) == []
    assert "database system is shut down" in (stack_folder / "data" / "logs" / "postgres.log").read_text()
    assert (stack_folder / "data" / "kafka" / "logs" / ".kafka_cleanshutdown").exists()
    assert not (stack_folder / "data" / "stack.json").exists()


def test_a_killed_owner_leaves_nothing_running_and_nothing_lost(stack_folder: Path) -> None:
    folder = stack_folder / "data"
    owner = start_owner(folder)
    found = json.loads((folder / "stack.json").read_text())
    put(Addresses(found["kafka"], found["postgres"]), "kept")
    assert len(processes_of(stack_folder)) > 4
    owner.kill()
    owner.wait()
    with Stack(folder) as addresses:  # waits for what the killed one left
        assert got(addresses) == ("kept", "kept")
    assert wait_until_gone(stack_folder, 0) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a child with its parent")
def test_killed_keepers_take_their_servers_along(owner: subprocess.Popen[bytes], stack_folder: Path) -> None:
    keepers = psutil.Process(owner.pid).children()
    servers = [server for keeper in keepers for server in keeper.children(recursive=True)]
    assert {server.name() for server in servers} == {"java", "postgres"}
    owner.send_signal(signal.SIGSTOP)  # so that it starts nothing again
    for keeper in keepers:
        keeper.kill()
    psutil.wait_procs(servers, timeout=STOP_S)
    assert [server for server in servers if is_running(server)] == []
    owner.kill()


def test_servers_that_die_are_started_again(owner: subprocess.Popen[bytes], stack_folder: Path) -> None:
    found = json.loads((stack_folder / "data" / "stack.json").read_text())
    addresses = Addresses(found["kafka"], found["postgres"])
    put(addresses, "kept")
    for keeper in psutil.Process(owner.pid).children():
        keeper.children()[0].kill()
    deadline = time.monotonic() + 30
    while True:
        try:
            assert got(addresses) == ("kept", "kept")
        except (psycopg.OperationalError, AssertionError):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        else:
            return


def test_a_pid_file_whose_pid_is_now_anothers_does_not_keep_postgres_down(stack_folder: Path) -> None:
    stack = Stack(stack_folder / "data")
    stack.start(kafka=False)
    stack.stop()
    stale = stack_folder / "data" / "postgres" / "data" / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{stale.parent}\n{int(time.time())}\n5432\n\n127.0.0.1\n\nready   \n")
    addresses = stack.start(kafka=False)
    stack.stop()
    assert addresses.postgres is not None
    assert addresses.kafka is None


def test_a_remembered_port_that_is_taken_is_replaced(stack_folder: Path) -> None:
    stack = Stack(stack_folder / "data")
    before = stack.start(kafka=False)
    stack.stop()
    with socket.create_server(("127.0.0.1", stack.ports["postgres"])):
        after = stack.start(kafka=False)
        stack.stop()
    assert after.postgres != before.postgres


def test_postgres_listens_on_loopback_only_and_wants_its_password(stack_folder: Path) -> None:
    stack = Stack(stack_folder / "data")
    address = stack.start(kafka=False).postgres
    try:
        assert address is not None
        servers = [one for one in processes_of(stack_folder) if one.name() == "postgres"]
        assert {link.laddr.ip for one in servers for link in one.net_connections("inet")} == {"127.0.0.1"}
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(address, password="guessed").close()
        for kept in ("password.json", "ports.json"):
            assert (stack_folder / "data" / kept).stat().st_mode & 0o077 == 0
    finally:
        stack.stop()


def test_settings_keep_what_was_acknowledged(stack_folder: Path) -> None:
    stack = Stack(stack_folder / "data")
    address = stack.start(kafka=False).postgres
    try:
        with psycopg.connect(address or "") as connection:
            for setting, value in {
                "fsync": "on",
                "synchronous_commit": "on",
                "full_page_writes": "on",
                "data_checksums": "on",
                "TimeZone": "UTC",
                "server_encoding": "UTF8",
            }.items():
                assert connection.execute("SELECT current_setting(%s)", (setting,)).fetchone() == (value,)
    finally:
        stack.stop()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that belongs to nobody, with the jars in it."""
    nobody = pwd.getpwnam("nobody")
    folder = Path(tempfile.mkdtemp())
    jars = ensure_jars(cache_folder())
    shutil.copytree(jars, folder / "cache" / jars.name)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    yield folder
    shutil.rmtree(folder)


def python_for(user: pwd.struct_passwd) -> str | None:
    """A Python that the user can run: ours, else the system's with our packages."""
    for candidate in (sys.executable, shutil.which("python3", path="/usr/bin")):
        look = [candidate or "", "-c", f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"]
        try:
            found = subprocess.run(
                look,
                user=user.pw_uid,
                group=user.pw_gid,
                extra_groups=[],
                cwd="/",
                env={},
                capture_output=True,
                check=False,
            )
        except OSError:
            continue
        if found.returncode == 0:
            return candidate
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="every other test already runs as an ordinary user")
def test_an_ordinary_user_without_home_can_start_it(open_folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    python = python_for(nobody)
    if python is None:
        pytest.skip("nobody can run no Python of this version")
    script = (
        "import sys; from pathlib import Path; from chronofact.embedded.stack import Stack\n"
        "with Stack(Path(sys.argv[1])) as addresses: print('ready', bool(addresses.kafka and addresses.postgres))"
    )
    done = subprocess.run(
        [python, "-c", script, str(open_folder / "data")],
        env={
            "CHRONOFACT_CACHE": str(open_folder / "cache"),
            "PATH": os.environ["PATH"],
            "HOME": "",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        },
        cwd="/",
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert done.stdout == "ready True\n", done.stderr
    assert {path.stat().st_uid for path in (open_folder / "data").rglob("*")} == {nobody.pw_uid}
    assert processes_of(open_folder) == []
