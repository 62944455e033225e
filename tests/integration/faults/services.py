"""The services under fault, each a process of its own, and the load on them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg

from tests.integration.faults.load import Load
from tests.integration.faults.truth import assert_nothing_lost_or_twice
from tests.integration.projecting import ProjectorProcess, ServiceProcess

SESSION_S = 6


class Writer(ServiceProcess):
    """`python -m chronofact.writer`."""

    service = "writer"


class Reader(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


class Site:
    """Where the services run: a log, a database, and a writer under load."""

    def __init__(self, kafka: str, topic: str, database: str, **settings: object) -> None:
        self.kafka, self.topic, self.database = kafka, topic, database
        self.settings = settings
        self.projectors: list[ProjectorProcess] = []
        self.writer = self._writer()
        self.load = Load(lambda: self.writer.port)

    def _writer(self) -> Writer:
        return Writer(self.kafka, self.topic, self.database, **{"delivery_timeout_s": 3, **self.settings})

    def end(self) -> None:
        """Whatever still runs."""
        for process in (self.writer, *self.projectors):
            process.kill()
        for projector in self.projectors:
            print(*projector.logged, sep="\n")

    def replace_writer(self) -> None:
        """Another one, elsewhere."""
        self.writer.kill()
        self.writer = self._writer()

    def projector(self, name: str = "a", *, database: str | None = None, **settings: object) -> ProjectorProcess:
        """A projector, by default on the database itself."""
        said = {"projector_name": name, "batch_events_max": 200, **self.settings, **settings}
        self.projectors.append(ProjectorProcess(self.kafka, self.topic, database or self.database, **said))
        return self.projectors[-1]

    def reader(self) -> Reader:
        return Reader(self.kafka, self.topic, self.database, **self.settings)

    def assert_agreed(self, *, timeout_s: float = 60) -> None:
        """The load ends; all that it was promised is there, once, and answers are right."""
        self.load.finish()
        print(f"{len(self.load.acknowledged)} acknowledged, {self.load.sent_again} sent again: {dict(self.load.met)}")
        assert_nothing_lost_or_twice(self.kafka, self.topic, self.database, self.load, timeout_s=timeout_s)


@contextmanager
def site(kafka: str, topic: str, database: str, **settings: object) -> Iterator[Site]:
    """A site under load while the block runs."""
    with ExitStack() as leaving:
        made = Site(kafka, topic, database, **settings)
        leaving.callback(made.end)
        made.writer.await_readyz()
        leaving.enter_context(made.load)
        yield made


def stop_process(process: ServiceProcess) -> None:
    """SIGSTOP: it is there and does nothing."""
    os.kill(process.process.pid, signal.SIGSTOP)


def wake(process: ServiceProcess) -> None:
    """SIGCONT."""
    os.kill(process.process.pid, signal.SIGCONT)


def open_transactions(database: str, member: str) -> int:
    """How many transactions of a member have written something; seen from outside."""
    with psycopg.connect(database, autocommit=True) as connection:
        found = connection.execute(
            "select count(*) from pg_stat_activity where application_name = %s and datname = current_database()"
            " and backend_xid is not null",
            (f"chronofact {member}",),
        ).fetchone()
    assert found is not None
    return int(found[0])


def stop_within_a_batch(process: ProjectorProcess, database: str, member: str, *, tries: int = 400) -> None:
    """SIGSTOP at a moment at which it holds its checkpoints."""
    for _ in range(tries):
        stop_process(process)
        if open_transactions(database, member):
            return
        wake(process)
    raise AssertionError("never within a batch")
