"""Whom and what facts are about, for who reads a check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from psycopg.errors import InvalidSchemaName, UndefinedTable

from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.template import script


@dataclass(frozen=True, slots=True)
class FactName:
    """One fact as a projection knows it."""

    fact_no: int
    fact_id: UUID
    subject: str
    """Its label, or its id where it has none."""
    scope: str
    key: str
    tenant_id: UUID


def fact_names(
    conninfo: str, projection: str, *, fact_ids: Iterable[UUID], fact_nos: Iterable[int]
) -> tuple[FactName, ...]:
    """Those that the projection knows; none where it is there no more.

    Raises:
        Transient, Unfit: Postgres is away, or is none of ours.
    """
    with failures_named(), connect(conninfo, "check", autocommit=True) as connection:
        statement = script("check", "fact_names").filled(connection, schema=projection)
        wanted = {"fact_ids": [*fact_ids], "fact_nos": [*fact_nos]}
        try:
            return tuple(FactName(*line) for line in connection.execute(statement, wanted))
        except (InvalidSchemaName, UndefinedTable):
            return ()
