"""A rebuild's load as its runner keeps it: what is to be loaded, the bare tables, how far it is, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from uuid import UUID

from psycopg import Connection, sql
from psycopg.rows import dict_row

from chronofact.contracts.rebuilding import Rebuild, RebuildCancelled, RebuildLost, RebuildPart, RebuildState
from chronofact.postgres.errors import failures_named
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from chronofact.postgres.template import Slot, script
from chronofact.runtime.failures import Unfit

SETTINGS: Final[dict[str, str | int]] = {
    "statement_timeout": 60_000,
    "lock_timeout": 10_000,
    "client_connection_check_interval": 2_000,
}


class Loaded(NamedTuple):
    """What a load has made."""

    messages: int
    events: int
    facts: int
    parked: int
    dropped: int


class LoadStore:
    """One rebuild; every call but those within a block opens a connection of its own."""

    def __init__(self, conninfo: str, rebuild: Rebuild) -> None:
        self._conninfo = conninfo
        self._rebuild = rebuild

    def plan(self, *, topic_id: bytes, fingerprint: str, targets: Sequence[int]) -> None:
        """Fixes what is to be loaded, unless an earlier call has.

        Raises:
            Unfit: ``projection_exists``.
            RebuildLost: another runner has the rebuild.
        """
        with self._transaction() as connection:
            self._fence(connection)
            found = self._one(connection, "taken")
            if found["is_projection"] or found["is_schema"]:
                raise _taken(self._rebuild.projection)
            parameters = {"topic_id": UUID(bytes=topic_id), "fingerprint": fingerprint, "targets": list(targets)}
            connection.execute(self._statement(connection, "plan"), {**self._named, **parameters})

    def planned(self) -> Mapping[str, Any]:
        """Topic id, fingerprint and targets as they are kept; None before ``plan``."""
        with self._transaction() as connection:
            return self._one(connection, "planned")

    def prepare(self, *, fingerprint: str) -> None:
        """Makes the standard tables and takes their indexes out, in one transaction; once.

        Raises:
            Unfit: ``fold_changed``, ``projection_exists``.
            RebuildLost, RebuildCancelled: nothing was made.
        """
        rebuild = self._rebuild
        with self._transaction() as connection:
            if self._fence(connection)["fingerprint"] != fingerprint:
                raise _fold_changed(rebuild)
            if self._one(connection, "prepared")["is_prepared"]:
                return
            targets = self._one(connection, "planned")["targets"]
            name, fold = rebuild.projection, rebuild.rule
            if not create_projection(connection, name, rule=fold, state="building", partitions=len(targets)):
                raise _taken(rebuild.projection)
            connection.execute(self._statement(connection, "fold_of_projection"), {**self._named, "fold": fingerprint})
            connection.execute(self._statement(connection, "parts"), {**self._named, "targets": targets})
            connection.execute(self._statement(connection, "indexes"), self._named)
            connection.execute(self._filled(connection, "strip"))

    @contextmanager
    def watching(self) -> Iterator[Watch]:
        """A connection to look at the load and to beat for it."""
        with failures_named(), connect(self._conninfo, "rebuild", autocommit=True, **SETTINGS) as connection:
            yield Watch(connection, self._rebuild)

    def finish(self) -> Loaded:
        """Checkpoints at the targets, autovacuum back; what was needed on the way goes.

        Raises:
            RebuildLost, RebuildCancelled: nothing was changed.
        """
        with self._transaction() as connection:
            self._fence(connection)
            connection.execute(self._filled(connection, "finish"))
            statement = script("load", "result").filled(connection, schema=self._rebuild.projection)
            found = connection.execute(statement, self._named).fetchone()
        assert found is not None  # noqa: S101 - sums always answer with one line
        return Loaded(*found)

    def discard(self) -> None:
        """Removes all that the rebuild has made but its own line.

        Raises:
            Unfit: ``projection_serves``: tenants are routed to the projection, or may be.
            RebuildLost: another runner has it.
        """
        with self._transaction() as connection:
            if self._one(connection, "standing")["epoch"] != self._rebuild.epoch:
                raise RebuildLost(self._rebuild.rebuild_id)
            found = self._one(connection, "serving")
            if not found["is_mine"]:
                return
            if found["is_serving"]:
                raise Unfit(
                    "projection_serves",
                    f"tenants read {self._rebuild.projection}, or may",
                    remedy="route them to another, then `chronofact retire` it",
                )
            connection.execute(self._filled(connection, "discard"))

    def _fence(self, connection: Connection[Any]) -> Mapping[str, Any]:
        found = self._one(connection, "standing")
        if found["epoch"] != self._rebuild.epoch:
            raise RebuildLost(self._rebuild.rebuild_id)
        if found["is_cancelled"]:
            raise RebuildCancelled
        return found

    @property
    def _named(self) -> dict[str, Any]:
        rebuild = self._rebuild
        return {"rebuild_id": rebuild.rebuild_id, "epoch": rebuild.epoch, "projection": rebuild.projection}

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Any]]:
        with (
            failures_named(),
            connect(self._conninfo, "rebuild", autocommit=True, **SETTINGS) as connection,
            connection.transaction(),
        ):
            yield connection

    def _one(self, connection: Connection[Any], name: str) -> dict[str, Any]:
        cursor = connection.cursor(row_factory=dict_row)
        found = cursor.execute(self._statement(connection, name), self._named).fetchone()
        if found is None:
            raise RebuildLost(self._rebuild.rebuild_id)
        return found

    @staticmethod
    def _statement(connection: Connection[Any], name: str) -> sql.SQL:
        return script("load", name).filled(connection)

    def _filled(self, connection: Connection[Any], name: str) -> sql.SQL:
        projection = self._rebuild.projection
        slots: dict[str, Slot] = {
            "schema": projection,
            "projection": sql.Literal(projection),
            "rebuild_id": self._rebuild.rebuild_id,
        }
        return script("load", name).filled(connection, **slots)


class Watch:
    """Looks at a load, and beats for its runner."""

    def __init__(self, connection: Connection[Any], rebuild: Rebuild) -> None:
        self._connection = connection
        self._rebuild = rebuild

    def beat(self, state: RebuildState, phase: str, seconds: float, *, waiting: str | None = None) -> None:
        """The runner is alive, in this state, so many seconds more went into this phase, and it waits for that.

        Raises:
            RebuildLost, RebuildCancelled: the load has to end.
        """
        rebuild = self._rebuild
        told = {"state": state.value, "phase": phase, "seconds": seconds, "waiting": waiting}
        named = {"rebuild_id": rebuild.rebuild_id, "epoch": rebuild.epoch}
        with failures_named():
            found = self._connection.execute(
                script("load", "beat").filled(self._connection), {**named, **told}
            ).fetchone()
        if found is None:
            raise RebuildLost(rebuild.rebuild_id)
        if found[0]:
            raise RebuildCancelled

    def parts(self) -> list[RebuildPart]:
        """How far each partition is."""
        with failures_named():
            cursor = self._connection.cursor(row_factory=dict_row)
            statement = script("load", "told").filled(self._connection)
            found = cursor.execute(statement, {"rebuild_id": self._rebuild.rebuild_id}).fetchall()
        return [RebuildPart(**line) for line in found]


def _taken(projection: str) -> Unfit:
    return Unfit(
        "projection_exists",
        f"there is a projection or a schema {projection} already",
        remedy="name another projection for the rebuild",
    )


def _fold_changed(rebuild: Rebuild) -> Unfit:
    return Unfit(
        "fold_changed",
        f"rebuild {rebuild.rebuild_id} began with another fold than this code's: its two halves would differ",
        remedy="cancel it and start anew, or go on with the code that it began with",
    )
