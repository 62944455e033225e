"""At 60,000 events a page of changes reads the page's events, and no table whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection, sql

from chronofact.postgres.session import LOOK_UPS, connect
from chronofact.postgres.spelling import Int8Array, UuidArray, take_parameters
from chronofact.postgres.template import script
from tests.contract.test_look_up_plans import rows_read
from tests.integration.fixtures_stack import database_like

EVENTS, PAGE = 60_000, 40
TENANT, TOPIC = UUID(int=1), UUID(int=2)
FILL = f"""
insert into p1.fact
select
    (i % 12)::bigint << 40 | i / 12 + 1, md5('fact' || i)::uuid, '{TENANT}', md5('subject' || i / 10)::uuid,
    'user', 'self', 'k' || i % 10, null, 1, '2026-02-01Z', 1, 0, 1, 0, ''
from generate_series(0, {EVENTS} - 1) as i;
insert into p1.event
select (i % 12)::bigint << 40 | i / 12 + 1, 1, md5('event' || i)::uuid, '2026-02-01Z', 'FactAsserted', '{{}}', '', '', i % 12, i / 12
from generate_series(0, {EVENTS} - 1) as i;
insert into p1.timeline
select (i % 12)::bigint << 40 | i / 12 + 1, 0, '2026-02-01Z', 1, null, null, 1, null, md5('v')::uuid, '{{1}}', 1
from generate_series(0, {EVENTS} - 1) as i;
insert into p1.version
select
    (i % 12)::bigint << 40 | i / 12 + 1, 1, md5('version' || i)::uuid, '1', '', null, null, '2026-02-01Z', 1,
    's', '', null, 'ACTIVE', null, null, null
from generate_series(0, {EVENTS} - 1) as i;
insert into chronofact.checkpoint select 'p1', '{TOPIC}', n, {EVENTS} / 12, 1 from generate_series(0, 11) as n;
insert into chronofact.released_event (projection, topic_id, partition, kafka_offset, fact_id)
select 'p1', '{TOPIC}', i % 12, i / 12, md5('fact' || i)::uuid from generate_series(0, {EVENTS} - 1, 50) as i;
analyze p1.fact;
analyze p1.event;
analyze p1.timeline;
analyze p1.version;
analyze chronofact.released_event;
"""
FACT_NOS = [(3 << 40) | at for at in range(100, 100 + PAGE)]


@pytest.fixture(scope="module")
def connection(postgres: str, database_template: str) -> Iterator[Connection[Any]]:
    """As the reader's are."""
    with database_like(postgres, database_template) as address:
        with connect(address, "test", autocommit=True) as filling:
            filling.execute(FILL)
        with connect(address, "test", autocommit=True, **LOOK_UPS) as made:
            take_parameters(made.adapters)
            yield made


def nodes_of(connection: Connection[Any], name: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every node that did some work."""
    statement = script("reader", name).filled(
        connection, schema="p1", projection=sql.Literal("p1"), filters=sql.SQL("")
    )
    explain = sql.SQL("explain (analyze, buffers, format json) ") + statement
    found = connection.execute(explain, parameters).fetchone()
    assert found is not None
    pending, nodes = [found[0][0]["Plan"]], []
    while pending:
        node = pending.pop()
        pending += node.get("Plans", [])
        if node["Actual Loops"]:
            nodes.append(node)
    return nodes


@pytest.mark.parametrize(
    ("name", "parameters", "lines_max"),
    [
        (
            "changes_events",
            {
                "partitions": Int8Array.of([3, 7]),
                "firsts": Int8Array.of([2_000, 4_900]),
                "ends": Int8Array.of([5_000, 5_000]),
                "tenant_ids": UuidArray.of([TENANT.bytes]),
                "topic_id": TOPIC,
                "limit": PAGE,
            },
            2 * PAGE * 3,
        ),
        (
            "changes_painted",
            {"fact_nos": Int8Array.of(FACT_NOS), "event_seqs": Int8Array.of([1] * PAGE)},
            PAGE * 2,
        ),
        ("changes_said", {"fact_nos": Int8Array.of(FACT_NOS), "version_nos": Int8Array.of([1] * PAGE)}, PAGE),
        ("changes_lane_before", {"fact_no": FACT_NOS[0], "event_seq": 2, "limit": 512}, 1),
        ("changes_lanes", {"fact_no": FACT_NOS[0], "first_seq": 0, "last_seq": 1, "limit": 512}, 1),
        ("changes_releases", {"topic_id": TOPIC, "partition": 2, "after": 1_150, "upto": 1_200}, 50),
        (
            "changes_released",
            {"numbers": Int8Array.of(range(1_000, 1_000 + PAGE)), "tenant_ids": UuidArray.of([TENANT.bytes])},
            PAGE * 3,
        ),
        ("changes_standing", {}, 12 * 2),
    ],
)
def test_a_page_reads_what_it_shows(
    connection: Connection[Any], name: str, parameters: dict[str, Any], lines_max: int
) -> None:
    nodes = nodes_of(connection, name, parameters)
    wrong = {"Sort", "Bitmap Heap Scan", "Hash Join", "Merge Join"}
    if name != "changes_standing":  # which reads the 12 checkpoints of a table of a few lines
        wrong.add("Seq Scan")
    assert {node["Node Type"] for node in nodes}.isdisjoint(wrong)
    assert rows_read(nodes) <= lines_max
