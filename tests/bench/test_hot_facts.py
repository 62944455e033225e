"""Facts with very many versions: what one more event costs, and how their lines grow."""

from __future__ import annotations

import time
from collections.abc import Callable

import psycopg

from chronofact.domain.events import Cardinality, Succession
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projector.loop import Projector
from tests.bench.figures import Figure, record
from tests.contract.memory_log import MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import Fact, Said

MANY = 10_000
PROBES, TOGETHER = 20, 50
HOUR_US = 3_600_000_000
START_US = 1_577_836_800_000_000
Saying = Callable[[Fact, int], Said]


def succeeding(fact: Fact, number: int) -> Said:
    return fact.asserts(number, START_US + number * HOUR_US, source=f"{number}", succession=Succession.AUTOMATIC)


def liked(fact: Fact, number: int) -> Said:
    return fact.asserts(number, START_US + number * HOUR_US, source=f"{number}", cardinality=Cardinality.MANY)


def rival(fact: Fact, number: int) -> Said:
    return fact.asserts(number, START_US, source=f"{number}")


class Bench:
    """One projector over a real database, fed from memory."""

    def __init__(self, database: str) -> None:
        self.topic = MemoryTopic()
        self.store = ProjectionStore(database, "p1")
        self.projector: Projector = projector_on(self.topic.join(), self.store, cache_bytes_max=256 * 2**20)[0]

    def feed(self, said: list[Said]) -> float:
        """Applies all; seconds of our own CPU time."""
        self.topic.append(said)
        began = time.process_time()
        run_until_idle(self.projector)
        return time.process_time() - began

    def cost_us(self, facts: list[Fact], saying: Saying, size: int) -> float:
        """CPU of the client for one event more on facts of this many versions, some dozens a batch."""
        for fact in facts:
            self.feed([saying(fact, number) for number in range(size)])
        spent = [
            self.feed([saying(facts[place % len(facts)], size + probe * TOGETHER + place) for place in range(TOGETHER)])
            for probe in range(PROBES)
        ]
        return 1e6 * sorted(spent)[PROBES // 2] / TOGETHER


def count(database: str, table: str, where: str = "true") -> int:
    with psycopg.connect(database) as connection:
        found = connection.execute(f"select count(*) from p1.{table} where {where}").fetchone()
    assert found is not None
    return int(found[0])


def test_an_event_on_a_fact_of_ten_thousand_succeeding_versions(database: str) -> None:
    bench = Bench(database)
    # each small fact grows by one version a batch, to 30 at most
    small = bench.cost_us([Fact(f"small {number}") for number in range(TOGETHER)], succeeding, 10)
    large = bench.cost_us([Fact("large")], succeeding, MANY)
    bench.store.close()
    apart = f"{large:.0f} / {small:.0f} µs of the client, {TOGETHER} events a transaction"
    record(Figure("event on 10,000 succeeding versions / on 10", large / small, "times", "at most", 5, apart))


def test_ten_thousand_open_versions_of_a_many_valued_fact(database: str) -> None:
    bench, fact = Bench(database), Fact("many")
    seconds = bench.feed([liked(fact, number) for number in range(MANY)])
    bench.store.close()
    lines = count(database, "timeline")
    record(
        Figure("timeline lines a version, 10,000 open ones", lines / MANY, "lines", "at most", 3, "a lane a version")
    )
    record(Figure("many-valued, 10,000 open", 1e6 * seconds / MANY, "µs an event", "told", None, "fold and COPY"))


def test_ten_thousand_rivals_on_one_key(database: str) -> None:
    bench, fact = Bench(database), Fact("rivals")
    seconds = bench.feed([rival(fact, number) for number in range(MANY)])
    bench.store.close()
    edges = count(database, "conflict")
    with psycopg.connect(database) as connection:
        found = connection.execute("select conflicts_open from p1.fact").fetchone()
        numbers = connection.execute("select sum(cardinality(versions)) from p1.timeline").fetchone()
    assert found == (MANY * (MANY - 1) // 2,)
    assert numbers is not None
    record(Figure("edges kept of 10,000 rivals", edges, "edges", "at most", 1_000, "the first by (left, right)"))
    record(
        Figure("version numbers in their timeline", float(numbers[0] or 0), "numbers", "at most", 100 * MANY, "crowds")
    )
    record(Figure("10,000 rivals", 1e6 * seconds / MANY, "µs an event", "at most", 5_000, "fold and COPY"))
