"""Beside 20,000 memories of others, reads of memories and of their relations are look-ups in indexes, however young tables are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from psycopg import Connection, sql

from chronofact.postgres.memory_reads import OF_FACTS, OF_SUBJECT
from chronofact.postgres.session import LOOK_UPS, connect
from chronofact.postgres.template import script
from tests.contract.test_adjudicator_plans import FILL, IN_FACT, MEMORIES
from tests.contract.test_look_up_plans import plan, rows_read
from tests.integration.fixtures_stack import database_like

WAITING: Final = """
update p1.checked set pending = 1, reason = '{"pending":{"review":["' || md5('7 8')::uuid || '"]}}'
where version_id = md5('7 7')::uuid;
"""
NIL: Final = "'00000000-0000-0000-0000-000000000000'"
MINE: Final = {"version_id": "null", "tenant_id": "md5('tenant')::uuid", "subject_id": "md5('subject7')::uuid"}
ONE: Final = {**MINE, "version_id": "md5('7 7')::uuid", "fact_nos": "'{7}'::bigint[]"}
PAGE: Final = {
    "next_offsets": "null",
    "relation": "null",
    "chars_max": "280",
    "limit": "101",
    "after_fact": NIL,
    "after_left": NIL,
    "after_right": NIL,
}
SEARCH: Final = {
    "fact_nos": "'{7}'",
    "firsts": "'{1}'",
    "lasts": f"'{{{IN_FACT}}}'",
    "version_nos": f"array(select n::bigint from generate_series(1, {IN_FACT}) as n)",
    "query": "'which memory'",
    "embedder": "null",
    "embedding": "null",
    "ranked_max": "1000",
    "near_at": "0.2",
    "smoothing": "10",
    "weight_near": "1.5",
    "weight_worded": "1",
    "weight_kind": "1",
    "limit": "21",
    "passed": "0",
}
READS: Final[dict[str, tuple[str, tuple[str, ...], dict[str, str], int]]] = {
    "a search": ("memory_search", (), SEARCH, IN_FACT),
    "a memory's relations": ("relations", (OF_FACTS,), ONE | PAGE, 20),
    "a subject's relations": ("relations", (OF_SUBJECT,), MINE | PAGE, 10 * IN_FACT),
    "what waits of a memory": ("relations_undecided", (OF_FACTS,), ONE | PAGE, 10 * IN_FACT),
    "what waits of a subject": ("relations_undecided", (OF_SUBJECT,), MINE | PAGE, 10 * IN_FACT),
    "where a memory is": ("memory_places", (), ONE, 20),
    "whether all is checked": ("relations_unchecked", (), MINE, 10 * IN_FACT),
}


@pytest.fixture(scope="module", params=[True, False], ids=["known to the planner", "young"])
def connection(request: pytest.FixtureRequest, postgres: str, database_template: str) -> Iterator[Connection[Any]]:
    with (
        database_like(postgres, database_template) as database,
        connect(database, "test", autocommit=True, jit="off", **LOOK_UPS) as connection,
    ):
        connection.execute(FILL)
        connection.execute(WAITING)
        if request.param:
            connection.execute("analyze")
        yield connection


@pytest.mark.parametrize("read", READS)
def test_only_what_is_asked_about_is_read(connection: Connection[Any], read: str) -> None:
    name, filters, values, rows_max = READS[read]
    statement = script("reader", name).filled(connection, schema="p1", filters=sql.SQL(" ").join(map(sql.SQL, filters)))
    spelled = statement.as_string(connection)
    for parameter, value in values.items():
        spelled = spelled.replace(f"%({parameter})s", value)
    nodes = list(plan(connection, spelled))
    big = {"memory", "relation", "checked", "event", "version"}
    scans = [one["Relation Name"] for one in nodes if one["Node Type"] == "Seq Scan" and one["Relation Name"] in big]
    assert not scans
    assert 0 < rows_read(nodes) <= rows_max < MEMORIES // 10
