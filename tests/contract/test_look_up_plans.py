"""At 100,000 facts a resolve at any two instants is a few look-ups in one index: no scan, no sort, few lines read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection

from chronofact.postgres.session import LOOK_UPS, connect
from tests.integration.fixtures_stack import database_like

FACTS = 100_000
VERSIONS = 5
HOT = 10_000
FILL = f"""
insert into p1.fact
select
    (i % 12)::bigint << 40 | i, md5('fact' || i)::uuid, md5('tenant')::uuid, md5('subject' || i / 10)::uuid,
    'user', 'self', 'k' || i % 10, null, {VERSIONS}, '2026-02-01Z', {VERSIONS}, 0, {VERSIONS} + 1, 0, ''
from generate_series(1, {FACTS}) as i;
insert into p1.timeline
select
    (i % 12)::bigint << 40 | i, 0, timestamptz '2026-01-01Z' + n * interval '1 day', n,
    timestamptz '2025-01-01Z' + n * interval '30 days', null, 1, null, md5('v' || n)::uuid, array[n], n
from generate_series(1, {FACTS}) as i, generate_series(1, {VERSIONS}) as n;
insert into p1.timeline
select (i % 12)::bigint << 40 | i, 0, '2026-01-02Z', 1, null, '2025-01-31Z', 0, 4, null, '{{}}', null
from generate_series(1, {FACTS}) as i;
insert into p1.fact
values (5, md5('hot')::uuid, md5('tenant')::uuid, md5('hot')::uuid, 'user', 'self', 'hot', null, {HOT}, now(),
        {HOT}, 0, {HOT}, 0, '');
insert into p1.timeline
select
    5, 0, timestamptz '2026-01-01Z' + n * interval '1 minute', n,
    timestamptz '2020-01-01Z' + n * interval '1 hour', null, 1, null, md5('v' || n)::uuid, array[n], n
from generate_series(1, {HOT}) as n;
insert into p1.timeline values (5, 0, '2026-01-01T00:01:00Z', 1, null, '2020-01-01T01:00:00Z', 0, 4, null, '{{}}', null);
analyze p1.fact;
analyze p1.timeline;
"""
ONE = "select * from p1.read_at({fact_no}, {valid_at}, {system_as_of})"
MANY = (
    "select a.* from (select f.fact_no from p1.fact as f where f.fact_id = any(array(select md5('fact' || i)::uuid"
    " from generate_series(1, 500) as i))) as q"
    " cross join lateral p1.answer_at(q.fact_no, '2025-04-15Z', '2026-01-20Z') as a"
)


@pytest.fixture(scope="module")
def filled(postgres: str, database_template: str) -> Iterator[str]:
    with database_like(postgres, database_template) as address:
        with connect(address, "test", autocommit=True) as connection:
            connection.execute(FILL)
        yield address


@pytest.fixture
def connection(filled: str) -> Iterator[Connection[Any]]:
    """As the reader's are."""
    with connect(filled, "test", autocommit=True, **LOOK_UPS) as connection:
        yield connection


def plan(connection: Connection[Any], statement: str) -> Iterator[dict[str, Any]]:
    """Every node that did some work."""
    found = connection.execute(f"explain (analyze, buffers, format json) {statement}").fetchone()
    assert found is not None
    pending = [found[0][0]["Plan"]]
    while pending:
        node = pending.pop()
        pending += node.get("Plans", [])
        if node["Actual Loops"]:
            yield node


def rows_read(nodes: list[dict[str, Any]]) -> float:
    read = 0.0
    for node in nodes:
        if "Relation Name" in node:
            read += (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
    return read


@pytest.mark.parametrize("system_as_of", ["null", "'2026-01-03T12:00:00Z'", "'2025-12-31Z'"])
@pytest.mark.parametrize("valid_at", ["now()", "'2025-04-15Z'", "'1999-01-01Z'"])
def test_one_answer_is_a_few_look_ups(connection: Connection[Any], valid_at: str, system_as_of: str) -> None:
    statement = ONE.format(fact_no=(77 % 12) << 40 | 77, valid_at=valid_at, system_as_of=system_as_of)
    nodes = list(plan(connection, statement))
    assert {node["Node Type"] for node in nodes}.isdisjoint({"Seq Scan", "Sort", "Bitmap Heap Scan", "Hash Join"})
    assert {node["Node Type"] for node in nodes if "Relation Name" in node} <= {"Index Scan", "Index Only Scan"}
    assert rows_read(nodes) <= 4 * (VERSIONS + 1)


def test_answers_in_batches_are_look_ups_too(connection: Connection[Any]) -> None:
    nodes = list(plan(connection, MANY))
    assert {node["Node Type"] for node in nodes}.isdisjoint({"Seq Scan", "Sort", "Bitmap Heap Scan", "Hash Join"})
    assert rows_read(nodes) <= 500 * (1 + 4 * (VERSIONS + 1))


@pytest.mark.parametrize("hour", [0, 100, 5_000, 9_999, 20_000])
def test_a_hot_fact_passes_over_its_lines_within_the_index(connection: Connection[Any], hour: int) -> None:
    statement = ONE.format(
        fact_no=5, valid_at=f"timestamptz '2020-01-01T00:30:00Z' + {hour} * interval '1 hour'", system_as_of="null"
    )
    nodes = list(plan(connection, statement))
    assert {node["Node Type"] for node in nodes}.isdisjoint({"Seq Scan", "Sort"})
    assert rows_read(nodes) <= 12


def test_the_sql_function_reads_no_table_whole(filled: str) -> None:
    """From a session with the server's own settings."""
    resolve = "select r.kind from chronofact.resolve(md5('fact77')::uuid, '2025-04-15Z') as r"
    scans = "select sum(seq_scan) from pg_stat_xact_user_tables where schemaname = 'p1'"
    with connect(filled, "test") as connection:
        assert connection.execute(resolve).fetchone() == ("value",)
        assert connection.execute(scans).fetchone() == (0,)
