"""Starts Kafka and Postgres in one data folder and stops them, whatever happens to us."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from chronofact.embedded import server_user
from chronofact.embedded.cache import cache_folder
from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.folder import DataFolder
from chronofact.embedded.jars import ensure_jars
from chronofact.embedded.kafka import KafkaNode
from chronofact.embedded.ports import choose_ports
from chronofact.embedded.postgres import PostgresServer, new_password
from chronofact.embedded.process import KeptProcess
from chronofact.embedded.unit import Unit
from chronofact.embedded.warmth import warm_options

# With a port base: base, base + 1, ... in this order.
PORT_NAMES = (
    *("writer", "reader", "reconciler", "projector", "kafka", "postgres", "controller", "projector-2"),
    "adjudicator",
)

Report = Callable[[str], None]
"""Told each step in a few words, from any thread."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where Kafka (bootstrap) and Postgres (URL) are; None when there is none."""

    kafka: str | None = None
    postgres: str | None = field(default=None, repr=False)


class Stack:
    """Kafka and Postgres of one data folder.

    `with Stack(folder) as addresses:` starts both. An address given in `external` is used as it is,
    and nothing is started for it. `is_durable=False` is for tests: nothing then waits for the disk.
    """

    def __init__(
        self,
        data: Path,
        *,
        external: Addresses | None = None,
        port_base: int | None = None,
        is_durable: bool = True,
        report: Report = lambda _step: None,
    ) -> None:
        self.folder = DataFolder(data)
        self.ports: dict[str, int] = {}
        self.units: dict[str, Unit] = {}
        self._external = external or Addresses()
        self._port_base = port_base
        self._is_durable = is_durable
        self._report = report
        self._is_abandoned = False

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
        """Both at once; an interrupt meanwhile ends both soon."""
        pool = ThreadPoolExecutor(2)
        starts: dict[str, Future[str]] = {}
        if kafka and not self._external.kafka:
            starts["kafka"] = pool.submit(self._start_kafka)
        if postgres and not self._external.postgres:
            starts["postgres"] = pool.submit(self._start_postgres)
        try:
            wait(starts.values())
        except BaseException:
            self._is_abandoned = True
            for unit in list(self.units.values()):
                unit.ask_to_stop()
            raise
        finally:
            pool.shutdown()
        own = {name: start.result() for name, start in starts.items()}
        return Addresses(own.get("kafka", self._external.kafka), own.get("postgres", self._external.postgres))

    def _start_kafka(self) -> str:
        jars = ensure_jars(cache_folder(), self._report_fetch)
        node = KafkaNode(
            folder=self.folder.path / "kafka",
            jars=jars,
            log=self.folder.logs / "kafka.log",
            port=self.ports["kafka"],
            controller_port=self.ports["controller"],
            options=warm_options(cache_folder()),
            is_durable=self._is_durable,
        )
        self._step("preparing Kafka")
        node.prepare()
        self._step("starting Kafka")
        node.wait_ready(self._launch("kafka", lambda: node.start([self.folder.lock_fd])))
        self._step("Kafka is ready")
        return node.bootstrap

    def _report_fetch(self, done_bytes: int, total_bytes: int) -> None:
        self._step(f"fetching Kafka, once: {done_bytes / 1e6:.0f} of {total_bytes / 1e6:.0f} MB")

    def _start_postgres(self) -> str:
        server = PostgresServer(
            folder=self.folder.path / "postgres",
            log=self.folder.logs / "postgres.log",
            port=self.ports["postgres"],
            password=self._password(),
            user=server_user.server_user(),
            is_durable=self._is_durable,
        )

        def launch() -> KeptProcess:
            for opened in server.prepare():
                self._report(f"let Postgres's user pass through {opened}")
            return server.start([self.folder.lock_fd])

        self._step("starting Postgres")
        server.wait_ready(self._launch("postgres", launch))
        self._step("Postgres is ready")
        return server.address

    def _launch(self, name: str, launch: Callable[[], KeptProcess]) -> KeptProcess:
        unit = self.units[name] = Unit(name, launch)
        return unit.start()

    def _step(self, step: str) -> None:
        if self._is_abandoned:
            raise EmbeddedError("the start was given up")
        self._report(step)

    def _password(self) -> str:
        kept = self.folder.read("password.json").get("postgres")
        if isinstance(kept, str):
            return kept
        fresh = new_password()
        self.folder.write("password.json", {"postgres": fresh})
        return fresh

    def stop(self) -> None:
        """Stop what was started, cleanly, and give the folder up; again is harmless."""
        for unit in self.units.values():
            unit.ask_to_stop()
        for unit in self.units.values():
            unit.stop()
        self.units.clear()
        self.folder.release()
