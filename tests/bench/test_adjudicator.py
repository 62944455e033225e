"""How text memories relate: what deciding one by rule takes among 1,000 of its fact, and how many a process decides."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from struct import pack
from uuid import uuid4

import psutil
import pytest

from chronofact.adjudicator.weighing import keys_of, weigh
from chronofact.contracts.derived import DIMENSIONS
from chronofact.domain.events import Cardinality
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.domain.interval import format_instant
from chronofact.postgres.judging_store import JudgingStore
from chronofact.postgres.looking import Reach, Ref
from chronofact.text.frames import Frame, Holds
from chronofact.text.pairs import Thresholds, index_keys
from tests.bench.figures import Figure, record
from tests.bench.meter import percentile
from tests.integration.adjudicating import AdjudicatorProcess, Judged, judged_on
from tests.integration.deriving import derived
from tests.integration.fixtures_stack import database_like
from tests.integration.projecting import append, await_offsets
from tests.integration.saying import Fact, Said

IN_FACT, LOOKED_AT = 1_000, 200
TOLD, FACTS, SLOTS = 1_500, 50, 15
WARM = 200
LOOK_S, WAIT_S = 0.2, 120
BEGUN = 1_767_225_600_000_000
CHECKED = 'chronofact_adjudicator_memories_total{outcome="checked"}'
THRESHOLDS = Thresholds()


class Memories:
    """Texts of one direction more or less, so that a fact's nearest are a choice among nearly all."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._direction = [self._dice.gauss(0, 1) for _ in range(DIMENSIONS)]

    def one(self, subject: str, number: int, *, slot: int) -> Said:
        """It answers what was last said of its slot."""
        frame = Frame("user", f"prop:thing {slot}", f"value {number}", "", cardinality=Holds.ONE)
        stored = derived(index_keys([frame]), self._embedding(), frames=[frame.to_json()])
        return Fact(subject, "memory/preference").asserts(
            f"thing {slot} is value {number}",
            format_instant(BEGUN + number * 1_000_000),
            cardinality=Cardinality.MANY,
            derived=stored,
        )

    def _embedding(self) -> bytes:
        drawn = [one + self._dice.gauss(0, 1.1) for one in self._direction]
        length = sum(one * one for one in drawn) ** 0.5
        return pack(f"<{DIMENSIONS}e", *(one / length for one in drawn))


@pytest.fixture(scope="module")
def judged(kafka: str, postgres: str, database_template: str) -> Iterator[Judged]:
    with (
        database_like(postgres, database_template) as database,
        judged_on(kafka, f"bench.facts.{uuid4().hex}", database) as made,
    ):
        made.begin()
        yield made


def test_one_among_a_thousand(judged: Judged) -> None:
    memories = Memories(3)
    said = [memories.one("a thousand", number, slot=number % 97) for number in range(IN_FACT + LOOKED_AT)]
    append(judged.kafka, judged.topic, said)
    await_offsets(judged.database, len(said))
    walls_ms, cpu_ms, pairs = asyncio.run(_looked_at(judged.database, said[IN_FACT:]))
    bound = "a distance to each of the fact's memories, in Postgres"
    record(Figure(f"decided among {IN_FACT:,}, p99", percentile(walls_ms, 0.99), "ms", "at most", 30, bound))
    record(Figure("of it a median", percentile(walls_ms, 0.5), "ms", "told", None, bound))
    record(Figure("of it here, processor", cpu_ms, "ms", "at most", 5, f"{pairs:.0f} candidates read and judged"))


async def _looked_at(database: str, said: list[Said]) -> tuple[list[float], float, float]:
    """Milliseconds of each, the processor's of one here, and candidates of one."""
    store = JudgingStore(database)
    await store.open()
    reach = Reach(keys_of, THRESHOLDS.near, THRESHOLDS.nearest)
    walls, pairs, cpu = [], 0, 0.0
    for number, one in enumerate([*said[:20], *said]):
        begun, cpu_begun = time.perf_counter(), time.process_time()
        look = await store.look("p1", Ref(DEVELOPMENT_TENANT.bytes, one.key, one.version_id or b""), reach)
        assert look is not None
        weighed = weigh(look, THRESHOLDS, asked_max=32)
        if number >= 20:
            walls.append((time.perf_counter() - begun) * 1e3)
            cpu += (time.process_time() - cpu_begun) * 1e3
            pairs += weighed.pairs
            assert weighed.by_rule
    await store.close()
    return walls, cpu / len(walls), pairs / len(walls)


def test_many_at_once(judged: Judged) -> None:
    memories = Memories(5)
    warm = [memories.one(f"warm {number % FACTS}", number, slot=0) for number in range(WARM)]
    said = [memories.one(f"s {number % FACTS}", number, slot=number // FACTS % SLOTS) for number in range(TOLD)]
    with judged.adjudicator() as adjudicator:
        judged.say(*warm)
        _await_checked(adjudicator, WARM)
        process = psutil.Process(adjudicator.process.pid)
        begun, cpu_begun = time.monotonic(), sum(process.cpu_times()[:2])
        judged.say(*said)
        _await_checked(adjudicator, WARM + TOLD)
        seconds, cpu_s = time.monotonic() - begun, sum(process.cpu_times()[:2]) - cpu_begun
        decided = adjudicator.metric('chronofact_adjudicator_pairs_total{outcome="rule",reason="value_changed"}')
        mb = process.memory_info().rss / 1e6
    assert decided >= TOLD / 2
    bound = "processors: the adjudicator's half of a memory's 5 ms"
    record(Figure("memories decided by one process", TOLD / seconds, "/s", "at least", 100, bound))
    record(Figure("processor time of a memory", cpu_s / TOLD * 1e3, "ms", "at most", 5, "Python"))
    record(Figure("adjudicator, resident", mb, "MB", "at most", 250, "Python"))


def _await_checked(adjudicator: AdjudicatorProcess, number: int) -> None:
    """Asked seldom: telling its metrics takes the process 5 ms."""
    until = time.monotonic() + WAIT_S
    while adjudicator.metric(CHECKED) < number:
        assert time.monotonic() < until
        time.sleep(LOOK_S)
