"""How long a switch takes, what reads cost meanwhile, and how long it takes to find what a source has said."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from uuid import UUID

import orjson
import psycopg
import pytest

from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.postgres.source_store import Sourced, SourceStore, SourceWanted
from tests.bench.figures import Figure, record
from tests.integration.reading import world_on
from tests.integration.switching import Reads, TwoSides
from tests.integration.two_sides import side_of, switch

TENANT = UUID(int=7)
SWITCHES = 1_000
FACTS, VERSIONS = 200_000, 1_000_000
SWITCHER = """
import json, sys
from uuid import UUID
from tests.integration.switching import back_and_forth
print(json.dumps(back_and_forth(sys.argv[1], UUID(sys.argv[2]), int(sys.argv[3]))))
"""
FACTS_SQL = """
insert into p1.fact
select ((n %% 12)::bigint << 40) + n / 12 + 1, gen_random_uuid(), %s, gen_random_uuid(), 'user', 'self', 'k' || n %% 7,
null, 1, now(), 5, 0, 1, 0, '' from generate_series(0, %s) as n
"""
VERSIONS_SQL = """
insert into p1.version
select f.fact_no, v, gen_random_uuid(), '{"said":"pnpm","note":"as told in conversation 1, turn 3"}', sha256('v'),
'2026-01-01', null, now(), v, case when (f.fact_no / 7 + v) % 1000 = 0 then 'wrong' else 'conversation ' || v end,
sha256('s'), 0.9, 'ACTIVE', null, null, null from p1.fact as f cross join generate_series(1, 5) as v
"""


async def test_switches_and_the_reads_beside_them(database: str) -> None:
    sides = TwoSides(TENANT)
    async with world_on(database) as world:
        sides.tell_both(world)
        with side_of(database, world.topic, rule=2):
            sides.tell_first(world)
            switch(database, "p2", TENANT, force="no comparison was made for this bench")
            quiet = [switch(database, to, TENANT) for _ in range(100) for to in ("p2", "p1")]
            _told("switch of one tenant, whole call", [one.seconds for one in quiet], 50)
            _told("switch of one tenant, its transaction", [one.transaction_s for one in quiet], 50)
            plain = await _read(world, database, sides, switches=0)
            moving = await _read(world, database, sides, switches=SWITCHES)
    _command(database)
    for (reads, rate), name in ((plain, "not switched"), (moving, f"switched {SWITCHES} times")):
        assert reads.seen.faults == [], name
        record(Figure(f"reads of all kinds, tenant {name}", rate, "reads/s", "told", None, "two cores, one client"))
    seen = moving[0].seen
    record(Figure("failed reads meanwhile", len(seen.faults), "reads", "at most", 0, "route and answer: one snapshot"))
    record(
        Figure("stale reads meanwhile", seen.stale.total(), "reads", "at most", 0, "waits begin anew where switched")
    )
    assert min(seen.sides["p1"], seen.sides["p2"]) > 100


async def _read(world: object, database: str, sides: TwoSides, *, switches: int) -> tuple[Reads, float]:
    reads = Reads(world, database, sides)  # type: ignore[arg-type]
    started = time.perf_counter()
    reading = asyncio.create_task(reads.run())
    if switches:
        line = [sys.executable, "-c", SWITCHER, database, str(TENANT), str(switches)]
        ran = await asyncio.to_thread(subprocess.run, line, capture_output=True, text=True, check=True)
        _told("switch under reads on all cores, whole call", orjson.loads(ran.stdout), None)
    else:
        await asyncio.sleep(10)
    reads.stopping.set()
    await reading
    return reads, reads.seen.reads.total() / (time.perf_counter() - started)


def _command(database: str) -> None:
    """The command itself, which is mostly Python's start."""
    environ = {**os.environ, "CHRONOFACT_POSTGRES": database, "CHRONOFACT_AUTH": "off"}
    took = []
    for to in ("p2", "p1") * 3:
        line = [sys.executable, "-m", "chronofact.cli", "switch", str(TENANT), "--to", to, "--json"]
        started = time.perf_counter()
        subprocess.run(line, env=environ, capture_output=True, check=True)
        took.append(time.perf_counter() - started)
    record(Figure("the command `switch`", sorted(took)[3] * 1e3, "ms", "told", None, "starting Python"))


def _told(name: str, took: list[float], bound_ms: float | None) -> None:
    took = sorted(took)
    median, worst = took[len(took) // 2] * 1e3, took[len(took) * 99 // 100] * 1e3
    sense = "told" if bound_ms is None else "at most"
    told = f"median {median:.1f} ms, longest {took[-1] * 1e3:.1f} ms of {len(took):,}"
    record(Figure(f"{name}, p99", worst, "ms", sense, bound_ms, told))  # type: ignore[arg-type]


@pytest.fixture
def million(database: str) -> str:
    """A million versions of 200,000 facts, of which a thousandth are of the wrong source."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(FACTS_SQL, (DEVELOPMENT_TENANT, FACTS - 1))
        connection.execute(VERSIONS_SQL)
        connection.execute("vacuum analyze p1.version, p1.fact")
    return database


def test_versions_of_a_source_among_a_million(million: str) -> None:
    wanted = SourceWanted(DEVELOPMENT_TENANT, "wrong")
    with SourceStore(million, DEVELOPMENT_TENANT) as store:
        started = time.perf_counter()
        found = Sourced()
        for partition in store.leaves():
            found = found.plus(store.count(wanted, partition))
        counted = time.perf_counter() - started
        listed = sum(len(page) for partition in store.leaves() for page in store.versions(wanted, partition))
        took = time.perf_counter() - started - counted
    assert found.versions == listed > 500
    told = f"{found.versions:,} of {VERSIONS:,}; no index: each leaf is read once"
    record(Figure("counting a source's versions", counted, "s", "at most", 10, told))
    record(Figure("listing a source's versions", took, "s", "at most", 10, told))
    with psycopg.connect(million, autocommit=True) as connection:
        started = time.perf_counter()
        connection.execute("create index version_by_source on p1.version (source_id)")
        made = time.perf_counter() - started
        size = (
            "select sum(pg_relation_size(inhrelid)) from pg_inherits where inhparent = 'p1.version_by_source'::regclass"
        )
        ((octets,),) = connection.execute(size).fetchall()
    record(
        Figure(
            "an index by source instead, of a version",
            float(octets) / VERSIONS,
            "bytes",
            "told",
            None,
            f"made in {made:.1f} s",
        )
    )
