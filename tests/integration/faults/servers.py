"""Servers of a test's own, to be killed, stopped, filled up and started again."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from signal import SIGKILL, SIGQUIT, Signals

import psutil

from chronofact.embedded import server_user
from chronofact.embedded.cache import cache_folder
from chronofact.embedded.jars import ensure_jars
from chronofact.embedded.kafka import KafkaNode, new_cluster_id
from chronofact.embedded.ports import LOOPBACK, choose_ports
from chronofact.embedded.postgres import PostgresServer, new_password
from chronofact.embedded.process import KeptProcess
from chronofact.embedded.warmth import warm_options

GONE_S = 30


class Server:
    """One server process; its data outlive it."""

    def __init__(self, node: KafkaNode | PostgresServer) -> None:
        self.node = node
        self._process: KeptProcess | None = None

    def start(self, *, wait: bool = True) -> None:
        """Start it, after a crash too."""
        self.node.prepare()
        self._process = self.node.start()
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        """Until it takes requests."""
        assert self._process is not None
        self.node.wait_ready(self._process)

    @property
    def pid(self) -> int:
        """Of the server itself, not its keeper."""
        assert self._process is not None
        (child,) = psutil.Process(self._process.pid).children()
        return child.pid

    @property
    def is_running(self) -> bool:
        """False once it has left, by itself or not."""
        return self._process is not None and self._process.exit_code() is None

    def signal(self, number: Signals) -> None:
        """Tell the server, and nobody else."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL: nothing is said to anyone."""
        self._leave(SIGKILL)

    def stop_immediately(self) -> None:
        """Postgres' immediate shutdown: no checkpoint, recovery at the next start."""
        self._leave(SIGQUIT)

    def stop(self) -> None:
        """As an orderly restart begins; harmless when it has left."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def _leave(self, number: Signals) -> None:
        assert self._process is not None
        orphans = psutil.Process(self._process.pid).children(recursive=True)
        with contextlib.suppress(ProcessLookupError):
            self.signal(number)
        self._process.stop()
        self._process = None
        # a Postgres that was killed is outlived by its sessions for a moment, and none starts before they have left
        _, left = psutil.wait_procs(orphans, GONE_S)
        assert not left


def postgres_in(folder: Path) -> Server:
    """A Postgres of its own, not started."""
    folder.mkdir(exist_ok=True)
    port = choose_ports(("postgres",), {})["postgres"]
    user = server_user.server_user()
    log = folder.parent / f"{folder.name}.log"
    return Server(PostgresServer(folder / "postgres", log, port, new_password(), user, is_durable=False))


def kafka_in(folder: Path) -> Server:
    """A broker of its own, not started."""
    folder.mkdir(exist_ok=True)
    ports = choose_ports(("kafka", "controller"), {})
    return Server(_node(folder, ports["kafka"], ports["controller"]))


def _node(folder: Path, port: int, controller_port: int) -> KafkaNode:
    jars, options = ensure_jars(cache_folder(), lambda _done, _total: None), warm_options(cache_folder())
    log = folder.parent / f"{folder.name}.log"
    return KafkaNode(folder / "kafka", jars, log, port, controller_port, options, is_durable=False, further=IMPATIENT)


IMPATIENT = """\
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
"""
"""A broker that was killed may register again only once its session has ended: 9 s by default."""
REPLICATED = """\
node.id={number}
controller.quorum.voters={voters}
default.replication.factor=3
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
share.coordinator.state.topic.replication.factor=3
share.coordinator.state.topic.min.isr=2
"""


def cluster_in(folder: Path) -> list[Server]:
    """Three brokers, not started."""
    names = [f"{part}{number}" for number in (1, 2, 3) for part in ("kafka", "controller")]
    ports = choose_ports(names, {})
    voters = ",".join(f"{number}@{LOOPBACK}:{ports[f'controller{number}']}" for number in (1, 2, 3))
    cluster_id, members = new_cluster_id(), []
    for number in (1, 2, 3):
        home = folder / f"broker-{number}"
        home.mkdir()
        plain = _node(home, ports[f"kafka{number}"], ports[f"controller{number}"])
        further = plain.further + REPLICATED.format(number=number, voters=voters)
        members.append(Server(replace(plain, further=further, cluster_id=cluster_id)))
    return members


def may_mount() -> bool:
    """Whether a small disk can be made here."""
    return os.geteuid() == 0 and _mounted_for_a_moment()


def _mounted_for_a_moment() -> bool:
    try:
        with small_disk(1):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def small_disk(size_mb: int) -> Iterator[Path]:
    """A disk of so many MB, in memory: writing beyond its end is a real ENOSPC."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="chronofact-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m,mode=0711", "tmpfs", str(folder)]
    subprocess.run(mount, check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


def fill(folder: Path) -> Path:
    """Takes all room that the disk has left; remove the file to give it back."""
    ballast = folder / "ballast"
    chunk = bytes(65_536)
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            for size in (len(chunk), 4_096):
                with contextlib.suppress(OSError):
                    while file.write(chunk[:size]) == size:
                        pass
            return ballast
    return ballast


def address_of(server: Server) -> str:
    """The URL of a Postgres."""
    assert isinstance(server.node, PostgresServer)
    return server.node.address


def addresses(servers: Sequence[Server]) -> str:
    """Bootstrap addresses of a cluster."""
    return ",".join(one.node.bootstrap for one in servers if isinstance(one.node, KafkaNode))
