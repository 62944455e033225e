"""One look at two projections in one snapshot; what it finds is written in the transaction that found it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from psycopg import Connection, IsolationLevel
from psycopg.rows import class_row
from psycopg.types.json import Json
from psycopg.types.range import TimestamptzRange as Range

from chronofact.contracts.reading import KINDS
from chronofact.contracts.shadow import NOT_DRAWN, Candidate, Difference, Said, Shadow, Stretch, Verdict
from chronofact.postgres.check_run import WATCHED
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import IDLE_IN_SNAPSHOT_MS
from chronofact.postgres.shadow_judge import judging
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit

STRETCHES_MAX: Final = 1_000
"""Stretches of one fact on one side; the rest is one that nobody has drawn."""
VALUES_MAX: Final = 20
VALUE_BYTES_MAX: Final = 1_000
SETTLED_MAX: Final = 10_000
"""Settled differences that are kept, the newest."""
COMPARED: Final = frozenset({"catching_up", "verifying", "ready", "live"})
"""States in which a projection is fed."""
SETTINGS: Final[dict[str, str | int]] = {
    **WATCHED,
    "idle_in_transaction_session_timeout": IDLE_IN_SNAPSHOT_MS,
    "jit": "off",
    "work_mem": "64MB",
    "temp_buffers": "32MB",
}


class ShadowSweep:
    """A sweep at work; its connection is in the snapshot."""

    def __init__(self, conninfo: str, connection: Connection[Any], shadow: Shadow) -> None:
        self._conninfo = conninfo
        self._connection = connection
        self.shadow = shadow
        self.now_at = self._sides()
        self._sides_there = {"old": shadow.old, "new": shadow.new}
        self._execute("looked", {"old": shadow.old, "new": shadow.new})
        self._connection.execute("create index on looked (fact_id); analyze looked")
        counted = self._execute("looked_counts").fetchone()
        assert counted is not None  # noqa: S101 - an aggregate has one line
        self.facts, self.in_flight, self.differing = counted

    def candidates(self, *, kept_max: int, judged_max: int) -> list[Candidate]:
        """Facts to judge, of those that differ; of facts that no line tells of yet, as many as there is room for."""
        statement = script("shadow", "candidates").filled(self._connection)
        parameters = {"shadow_id": self.shadow.shadow_id, "kept_max": kept_max, "judged_max": judged_max}
        with failures_named(), self._connection.cursor(row_factory=class_row(Candidate)) as cursor:
            return cursor.execute(statement, parameters).fetchall()

    def judged(self, facts: Iterable[Candidate]) -> Mapping[int, Verdict]:
        """What the independent SQL says of them on the new side, by number."""
        snapshot = self._connection.execute("select pg_export_snapshot()").fetchone()
        assert snapshot is not None  # noqa: S101 - it always tells
        with judging(self._conninfo, snapshot[0], projection=self.shadow.new, cut_at=self.now_at) as judge:
            return judge.judge(one.new_no for one in facts if one.new_no is not None)

    def pictures(self, side: str, fact_nos: Sequence[int]) -> dict[int, list[Stretch]]:
        """The answers along valid time, as known now; ``side`` is ``old`` or ``new``."""
        found: dict[int, list[Stretch]] = {}
        for fact_no, *line in self._of_side("stretches", side, fact_nos, stretches_max=STRETCHES_MAX):
            found.setdefault(fact_no, []).append(_stretch(line))
        for stretches in found.values():
            if stretches[-1].valid_to is not None:
                rest = {"kind": NOT_DRAWN, "stretches": len(stretches)}
                stretches.append(Stretch(stretches[-1].valid_to, None, NOT_DRAWN, None, (), None, side, rest))
        return found

    def behind(self, side: str, fact_nos: Sequence[int]) -> dict[int, Said]:
        """What lies behind their answers."""
        return dict(self._of_side("behind", side, fact_nos))

    def keep(self, found: Iterable[tuple[Candidate, Sequence[Difference]]]) -> None:
        """Writes what differs of facts that were judged; what a line told of them before and is no more has settled."""
        settled = []
        for fact, differences in found:
            side, fact_no = ("new", fact.new_no) if fact.new_no is not None else ("old", fact.old_no)
            statement = script("shadow", "keep").filled(self._connection, schema=self._sides_there[side])
            lines = [{**self._line(fact, one), "fact_no": fact_no} for one in differences]
            with failures_named(), self._connection.cursor() as cursor:
                cursor.executemany(statement, lines)
            settled.append(fact.fact_id)
        self._execute("judged_again", {"fact_ids": settled})

    def finish(self) -> None:
        """What is alike now has settled; values that went from scope to scope are told as such; all is counted."""
        for name in ("seen", "settle", "moved"):
            self._execute(name)
        self._execute("swept", {"facts": self.facts, "in_flight": self.in_flight, "differing": self.differing})
        self._execute("forget", {"settled_max": SETTLED_MAX})

    def _sides(self) -> datetime:
        wanted = {"old": self.shadow.old, "new": self.shadow.new}
        there = self._execute("sides", wanted).fetchall()
        states = {name: state for name, _, state, _ in there}
        for name in (self.shadow.old, self.shadow.new):
            if name not in states:
                raise Unfit("projection_missing", f"there is no projection {name}", remedy="compare with another")
            if states[name] not in COMPARED:
                raise Unfit(
                    "projection_not_fed", f"{name} is {states[name]}, so nobody feeds it", remedy="compare with another"
                )
        found: datetime = there[0][-1]
        return found

    def _of_side(self, name: str, side: str, fact_nos: Sequence[int], **more: int) -> Iterator[tuple[Any, ...]]:
        statement = script("shadow", name).filled(self._connection, schema=self._sides_there[side])
        parameters = {
            "fact_nos": list(fact_nos),
            "values_max": VALUES_MAX,
            "value_bytes_max": VALUE_BYTES_MAX,
            **more,
        }
        with failures_named():
            yield from self._connection.execute(statement, parameters)

    def _line(self, fact: Candidate, one: Difference) -> dict[str, Any]:
        return {
            "shadow_id": self.shadow.shadow_id,
            "valid_during": None if one.is_behind else Range(one.valid_from, one.valid_to),
            "stretches": one.stretches,
            "class": one.sort.value,
            "reason": one.reason,
            "old_said": Json(one.old_said),
            "new_said": Json(one.new_said),
            "gone": list(one.gone),
            "come": list(one.come),
            "old_hash": fact.old_hash,
            "new_hash": fact.new_hash,
            "now_at": self.now_at,
        }

    def _execute(self, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
        statement = script("shadow", name).filled(self._connection, old=self.shadow.old, new=self.shadow.new)
        more = {"shadow_id": self.shadow.shadow_id, "now_at": getattr(self, "now_at", None)}
        with failures_named():
            return self._connection.execute(statement, {**more, **(parameters or {})})


@contextmanager
def sweeping(conninfo: str, connection: Connection[Any], shadow: Shadow) -> Iterator[ShadowSweep]:
    """A sweep in one transaction: all that it found is there, or nothing is; ``connection`` is in none yet.

    Raises:
        Unfit: ``projection_missing``, ``projection_not_fed``.
    """
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    with failures_named(), connection.transaction():
        yield ShadowSweep(conninfo, connection, shadow)


def _stretch(line: Sequence[Any]) -> Stretch:
    valid_from, valid_to, kind, reason, value_hashes, values_digest, versions_digest, said = line
    return Stretch(
        valid_from,
        valid_to,
        KINDS[kind],
        None if reason is None else str(reason),
        tuple(value_hashes),
        values_digest,
        versions_digest,
        said,
    )
