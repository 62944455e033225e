"""Each SQLSTATE asks for one reaction: repeat, give up the lines, put the surroundings right, or stop."""

from __future__ import annotations

import socket

import psycopg
import pytest
from psycopg import errors

from chronofact.postgres.errors import failures_named, named
from chronofact.postgres.session import connect
from chronofact.runtime.failures import ConstraintBroken, Corruption, Transient, Unfit

REACTIONS = [
    (errors.SerializationFailure, Transient, "postgres_serialization"),
    (errors.DeadlockDetected, Transient, "postgres_serialization"),
    (errors.DiskFull, Transient, "postgres_resources"),
    (errors.TooManyConnections, Transient, "postgres_resources"),
    (errors.IoError, Transient, "postgres_io"),
    (errors.LockNotAvailable, Transient, "postgres_busy"),
    (errors.QueryCanceled, Transient, "postgres_busy"),
    (errors.AdminShutdown, Transient, "postgres_away"),
    (errors.CannotConnectNow, Transient, "postgres_away"),
    (errors.ConnectionFailure, Transient, "postgres_away"),
    (errors.UniqueViolation, ConstraintBroken, None),
    (errors.NotNullViolation, ConstraintBroken, None),
    (errors.NumericValueOutOfRange, ConstraintBroken, None),
    (errors.UndefinedTable, Unfit, "postgres_not_migrated"),
    (errors.InvalidSchemaName, Unfit, "postgres_not_migrated"),
    (errors.InvalidPassword, Unfit, "postgres_refuses"),
    (errors.InsufficientPrivilege, Unfit, "postgres_refuses"),
    (errors.SyntaxError, Unfit, "postgres_unexpected"),
    (errors.InternalError_, Transient, "postgres_unexpected"),
    (errors.DataCorrupted, Corruption, None),
    (errors.IndexCorrupted, Corruption, None),
]


@pytest.mark.parametrize(("error", "family", "code"), REACTIONS)
def test_a_state_has_one_reaction(error: type[psycopg.Error], family: type[Exception], code: str | None) -> None:
    found = named(error("a value of a fact"))
    assert type(found) is family
    assert "a value of a fact" not in str(found)
    if isinstance(found, Transient | Unfit):
        assert found.code == code


def test_a_port_where_nobody_listens_is_away() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"postgresql://nobody@127.0.0.1:{taken.getsockname()[1]}/none"
        with pytest.raises(Transient) as away:
            connect(address, "test")
    assert away.value.code == "postgres_away"


def test_a_connection_that_was_cut_is_away(database: str) -> None:
    with connect(database, "test", autocommit=True) as cutting:
        connection = connect(database, "test", autocommit=True)
        cutting.execute("select pg_terminate_backend(%s)", (connection.info.backend_pid,))
        with pytest.raises(Transient) as away, failures_named():
            connection.execute("select 1")
        connection.close()
    assert away.value.code == "postgres_away"


def test_a_missing_database_names_its_remedy(postgres: str) -> None:
    with pytest.raises((Unfit, Transient)) as refused:
        connect(psycopg.conninfo.make_conninfo(postgres, dbname="no_such_database"), "test")
    assert isinstance(refused.value, Unfit)
    assert "lost-database.md" in str(refused.value)


@pytest.mark.parametrize(
    ("error", "family"), [(psycopg.DataError, ConstraintBroken), (psycopg.ProgrammingError, Corruption)]
)
def test_without_a_state_only_the_data_can_be_to_blame_for_an_event(
    error: type[psycopg.Error], family: type[Exception]
) -> None:
    assert type(named(error("some value of a fact"))) is family
