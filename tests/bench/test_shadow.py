"""Sweeps over many facts: what one costs where nothing differs, where thousands do for the first time, and after that."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import pytest

from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from tests.bench.workload import mixed
from tests.contract.memory_log import MemoryTopic
from tests.contract.shadowing import Compared, project

FACTS, DIFFERING = 200_000, 5_000
TABLES = (
    "event",
    "version",
    "version_label",
    "timeline",
    "edge",
    "ending",
    "decision",
    "relation",
    "conflict",
    "memory",
    "checked",
    "fact",
)


def copy(connection: psycopg.Connection[Any], table: str) -> None:
    """All of p1's lines into p2, but for what Postgres makes of them itself."""
    found = connection.execute(
        "select string_agg(column_name, ', ' order by ordinal_position) from information_schema.columns"
        " where table_schema = 'p1' and table_name = %s and is_generated = 'NEVER'",
        (table,),
    ).fetchone()
    assert found is not None
    connection.execute(f"insert into p2.{table} ({found[0]}) select {found[0]} from p1.{table}")


@pytest.mark.timeout(1_200)
def test_sweeps_of_200_000_facts(database: str) -> None:
    topic = MemoryTopic()
    for said in mixed(FACTS, FACTS + FACTS // 4, seed=3):
        topic.append_raw(said.partition, said.key, said.value)
    project(database, topic)
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1, state="ready")
        for table in TABLES:
            copy(connection, table)
        connection.execute(
            "insert into chronofact.checkpoint select 'p2', topic_id, partition, next_offset, epoch from chronofact.checkpoint"
        )
        connection.execute("vacuum analyze")
    compared = Compared(database)
    for name in ("alike", "alike again"):
        tell(name, compared)
    with psycopg.connect(database) as connection:
        connection.execute(
            "update p1.fact as f set state_hash = sha256(f.state_hash) where f.fact_id in"
            " (select o.fact_id from p1.fact as o order by o.fact_id limit %s)",
            (DIFFERING,),
        )
        connection.execute(
            "update p1.timeline as t set reason = 3 from p1.fact as f, p2.fact as o where t.kind = 0"
            " and t.fact_no = f.fact_no and f.fact_id = o.fact_id and f.state_hash <> o.state_hash"
        )
    first = tell(f"{DIFFERING} for the first time", compared)
    again = tell("the same again", compared)
    assert again < first
    report = compared.store.report(compared.shadow)
    assert sum(one.facts for one in report.counted) == DIFFERING
    assert compared.standing()[1] < DIFFERING // 10


def tell(name: str, compared: Compared) -> float:
    started = time.monotonic()
    swept = compared.sweep()
    seconds = time.monotonic() - started
    print(f"{name}: {seconds:.2f} s, {swept}")
    return seconds
