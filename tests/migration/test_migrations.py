"""The baseline equals all migrations, and to migrate is safe at any time, twice, and by two at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest

from chronofact.postgres.migrate import Phase, migrate, status
from chronofact.postgres.projections import create_projection, drop_projection, publish
from chronofact.postgres.session import connect
from chronofact.postgres.template import script, scripts
from chronofact.runtime.failures import ConstraintBroken, Unfit

CATALOGUE = """
select 'column', c.table_name, c.column_name, c.data_type, c.is_nullable, c.column_default
from information_schema.columns as c where c.table_schema = 'chronofact' and c.table_name <> 'migration'
union all
select 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', ''
from pg_constraint where connamespace = 'chronofact'::regnamespace and conrelid::regclass::text not like '%migration'
union all
select 'index', tablename, indexname, indexdef, '', ''
from pg_indexes where schemaname = 'chronofact' and tablename <> 'migration'
union all
select 'storage', relname, array_to_string(reloptions, ','), '', '', ''
from pg_class where relnamespace = 'chronofact'::regnamespace and reloptions is not null
order by 1, 2, 3
"""


def catalogue(address: str) -> list[tuple[object, ...]]:
    with psycopg.connect(address) as connection:
        return connection.execute(CATALOGUE).fetchall()


def test_the_baseline_equals_all_migrations(empty_database: str, database: str) -> None:
    with connect(empty_database, "test", autocommit=True) as connection:
        connection.execute(script("baseline").filled(connection))
    wanted = [line for line in catalogue(database) if not str(line[1]).startswith("memory_")]
    assert catalogue(empty_database) == wanted
    assert wanted


def test_every_migration_says_its_number_phase_and_purpose() -> None:
    names = [one.name for one in scripts("migrations")]
    numbers = [int(name[:3]) for name in names]
    assert numbers == sorted(set(numbers))
    assert {name.split("_")[1] for name in names} <= set(Phase)
    assert all(len(name.split("_", 2)) == 3 for name in names)


def test_to_migrate_again_changes_nothing(empty_database: str) -> None:
    first = migrate(empty_database)
    before = catalogue(empty_database)
    assert migrate(empty_database) == first == status(empty_database)
    assert first.missing == first.changed == ()
    assert catalogue(empty_database) == before


def test_a_database_without_ledger_lacks_everything(empty_database: str) -> None:
    assert status(empty_database).missing == tuple(one.name for one in scripts("migrations"))


def test_without_a_projection_none_is_made_until_somebody_asks(empty_database: str) -> None:
    made = (
        "select array_agg(name), (select array_agg(projection) from chronofact.tenant_route) from chronofact.projection"
    )
    for _ in range(2):
        migrate(empty_database, projection=None)
    with psycopg.connect(empty_database) as connection:
        assert connection.execute(made).fetchall() == [(None, None)]
    for projection in ("p7", "p8"):
        migrate(empty_database, projection=projection)
    with psycopg.connect(empty_database) as connection:
        assert connection.execute(made).fetchall() == [(["p7"], ["p7"])]


def test_two_at_once_wait_for_one_another(empty_database: str) -> None:
    with ThreadPoolExecutor(4) as several:
        found = list(several.map(migrate, [empty_database] * 4))
    assert len(set(found)) == 1


def test_a_migration_that_changed_after_it_was_applied_is_named(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("update chronofact.migration set digest = 'other' where name = '001_pre_tables'")
    assert status(database).changed == ("001_pre_tables",)
    with pytest.raises(Unfit) as refused:
        migrate(database)
    assert refused.value.code == "migration_changed"
    assert "001_pre_tables" in str(refused.value)


def test_a_database_that_is_not_utf8_is_refused(postgres: str) -> None:
    name = f"latin_{uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"create database {name} encoding 'LATIN1' locale 'C' template template0")
        try:
            with pytest.raises(Unfit) as refused:
                migrate(psycopg.conninfo.make_conninfo(postgres, dbname=name))
        finally:
            connection.execute(f"drop database {name} with (force)")
    assert refused.value.code == "database_not_utf8"


def test_a_second_projection_serves_the_tenants_that_are_routed_to_it(database: str) -> None:
    mine, other = uuid4(), uuid4()
    with connect(database, "test", autocommit=True) as connection:
        assert create_projection(connection, "p2", rule=2)
        assert not create_projection(connection, "p2", rule=2)
        connection.execute("insert into chronofact.tenant_route (tenant_id, projection) values (%s, 'p2')", (mine,))
        publish(connection)
        for projection, key in (("p1", "old"), ("p2", "new")):
            for number, tenant in enumerate((mine, other), start=1):
                connection.execute(
                    f"insert into {projection}.fact values (%s, %s, %s, %s, 'user', 'self', %s, null, 1, now(), 0, 0, 0, 0, '')",
                    (number, uuid4(), tenant, uuid4(), key),
                )
                connection.execute(
                    f"insert into {projection}.timeline values (%s, 0, now(), 1, null, null, 0, 7, null, '{{}}', null)",
                    (number,),
                )
        seen = connection.execute("select tenant_id, fact_key from chronofact.memory_timeline").fetchall()
        assert sorted(seen) == sorted([(mine, "new"), (other, "old")])
        with pytest.raises(ConstraintBroken):
            drop_projection(connection, "p2")
        connection.execute("delete from chronofact.tenant_route where tenant_id = %s", (mine,))
        connection.execute("update chronofact.projection set state = 'retired' where name = 'p2'")
        publish(connection)
        drop_projection(connection, "p2")
        seen = connection.execute("select fact_key from chronofact.memory_timeline").fetchall()
        assert seen == [("old",), ("old",)]


def test_a_projection_s_name_is_a_plain_word(database: str) -> None:
    with connect(database, "test", autocommit=True) as connection:
        for name in ("P1", "1p", "p-1", "chronofact", "p1; drop schema p1", ""):
            with pytest.raises(Unfit):
                create_projection(connection, name, rule=1)
