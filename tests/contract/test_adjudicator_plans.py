"""Beside 20,000 memories of others, what the adjudicator looks up is a few look-ups in indexes, however young tables are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection, sql

from chronofact.postgres.session import LOOK_UPS, connect
from chronofact.postgres.template import script
from tests.contract.test_look_up_plans import plan, rows_read
from tests.integration.fixtures_stack import database_like

MEMORIES, IN_FACT, WANTED = 20_000, 100, 16
FILL = f"""
insert into p1.fact
select
    f, md5('fact' || f)::uuid, md5('tenant')::uuid, md5('subject' || f)::uuid, 'user', 'self', 'memory/x', null,
    {IN_FACT}, now(), {IN_FACT}, 0, {IN_FACT}, 0, ''
from generate_series(1, {MEMORIES // IN_FACT}) as f;
insert into p1.memory (fact_no, version_no, event_seq, text, extractor, frames, keys, embedder, embedding)
select f, n, n, 'memory ' || n, 'hand-1', '[]', '{{}}', null, null
from generate_series(1, {MEMORIES // IN_FACT}) as f, generate_series(1, {IN_FACT}) as n;
insert into p1.version
select
    m.fact_no, m.version_no, md5(m.fact_no || ' ' || m.version_no)::uuid, '""', '', null, null, now(), m.event_seq, 's', '', null,
    'ACTIVE', null, null, null
from p1.memory as m;
insert into p1.event
select m.fact_no, m.event_seq + 1000, md5('e' || m.fact_no || ' ' || m.version_no)::uuid, now(), 'RelationsChecked', '{{}}', '', '', 1, 1
from p1.memory as m;
insert into p1.checked
select m.fact_no, md5('e' || m.fact_no || ' ' || m.version_no)::uuid, m.event_seq + 1000, md5(m.fact_no || ' ' || m.version_no)::uuid,
    0, 0, 0, 'no_pairs', false
from p1.memory as m;
insert into p1.relation
select
    m.fact_no, md5('r' || m.fact_no || ' ' || m.version_no)::uuid, m.event_seq + 2000,
    md5(m.fact_no || ' ' || m.version_no)::uuid, md5(m.fact_no || ' ' || m.version_no + 1)::uuid,
    'unrelated', null, now(), 'rule', 'x', false, null
from p1.memory as m;
"""
ASSERTED = """
insert into p1.event
select
    m.fact_no, m.event_seq, md5('a' || m.fact_no || ' ' || m.version_no)::uuid, now(), 'FactAsserted',
    array[md5(m.fact_no || ' ' || m.version_no)::uuid], '', '', 0, (m.fact_no - 1) * 100 + m.version_no - 1
from p1.memory as m;
"""
NEW = 400
"""Of the last facts' memories; of each hundred one was looked at by nobody."""
FACTS = "array(select md5('fact' || f)::uuid from generate_series(1, {0}) as f)"
VERSIONS = "array(select md5(f || ' 7')::uuid from generate_series(1, {0}) as f)"
ASKED = {
    "looked_at": {
        "projection": "'p1'",
        "tenant_ids": "array(select md5('tenant')::uuid from generate_series(1, {0}))",
        "fact_ids": FACTS,
        "version_ids": VERSIONS,
    },
    "declared": {"fact_nos": "array(select f::bigint from generate_series(1, {0}) as f)", "version_ids": VERSIONS},
}


@pytest.fixture(scope="module", params=[True, False], ids=["known to the planner", "young"])
def connection(request: pytest.FixtureRequest, postgres: str, database_template: str) -> Iterator[Connection[Any]]:
    with (
        database_like(postgres, database_template) as address,
        connect(address, "test", autocommit=True, jit="off") as made,
    ):
        made.execute(FILL)
        if request.param:
            made.execute("analyze")
        yield made


def test_the_sweep_reads_what_came_since_the_last_one(connection: Connection[Any]) -> None:
    connection.execute("begin")
    connection.execute(ASSERTED)
    connection.execute("delete from p1.checked where event_seq = 1000 + 7")
    for name, value in LOOK_UPS.items():
        connection.execute("select set_config(%s, %s, true)", (name, value))
    statement = script("memories", "unchecked_within").filled(connection, schema="p1").as_string(connection)
    windows = {"partitions": "array[0, 1]", "firsts": f"array[{MEMORIES - NEW}, 0]", "ends": f"array[{MEMORIES}, 9]"}
    for parameter, said in windows.items():
        statement = statement.replace(f"%({parameter})s", said)
    nodes = list(plan(connection, statement))
    connection.execute("rollback")
    assert nodes[0]["Actual Rows"] == NEW / IN_FACT
    assert rows_read(nodes) < 8 * NEW


@pytest.mark.parametrize("name", ASKED)
def test_only_what_is_asked_for_is_read(connection: Connection[Any], name: str) -> None:
    statement = script("memories", name).filled(connection, schema="p1").as_string(connection)
    for parameter, said in ASKED[name].items():
        statement = statement.replace(f"%({parameter})s", said.format(WANTED))
    nodes = list(plan(connection, statement))
    assert nodes[0]["Actual Rows"] >= WANTED
    assert rows_read(nodes) < 30 * WANTED, sql.SQL(statement)
