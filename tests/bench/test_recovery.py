"""How soon a projector that was killed serves again, how fast it catches up, and how soon another takes over for good."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import psycopg

from chronofact.kafka.admin import create_topics
from tests.bench.figures import Figure, record
from tests.bench.meter import cpu_s, tree
from tests.bench.workload import mixed
from tests.integration.faults.services import stop_within_a_batch
from tests.integration.fixtures_stack import database_like
from tests.integration.projecting import ProjectorProcess, append, assert_counted_once, await_offsets
from tests.integration.saying import Said

FACTS, BEFORE, BACKLOG = 6_000, 15_000, 30_000
RECOVERY_S, FAILOVER_S = 5, 10
LOOK_S = 0.005


def progress(database: str) -> int:
    with psycopg.connect(database, autocommit=True) as connection:
        found = connection.execute("select coalesce(sum(next_offset), 0)::bigint from chronofact.checkpoint").fetchone()
    assert found is not None
    return int(found[0])


def await_progress(database: str, beyond: int, *, timeout_s: float = 60) -> float:
    """When the checkpoints have passed that."""
    deadline = time.monotonic() + timeout_s
    while progress(database) <= beyond:
        assert time.monotonic() < deadline
        time.sleep(LOOK_S)
    return time.monotonic()


def test_after_sigkill(kafka: str, postgres: str, topic_name: str, database_template: str) -> None:
    said = list(mixed(FACTS, BEFORE + BACKLOG))
    with database_like(postgres, database_template) as database:
        usual = Run(kafka, f"{topic_name}.usual", database, said)
        usual.goes_through()
    with database_like(postgres, database_template) as database:
        killed = Run(kafka, f"{topic_name}.killed", database, said)
        served_s = killed.is_killed_on_the_way()
    told = "the process starts, joins as the same static member, claims, applies"
    record(Figure("SIGKILL until a restarted projector serves", served_s, "s", "at most", RECOVERY_S, told))
    cost = killed.cpu_us / usual.cpu_us
    beside = f"{killed.cpu_us:.0f} beside {usual.cpu_us:.0f} µs of the client; {killed.per_s:,.0f} beside {usual.per_s:,.0f} events/s"
    told = "histories that are folded again at their first touch"
    record(Figure("catching up after it: cost of an event / without it", cost, "times", "at most", 1.4, told, beside))


class Run:
    """The same events through one projector, or through one that is killed and one that goes on."""

    def __init__(self, kafka: str, topic: str, database: str, said: Sequence[Said]) -> None:
        self._place = kafka, topic, database
        self._database = database
        self._total = len(said)
        self.per_s = self.cpu_us = 0.0
        create_topics(kafka, topic)
        append(kafka, topic, said)

    def goes_through(self) -> None:
        with ProjectorProcess(*self._place) as projector:
            await_progress(self._database, BEFORE)
            self._measure(projector)

    def is_killed_on_the_way(self) -> float:
        """Seconds from SIGKILL until its successor is ready and has applied something."""
        with ProjectorProcess(*self._place) as projector:
            await_progress(self._database, BEFORE)
            projector.kill()
        killed_at, reached = time.monotonic(), progress(self._database)
        with ProjectorProcess(*self._place) as again:
            again.await_readyz()
            served_s = max(time.monotonic(), await_progress(self._database, reached)) - killed_at
            self._measure(again)
        return served_s

    def _measure(self, projector: ProjectorProcess) -> None:
        """From where it is to the end."""
        processes = tree(projector.process.pid)
        began, spent, reached = time.monotonic(), cpu_s(processes), progress(self._database)
        await_offsets(self._database, self._total, timeout_s=300)
        events = self._total - reached
        self.per_s = events / (time.monotonic() - began)
        self.cpu_us = 1e6 * (cpu_s(processes) - spent) / events
        assert projector.stop() == 0
        assert_counted_once(self._database)


def test_failover_for_good(kafka: str, topic_name: str, database: str) -> None:
    taken_s = failover(kafka, topic_name, database, stopped=False)
    told = "the session of 6 s, then one claim; default settings, static members"
    record(Figure("failover: the first is killed for good", taken_s, "s", "at most", FAILOVER_S, told))


def test_failover_from_one_that_stands_still(kafka: str, topic_name: str, database: str) -> None:
    taken_s = failover(kafka, topic_name, database, stopped=True)
    told = "the same, and the second that a claim waits for a locked checkpoint"
    record(Figure("failover: the first stands still within a batch", taken_s, "s", "at most", FAILOVER_S, told))


def failover(kafka: str, topic: str, database: str, *, stopped: bool) -> float:
    """Seconds from the loss of one of two projectors until something more is applied in each of its partitions."""
    create_topics(kafka, topic)
    said = list(mixed(500, 3_000))
    with (
        ProjectorProcess(kafka, topic, database, projector_name="first") as first,
        ProjectorProcess(kafka, topic, database, projector_name="second") as second,
    ):
        lost = share_of(first, second)
        sending = threading.Thread(target=append, args=(kafka, topic, said[:2_500]))
        sending.start()
        if stopped:
            stop_within_a_batch(first, database, "first")
        else:
            first.kill()
        gone_at, before = time.monotonic(), reached_in(database, lost)
        sending.join()
        append(kafka, topic, said[2_500:])
        while any(offset <= before[partition] for partition, offset in reached_in(database, lost).items()):
            assert time.monotonic() < gone_at + 120
            time.sleep(LOOK_S)
        taken_s = time.monotonic() - gone_at
        await_offsets(database, len(said))
        assert second.readyz() == []
    assert_counted_once(database)
    return taken_s


def share_of(first: ProjectorProcess, second: ProjectorProcess) -> list[int]:
    """The partitions of the first, once both have six."""
    deadline = time.monotonic() + 60
    while True:
        shares = [one.events("claimed")[-1:] for one in (first, second)]
        if [len(claimed[0]["partitions"]) for claimed in shares if claimed] == [6, 6]:
            return list(shares[0][0]["partitions"])
        assert time.monotonic() < deadline
        time.sleep(0.05)


def reached_in(database: str, partitions: list[int]) -> dict[int, int]:
    statement = "select partition, next_offset from chronofact.checkpoint where partition = any(%s)"
    with psycopg.connect(database, autocommit=True) as connection:
        return dict(connection.execute(statement, (partitions,)).fetchall())
