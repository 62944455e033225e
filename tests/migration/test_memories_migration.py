"""A projection that was there before text memories gets their tables as a new one has them, and its checks."""

from __future__ import annotations

import json
from uuid import uuid4

import psycopg
import pytest

from chronofact.postgres import migrate as migrating
from chronofact.postgres.migrate import migrate
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from chronofact.runtime.failures import Unfit

MIGRATION = "013_pre_memories"
MIGRATIONS = [MIGRATION, "014_pre_undecided", "017_pre_undecided_revoked", "019_pre_kinds"]
SHAPE = r"""
select 'column', a.attrelid::regclass::text, a.attname::text, format_type(a.atttypid, a.atttypmod)
    || a.attnotnull::text || a.attstorage::text || a.attgenerated::text || a.attnum::text
from pg_attribute as a inner join pg_class as c on a.attrelid = c.oid
where c.relnamespace = %(schema)s::text::regnamespace and c.relname in ('memory', 'checked', 'relation', 'memory_text') and a.attnum > 0
union all
select 'constraint', conrelid::regclass::text, conname::text, pg_get_constraintdef(oid)
from pg_constraint where connamespace = %(schema)s::text::regnamespace
union all
select 'index', tablename::text, indexname::text, indexdef
from pg_indexes where schemaname = %(schema)s::text and tablename in ('memory', 'checked', 'relation')
union all
select 'function', proname::text, '', regexp_replace(prosrc, '\s+', ' ', 'g')
from pg_proc where pronamespace = %(schema)s::text::regnamespace and proname = 'undecided_at'
union all
select 'default', adrelid::regclass::text, adnum::text, pg_get_expr(adbin, adrelid)
from pg_attrdef where adrelid = any(array[to_regclass(%(schema)s::text || '.memory'), to_regclass(%(schema)s::text || '.checked')])
"""


def shape(connection: psycopg.Connection, schema: str) -> list[tuple[str, ...]]:
    found = connection.execute(SHAPE, {"schema": schema}).fetchall()
    return sorted(
        tuple(str(one).replace(f'"{schema}"', schema).replace(f"{schema}.", "") for one in line) for line in found
    )


def test_an_older_projection_becomes_like_a_new_one_and_keeps_its_checks(database: str) -> None:
    version_id, event_id = uuid4(), uuid4()
    payload = {"version_id": str(version_id), "pairs": 3, "decided": 2, "pending": 1, "reason": "x"}
    with connect(database, "test", autocommit=True) as connection:
        connection.execute("drop table p1.memory cascade")
        connection.execute("drop table p1.checked cascade")
        connection.execute("drop function p1.undecided_at")
        for index in ("left", "right"):
            connection.execute(f"drop index p1.relation_of_{index}")
        connection.execute("drop extension vector")
        connection.execute("delete from chronofact.migration where name = any(%s)", (MIGRATIONS,))
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
    assert set(MIGRATIONS) <= set(migrate(database).applied)
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1)
        assert shape(connection, "p1") == shape(connection, "p2")
        for table in ("memory", "memory_text"):
            assert any(line[:3] == ("column", table, "embedding") for line in shape(connection, "p1"))
        assert connection.execute("select * from p1.undecided_at(1, null)").fetchall()
        kept = connection.execute("select * from p1.checked").fetchall()
    assert kept == [(1, event_id, 7, version_id, 3, 2, 1, "x", True)]


def test_a_server_without_pgvector_is_refused_before_anything_is_changed(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        migrating, "_VECTOR", migrating._VECTOR.replace("'vector'", "'no_such'").replace("halfvec", "no_such")
    )
    refused_for(empty_database, "the server has no pgvector")
    with psycopg.connect(empty_database) as connection:
        assert connection.execute("select to_regnamespace('chronofact')").fetchone() == (None,)


def test_who_may_not_create_the_extension_is_told_who_may(empty_database: str) -> None:
    role, password = f"plain_{uuid4().hex}", uuid4().hex
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute(f"create role {role} login password '{password}'")
        connection.execute(f"grant create on database {connection.info.dbname} to {role}")
        connection.execute(f"grant create on schema public to {role}")
        try:
            plain = psycopg.conninfo.make_conninfo(empty_database, user=role, password=password)
            refused_for(plain, "may not create")
            connection.execute("create extension vector")
            connection.execute("create extension btree_gist")
            assert MIGRATION in migrate(plain).applied
        finally:
            connection.execute(f"drop owned by {role} cascade")
            connection.execute(f"drop role {role}")


def test_an_extension_that_lies_elsewhere_is_named(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("create schema aside")
        connection.execute("create extension vector schema aside")
    refused_for(empty_database, "in the schema aside")
    on_path = psycopg.conninfo.make_conninfo(empty_database, options="-c search_path=public,aside")
    assert MIGRATION in migrate(on_path).applied


def refused_for(address: str, why: str) -> None:
    with pytest.raises(Unfit) as refused:
        migrate(address)
    assert refused.value.code == "pgvector_missing"
    assert why in str(refused.value)
