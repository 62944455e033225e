"""A projection that was there before text memories gets their tables as a new one has them, and its checks."""

from __future__ import annotations

import json
from uuid import uuid4

import psycopg

from chronofact.postgres.migrate import migrate
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect

MIGRATION = "013_pre_memories"
SHAPE = """
select 'column', a.attrelid::regclass::text, a.attname::text, format_type(a.atttypid, a.atttypmod)
    || a.attnotnull::text || a.attstorage::text || a.attgenerated::text || a.attnum::text
from pg_attribute as a inner join pg_class as c on a.attrelid = c.oid
where c.relnamespace = %(schema)s::text::regnamespace and c.relname in ('memory', 'checked', 'relation') and a.attnum > 0
union all
select 'constraint', conrelid::regclass::text, conname::text, pg_get_constraintdef(oid)
from pg_constraint where connamespace = %(schema)s::text::regnamespace
union all
select 'index', tablename::text, indexname::text, indexdef
from pg_indexes where schemaname = %(schema)s::text and tablename in ('memory', 'checked', 'relation')
union all
select 'default', adrelid::regclass::text, adnum::text, pg_get_expr(adbin, adrelid)
from pg_attrdef where adrelid = any(array[to_regclass(%(schema)s::text || '.memory'), to_regclass(%(schema)s::text || '.checked')])
"""


def shape(connection: psycopg.Connection, schema: str) -> list[tuple[str, ...]]:
    found = connection.execute(SHAPE, {"schema": schema}).fetchall()
    return sorted(tuple(str(one).replace(f"{schema}.", "") for one in line) for line in found)


def test_an_older_projection_becomes_like_a_new_one_and_keeps_its_checks(database: str) -> None:
    version_id, event_id = uuid4(), uuid4()
    payload = {"version_id": str(version_id), "pairs": 3, "decided": 2, "pending": 1, "reason": "x"}
    with connect(database, "test", autocommit=True) as connection:
        connection.execute("drop table p1.memory")
        connection.execute("drop table p1.checked")
        for index in ("left", "right"):
            connection.execute(f"drop index p1.relation_of_{index}")
        connection.execute("drop extension vector")
        connection.execute("delete from chronofact.migration where name = %s", (MIGRATION,))
        for number, kind in ((7, "RelationsChecked"), (8, "FactRevoked")):
            connection.execute(
                "insert into p1.event values (1, %s, %s, now(), %s, %s, %s, '', 0, 0)",
                (
                    number,
                    event_id if number == 7 else uuid4(),
                    kind,
                    [version_id],
                    json.dumps({**payload, "llm_call_made": True}),
                ),
            )
    assert MIGRATION in migrate(database).applied
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1)
        assert shape(connection, "p1") == shape(connection, "p2")
        assert any(line[:3] == ("column", "memory", "embedding") for line in shape(connection, "p1"))
        kept = connection.execute("select * from p1.checked").fetchall()
    assert kept == [(1, event_id, 7, version_id, 3, 2, 1, "x", True)]
