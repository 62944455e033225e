"""Starts Kafka and Postgres in one data folder and stops them, whatever happens to us."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from chronofact.embedded import server_user
from chronofact.embedded.cache import cache_folder
from chronofact.embedded.folder import DataFolder
from chronofact.embedded.jars import ensure_jars
from chronofact.embedded.kafka import KafkaNode
from chronofact.embedded.ports import choose_ports
from chronofact.embedded.postgres import PostgresServer, new_password
from chronofact.embedded.process import KeptProcess

PORT_NAMES = ("writer", "reader", "reconciler", "projector", "kafka", "postgres", "controller")

Report = Callable[[str], None]
"""Told each step in a few words, from any thread."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where Kafka (bootstrap) and Postgres (URL) are; None when there is none."""

    kafka: str | None = None
    postgres: str | None = field(default=None, repr=False)


class Stack:
    """Kafka and Postgres of one data folder.

    `with Stack(folder) as addresses:` starts both. An address given in `external` is used as it is, and nothing
    is started for it.
    """

    def __init__(
        self,
        data: Path,
        *,
        external: Addresses | None = None,
        port_base: int | None = None,
        report: Report = lambda _step: None,
    ) -> None:
        self.folder = DataFolder(data)
        self.ports: dict[str, int] = {}
        self._external = external or Addresses()
        self._port_base = port_base
        self._report = report
        self._running: dict[str, KeptProcess] = {}

    def __enter__(self) -> Addresses:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self, *, kafka: bool = True, postgres: bool = True) -> Addresses:
        """Take the folder, start what isn't external, return when all take requests."""
        self.folder.take()
        try:
            self._choose_ports()
            return self._start_servers(kafka=kafka, postgres=postgres)
        except BaseException:
            self.stop()
            raise

    def _choose_ports(self) -> None:
        remembered = self.folder.read("ports.json")
        self.ports = choose_ports(PORT_NAMES, remembered, self._port_base)
        self.folder.write("ports.json", dict(self.ports))

    def _start_servers(self, *, kafka: bool, postgres: bool) -> Addresses:
        """Both at once; each takes seconds, mostly of waiting."""
        outside = self._external
        with ThreadPoolExecutor(2) as pool:
            own_kafka = pool.submit(self._start_kafka) if kafka and not outside.kafka else None
            own_postgres = pool.submit(self._start_postgres) if postgres and not outside.postgres else None
        return Addresses(
            own_kafka.result() if own_kafka else outside.kafka,
            own_postgres.result() if own_postgres else outside.postgres,
        )

    def _start_kafka(self) -> str:
        self._report("fetching Kafka")
        jars = ensure_jars(cache_folder(), self._report_fetch)
        node = KafkaNode(
            folder=self.folder.path / "kafka",
            jars=jars,
            log=self.folder.logs / "kafka.log",
            port=self.ports["kafka"],
            controller_port=self.ports["controller"],
        )
        self._report("preparing Kafka")
        node.prepare()
        self._report("starting Kafka")
        process = self._running["kafka"] = node.start([self.folder.lock_fd])
        node.wait_ready(process)
        self._report("Kafka is ready")
        return node.bootstrap

    def _report_fetch(self, done_bytes: int, total_bytes: int) -> None:
        self._report(f"fetching Kafka: {done_bytes / 1e6:.0f} of {total_bytes / 1e6:.0f} MB")

    def _start_postgres(self) -> str:
        server = PostgresServer(
            folder=self.folder.path / "postgres",
            log=self.folder.logs / "postgres.log",
            port=self.ports["postgres"],
            password=self._password(),
            user=server_user.server_user(),
        )
        self._report("preparing Postgres")
        for opened in server.prepare():
            self._report(f"the server's user may now pass through {opened}")
        self._report("starting Postgres")
        process = self._running["postgres"] = server.start([self.folder.lock_fd])
        server.wait_ready(process)
        self._report("Postgres is ready")
        return server.address

    def _password(self) -> str:
        kept = self.folder.read("password.json").get("postgres")
        if isinstance(kept, str):
            return kept
        fresh = new_password()
        self.folder.write("password.json", {"postgres": fresh})
        return fresh

    def dead(self) -> list[str]:
        """Names of started servers that have left by themselves."""
        return [name for name, process in self._running.items() if process.exit_code() is not None]

    def pids(self) -> dict[str, int]:
        """Pid of each server's keeper."""
        return {name: process.pid for name, process in self._running.items()}

    def stop(self) -> None:
        """Stop what was started, cleanly, and give the folder up; again is harmless."""
        for process in self._running.values():
            process.ask_to_stop()
        for process in self._running.values():
            process.stop()
        self._running.clear()
        self.folder.release()
