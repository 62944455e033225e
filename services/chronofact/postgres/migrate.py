"""Brings a database to what this code needs; to run it again, or twice at once, changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from psycopg import Connection

from chronofact.postgres.errors import failures_named
from chronofact.postgres.projections import create_projection, publish, route_default
from chronofact.postgres.session import connect
from chronofact.postgres.template import Script, scripts
from chronofact.runtime.failures import Unfit

LOCK_KEY: Final = 0x6368726F6E6F  # "chrono"
_LEDGER: Final = """
create schema if not exists chronofact;
create table if not exists chronofact.migration (
    name text not null,
    digest text not null,
    applied_at timestamptz not null default clock_timestamp(),
    constraint migration_pkey primary key (name)
);
"""
_VECTOR: Final = """
select
    to_regtype('halfvec') is not null,
    (select e.extnamespace::regnamespace::text from pg_extension as e where e.extname = 'vector'),
    coalesce(
        (select e.extversion from pg_extension as e where e.extname = 'vector'),
        (select v.default_version from pg_available_extensions as v where v.name = 'vector')
    ),
    exists (
        select from pg_available_extension_versions as v
        where
            v.name = 'vector'
            and (
                (select r.rolsuper from pg_roles as r where r.rolname = current_user)
                or (v.trusted and has_database_privilege(current_database(), 'create'))
            )
    )
"""


class Phase(StrEnum):
    """Before the new code runs, or once no old code does."""

    PRE = "pre"
    POST = "post"


@dataclass(frozen=True, slots=True)
class Status:
    """Which migrations a database has, which it lacks, and which changed after they were applied."""

    applied: tuple[str, ...]
    missing: tuple[str, ...]
    changed: tuple[str, ...]


def migrate(
    conninfo: str,
    *,
    projection: str | None = "p1",
    rule: int = 1,
    partitions: int | None = None,
    phase: Phase | None = None,
) -> Status:
    """Applies what is missing (of one phase, or all); in a database without any projection makes this one, to serve by default.

    With None, none is made: the first rebuild becomes the one that serves.

    Raises:
        Transient: the database is away or another migration holds a lock.
        Unfit: the database is not UTF-8 or lacks pgvector, or an applied migration's file has changed.
    """
    with connect(conninfo, "migrate", autocommit=True) as connection, failures_named():
        connection.execute("select pg_advisory_lock(%s)", (LOCK_KEY,))
        _refuse_unfit(connection)
        _refuse_without_vector(connection)
        connection.execute(_LEDGER)
        before = _status(connection)
        if before.changed:
            raise Unfit(
                "migration_changed",
                f"applied migrations differ from their files: {', '.join(before.changed)}",
                remedy="restore the files; a change is a new migration",
            )
        for one in scripts("migrations"):
            if one.name in before.missing and phase in {None, _phase_of(one)}:
                _apply(connection, one)
        if projection is not None:
            _make_first(connection, projection, rule, partitions)
        publish(connection)
        return _status(connection)


def _make_first(connection: Connection[Any], projection: str, rule: int, partitions: int | None) -> None:
    """Beside others a projection is made by a rebuild: an empty one among them would be routed to or fed by mistake."""
    with connection.transaction():
        found = connection.execute("select exists (select from chronofact.projection)").fetchone()
        if found is not None and not found[0]:
            create_projection(connection, projection, rule=rule, partitions=partitions)
            route_default(connection, projection)


def status(conninfo: str) -> Status:
    """What ``migrate`` would find; a database without a ledger lacks everything."""
    with connect(conninfo, "migrate", autocommit=True) as connection, failures_named():
        return _status(connection)


def _apply(connection: Connection[Any], one: Script) -> None:
    with connection.transaction():
        connection.execute("set local lock_timeout = '5s'")
        connection.execute(one.filled(connection))
        connection.execute("insert into chronofact.migration (name, digest) values (%s, %s)", (one.name, one.digest))


def _status(connection: Connection[Any]) -> Status:
    known = {one.name: one.digest for one in scripts("migrations")}
    ledger = connection.execute("select to_regclass('chronofact.migration')").fetchone()
    applied: dict[str, str] = {}
    if ledger is not None and ledger[0] is not None:
        applied = dict(connection.execute("select name, digest from chronofact.migration order by name").fetchall())
    return Status(
        applied=tuple(applied),
        missing=tuple(name for name in known if name not in applied),
        changed=tuple(name for name, digest in applied.items() if name in known and known[name] != digest),
    )


def _phase_of(one: Script) -> Phase:
    return Phase(one.name.split("_")[1])


def _refuse_unfit(connection: Connection[Any]) -> None:
    found = connection.execute(
        "select current_setting('server_encoding'), current_setting('server_version_num')::int"
    ).fetchone()
    if found is None or found[0] != "UTF8":
        raise Unfit("database_not_utf8", "the database is not UTF-8", remedy="create it with encoding UTF8")
    if found[1] < 180_000:
        raise Unfit("postgres_too_old", "Postgres is older than 18", remedy="use Postgres 18 or newer")


def _refuse_without_vector(connection: Connection[Any]) -> None:
    """Before anything is changed, so that a server without pgvector goes on as it is (ADR 35)."""
    found = connection.execute(_VECTOR).fetchone()
    if found is None or found[0]:
        return
    _, installed_in, version, may_create = found
    if installed_in is not None:
        why = f"pgvector {version} is in the schema {installed_in}, where nobody looks, or has no type halfvec"
        remedy = "say `alter extension vector update`, and add its schema to the search_path of the database"
    elif version is None:
        why, remedy = (
            "the server has no pgvector",
            "install pgvector 0.7 or newer there (docker-compose.yml has an image)",
        )
    elif may_create:
        return
    else:
        why, remedy = "this user may not create the extension vector", "say `create extension vector` as a superuser"
    raise Unfit("pgvector_missing", why, remedy=f"{remedy}; then run `chronofact migrate` again")
