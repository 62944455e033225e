"""Comparisons as Postgres keeps them: windows, what was found, and one sweep of a window at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

from psycopg import Connection

from chronofact.contracts.shadow import Counted, Report, Sample, Shadow, Sort, SweepRunning
from chronofact.contracts.standstill import Ended, nobody_is_told
from chronofact.postgres.check_run import WATCHED
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import Lock, alive, held
from chronofact.postgres.session import connect
from chronofact.postgres.shadow_sweep import SETTINGS, ShadowSweep, sweeping
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit

LOCK_CLASS: Final = 0x736864  # "shd"


class ShadowStore:
    """The comparisons of one database; every call has a connection of its own."""

    def __init__(self, conninfo: str, *, still_ended: Ended = nobody_is_told) -> None:
        self._conninfo = conninfo
        self._still_ended = still_ended

    def open(self, new: str, old: str, *, window_s: float) -> tuple[Shadow, bool]:
        """Opens a window over two projections; one that is open already stays as it is. True when it is a new one.

        Raises:
            Unfit: ``projection_missing``, ``shadow_open``: one of them is not there, or another comparison is open.
        """
        with self._connected() as connection:
            _refuse_missing(connection, new, old)
            statement = script("shadow", "open").filled(connection)
            made = connection.execute(statement, {"old": old, "new": new, "window_s": window_s}).fetchone()
            found = _listed(connection, projection=new)[0]
            if made is None and found.old != old:
                raise Unfit(
                    "shadow_open",
                    f"{new} is being compared with {found.old} until {found.until:%Y-%m-%d %H:%M} UTC",
                    remedy=f"end it first: chronofact shadow stop {new}",
                )
            return found, made is not None

    def close(self, new: str) -> bool:
        """Ends the open window of a projection before its time; such a comparison proves nothing."""
        with self._connected() as connection:
            statement = script("shadow", "fail").filled(connection)
            open_ones = _listed(connection, projection=new, is_open=True)
            for one in open_ones:
                connection.execute(statement, {"shadow_id": one.shadow_id, "failure": "stopped"})
            return bool(open_ones)

    def fail(self, shadow_id: int, why: str) -> None:
        """A window that can't be looked at any more."""
        with self._connected() as connection:
            parameters = {"shadow_id": shadow_id, "failure": why[:200]}
            connection.execute(script("shadow", "fail").filled(connection), parameters)

    def newest(self, new: str | None = None, *, is_open: bool = False) -> list[Shadow]:
        """The newest comparison of a projection, or of each; newest first."""
        with self._connected() as connection:
            return _listed(connection, projection=new, is_open=is_open)

    def routed(self) -> str | None:
        """The projection that tenants read who have no route of their own."""
        with self._connected() as connection:
            found = connection.execute(
                "select r.projection from chronofact.tenant_route as r where r.tenant_id is null"
            ).fetchone()
            return None if found is None else str(found[0])

    def report(
        self, shadow: Shadow, *, tenant_id: UUID | None = None, sort: Sort | None = None, samples: int = 0
    ) -> Report:
        """What a comparison found, in one snapshot; ``sort`` bounds the samples, never the counts."""
        with self._connected(autocommit=False) as connection:
            connection.execute("set transaction isolation level repeatable read, read only")
            again = _listed(connection, shadow_id=shadow.shadow_id)
            where = {"shadow_id": shadow.shadow_id, "tenant_id": tenant_id}
            counts = connection.execute(script("shadow", "counts").filled(connection), where).fetchall()
            wanted = {**where, "class": None if sort is None else sort.value, "samples": samples}
            shown = connection.execute(script("shadow", "samples").filled(connection), wanted).fetchall()
        return Report(
            again[0] if again else shadow,
            [Counted(one[0], Sort(one[1]), *one[2:]) for one in counts],
            [Sample(*(*one[:9], Sort(one[9]), *one[10:])) for one in shown],
        )

    @contextmanager
    def sweep(self, shadow: Shadow) -> Iterator[ShadowSweep]:
        """A sweep that nobody else is at.

        Raises:
            SweepRunning: somebody is.
            Unfit: ``projection_missing``, ``projection_not_fed``.
        """
        lock = Lock(f"comparison {shadow.shadow_id}", LOCK_CLASS, str(shadow.shadow_id))
        with self._connected(SETTINGS) as connection, held(connection, lock, ended=self._still_ended) as is_ours:
            if not is_ours:
                raise SweepRunning
            # what was written goes with the lock: of a sweep that stands still, nothing may stay locked
            with alive(connection), sweeping(self._conninfo, connection, shadow) as sweep:
                yield sweep

    @contextmanager
    def _connected(
        self, settings: Mapping[str, str | int] = WATCHED, *, autocommit: bool = True
    ) -> Iterator[Connection[Any]]:
        with failures_named(), connect(self._conninfo, "shadow", autocommit=autocommit, **settings) as connection:
            yield connection


def open_shadow(conninfo: str, new: str, old: str, window_s: float) -> Shadow:
    """``ShadowStore.open``, for a rebuild that is ready; to call it again opens nothing new."""
    return ShadowStore(conninfo).open(new, old, window_s=window_s)[0]


def _refuse_missing(connection: Connection[Any], *names: str) -> None:
    there = connection.execute("select p.name from chronofact.projection as p").fetchall()
    for name in names:
        if (name,) not in there:
            listed = ", ".join(sorted(one for (one,) in there))
            raise Unfit("projection_missing", f"there is no projection {name}", remedy=f"there are {listed}")


def _listed(connection: Connection[Any], **wanted: Any) -> list[Shadow]:
    parameters = {"shadow_id": None, "projection": None, "is_open": False, **wanted}
    lines = connection.execute(script("shadow", "shadows").filled(connection), parameters).fetchall()
    return [Shadow(*line) for line in lines]
