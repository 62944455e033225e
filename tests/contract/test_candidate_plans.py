"""Beside 20,000 memories of others, candidates of a fact of 1,000 are one pass over that fact and look-ups for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import sql

from chronofact.postgres.session import LOOK_UPS, connect
from chronofact.postgres.template import script
from tests.contract.test_look_up_plans import plan

OTHERS = 20_000
MINE = 1_000
FACT_NO = 7
FILL = f"""
insert into p1.memory (fact_no, version_no, event_seq, text, extractor, frames, keys, embedder, embedding)
select
    f.fact_no, n, n, 'memory ' || n, 'hand-1', '[]', array['slot|user|' || n % 300], 'hand',
    array_cat(array[f.fact_no % 5, n % 11 + 1, 1], array_fill(0, array[381]))::real[]::halfvec
from (
    select {FACT_NO} as fact_no, {MINE} as memories
    union all
    select (i % 12)::bigint << 40 | 1000 + i, 100 from generate_series(1, {OTHERS} / 100) as i
) as f
cross join lateral generate_series(1, f.memories) as n;
insert into p1.version
select
    m.fact_no, m.version_no, md5(m.fact_no || ' ' || m.version_no)::uuid, '""', '', null, null, now(), m.event_seq, 's', '', null,
    'ACTIVE', null, null, null
from p1.memory as m;
"""


@pytest.mark.parametrize("is_analysed", [True, False], ids=["known to the planner", "young"])
@pytest.mark.parametrize("settings", [{"jit": "off"}, {"jit": "off", **LOOK_UPS}], ids=["plain", "look_ups"])
def test_only_the_fact_is_read(database: str, settings: dict[str, str | int], *, is_analysed: bool) -> None:
    with connect(database, "test", autocommit=True, **settings) as connection:
        connection.execute(FILL)
        if is_analysed:
            connection.execute("analyze p1.memory, p1.version")
        wanted: dict[str, Any] = {
            "fact_no": FACT_NO,
            "before_seq": MINE + 1,
            "keys": ["slot|user|7", "slot|user|8"],
            "embedding": str([1, 1, 1, *[0] * 381]),
            "near": 0.4,
            "nearest": 20,
        }
        statement = script("memories", "candidates").filled(connection, schema="p1").as_string(connection)
        for name, value in wanted.items():
            statement = statement.replace(f"%({name})s", sql.Literal(value).as_string(connection))
        nodes = list(plan(connection, statement))
    scans = [node for node in nodes if node["Node Type"] == "Seq Scan"]
    assert not [node for node in scans if node["Relation Name"].startswith("memory")], scans
    read = sum(node["Actual Rows"] * node["Actual Loops"] for node in nodes if node.get("Relation Name") == "memory")
    assert MINE <= read < 2 * MINE, "once for what is near, then the texts of those that were found"
