"""Checks as Postgres keeps them: the list of runs, what each found, and one owner of a projection's check at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from psycopg import Connection
from psycopg.errors import ForeignKeyViolation
from psycopg.rows import dict_row

from chronofact.contracts.checking import CheckRunning, CheckWanted, Divergence, Run, RunState, Tally
from chronofact.contracts.standstill import Ended, nobody_is_told
from chronofact.postgres.check_run import WATCHED, CheckRun
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import Lock, alive, held
from chronofact.postgres.session import connect
from chronofact.postgres.standing import Standing
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit

LOCK_CLASS: Final = 0x63686B  # "chk"
_DIED: Final = "its process died"


class CheckStore:
    """The runs of one database; every call has a connection of its own."""

    def __init__(self, conninfo: str, *, still_ended: Ended = nobody_is_told) -> None:
        self._conninfo = conninfo
        self._still_ended = still_ended

    @contextmanager
    def begin(self, wanted: CheckWanted) -> Iterator[CheckRun]:
        """A new run, which holds its projection's lock; whatever ends it early marks it failed.

        Raises:
            CheckRunning: another one is at work on this projection.
            Transient, Unfit: Postgres is away, or has no such projection.
        """
        with (
            failures_named(),
            connect(self._conninfo, "check", autocommit=True, **WATCHED) as connection,
            held(connection, _lock(wanted.projection), ended=self._still_ended) as is_ours,
        ):
            if not is_ours:
                raise CheckRunning(wanted.projection)
            connection.execute(script("check", "run_died").filled(connection), (_DIED, wanted.projection))
            run_id = _begun(connection, wanted)
            run = CheckRun(self._conninfo, connection, run_id, wanted)
            try:
                with alive(connection):
                    yield run
            except BaseException as error:
                run.fail(getattr(error, "code", type(error).__name__))
                raise

    def runs(self, *, before: int | None, limit: int) -> list[Run]:
        """Newest first."""
        return self._listed("runs", {"before": before, "limit": limit})

    def run(self, run_id: int) -> Run | None:
        """One of them."""
        return next(iter(self._listed("run", {"run_id": run_id})), None)

    def last_finished(self, projection: str | None = None) -> Run | None:
        """The run that finished last, of a projection or of any."""
        return next(iter(self._listed("last_finished", {"projection": projection})), None)

    def routed(self) -> list[str]:
        """The projections that tenants read, that of all without a line of their own first."""
        return Standing(self._conninfo).routed()

    def standing(self) -> list[Run]:
        """The last finished run of each of them; of any where tenants read none."""
        found = [*map(self.last_finished, self.routed())] or [self.last_finished()]
        return [run for run in found if run is not None]

    def divergences(self, run_id: int, *, after: int, limit: int) -> list[tuple[int, Divergence]]:
        """What it found, by number."""
        with failures_named(), connect(self._conninfo, "check", autocommit=True, **WATCHED) as connection:
            statement = script("check", "divergences").filled(connection)
            parameters = {"run_id": run_id, "after": after, "limit": limit}
            found = connection.execute(statement, parameters).fetchall()
        return [(number, Divergence(*line)) for number, *line in found]

    def _listed(self, name: str, parameters: dict[str, Any]) -> list[Run]:
        with failures_named(), connect(self._conninfo, "check", autocommit=True, **WATCHED) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            return [_run_of(line) for line in cursor.execute(script("check", name).filled(connection), parameters)]


def _lock(projection: str) -> Lock:
    return Lock(f"check of {projection}", LOCK_CLASS, projection)


def _begun(connection: Connection[Any], wanted: CheckWanted) -> int:
    statement = script("check", "begin").filled(connection)
    parameters = {
        "projection": wanted.projection,
        "seed": wanted.seed,
        "past_max": wanted.past_max,
        "with_log": wanted.with_log,
        "with_adjudicated": wanted.with_adjudicated,
    }
    try:
        found = connection.execute(statement, parameters).fetchone()
    except ForeignKeyViolation:
        raise Unfit(
            "projection_missing",
            f"there is no projection {wanted.projection}",
            remedy="name another: `chronofact routes` and `chronofact rebuild list` tell which there are",
        ) from None
    assert found is not None  # noqa: S101 - an insert tells its number
    return int(found[0])


def _run_of(line: dict[str, Any]) -> Run:
    wanted = CheckWanted(
        line["projection"],
        past_max=line["past_max"],
        seed=line["seed"],
        with_log=line["with_log"],
        with_adjudicated=line["with_adjudicated"],
    )
    names = ("facts", "facts_total", "events", "messages", "messages_total", "divergences", "bounded")
    return Run(
        line["run_id"],
        wanted,
        RunState(line["state"]),
        line["started_at"],
        line["finished_at"],
        line["cut_at"],
        line["topic_id"],
        dict(enumerate(line["next_offsets"] or ())),
        Tally(**{name: line[name] for name in names}),
        line["adjudicated"],
        line["failure"],
    )
