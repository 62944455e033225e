"""Our side of a comparison with the user's table: the lines laid beside our answers, in one snapshot, and judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg import Connection

from chronofact.contracts.baseline import BadLine, BaselineReport, Theirs, Why
from chronofact.contracts.shadow import NOT_THERE, Sample, Sort, Verdict
from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect
from chronofact.postgres.shadow_judge import judging
from chronofact.postgres.shadow_sweep import SETTINGS
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit

JUDGED_AT_ONCE: Final = 2_000
_COLUMNS: Final = (
    "line, fact_id, tenant_id, subject_id, subject, scope_kind, scope_key, fact_key, shown, value_keys, part_keys"
)


class BaselineSide:
    """Temporary tables of one connection."""

    def __init__(self, conninfo: str, connection: Connection[Any], projection: str) -> None:
        self._conninfo = conninfo
        self._connection = connection
        self._projection = projection
        self._snapshot_id = ""
        self._now_at: datetime | None = None

    def rule(self) -> int:
        """The rule version of the projection.

        Raises:
            Unfit: ``projection_missing``.
        """
        found = self._connection.execute(
            "select p.rule from chronofact.projection as p where p.name = %s", (self._projection,)
        ).fetchone()
        if found is None:
            raise Unfit("projection_missing", f"there is no projection {self._projection}", remedy="name another")
        return int(found[0])

    def lay(self, lines: Iterable[Theirs]) -> list[BadLine]:
        """Takes all lines in; those that name the same fact again are told, and left out."""
        self._execute("theirs")
        statement = f"copy theirs ({_COLUMNS}) from stdin"
        with failures_named(), self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for one in lines:
                copy.write_row(_laid(one))
        doubles = self._execute("doubles").fetchall()
        self._connection.execute("analyze theirs")
        return [
            BadLine(line, "key", "fact_named_twice", f"names the same fact as line {first}") for line, first in doubles
        ]

    def compare(self, report: BaselineReport, valid_at: datetime | None) -> None:
        """Lays both sides beside one another in one snapshot, which stays until the end."""
        self._connection.execute("begin isolation level repeatable read")
        snapshot = self._connection.execute("select pg_export_snapshot(), clock_timestamp()").fetchone()
        assert snapshot is not None  # noqa: S101 - it always tells
        self._snapshot_id, self._now_at = snapshot
        report.valid_at = valid_at or snapshot[1]
        self._execute("beside", {"at": report.valid_at})
        self._connection.execute("create index on beside (tenant_id, subject_id, fact_key)")
        self._connection.execute("create index on beside (fact_no)")
        self._connection.execute("analyze beside")
        counted = self._execute("counts").fetchone()
        (
            report.both,
            report.equal,
            report.only_theirs,
            report.only_ours,
            report.tenants,
            report.tenants_not_named,
        ) = counted

    def judge(self) -> Iterator[int]:
        """Has the independent SQL judge each fact that differs; how many are done, again and again."""
        assert self._now_at is not None  # noqa: S101 - compared before
        fact_nos = [fact_no for (fact_no,) in self._execute("differing").fetchall()]
        if fact_nos:
            with judging(self._conninfo, self._snapshot_id, projection=self._projection, cut_at=self._now_at) as judge:
                for at in range(0, len(fact_nos), JUDGED_AT_ONCE):
                    self._keep(judge.judge(fact_nos[at : at + JUDGED_AT_ONCE]))
                    yield min(at + JUDGED_AT_ONCE, len(fact_nos))
        self._execute("classify")

    def whys(self, tenant_id: UUID | None) -> list[Why]:
        """Differences by tenant, class and reason."""
        found = self._execute("classes", {"tenant_id": tenant_id}).fetchall()
        return [Why(one[0], Sort(one[1]), one[2], one[3]) for one in found]

    def told(self, *, tenant_id: UUID | None, sort: Sort | None, samples: int | None) -> Iterator[Sample]:
        """Differences with both sides: some of each reason, or all."""
        wanted = {"tenant_id": tenant_id, "class": None if sort is None else sort.value, "samples": samples}
        for line in self._execute("told", wanted):
            name, why, number, theirs, ours = line[7:]
            said = NOT_THERE if number is None else {"kind": "value", "value": theirs, "line": number}
            behind, stretches = False, 1
            yield Sample(*(*line[:7], behind, stretches, Sort(name), why, said, ours))

    def _keep(self, verdicts: Mapping[int, Verdict]) -> None:
        wrong = {
            fact_no: f"check_disagrees {one.wrong}" if one.is_judged else "check_could_not_judge"
            for fact_no, one in verdicts.items()
            if not one.agrees
        }
        self._execute("wrong", {"fact_nos": list(wrong), "whys": list(wrong.values())})

    def _execute(self, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
        statement = script("baseline", name).filled(self._connection, schema=self._projection)
        with failures_named():
            return self._connection.execute(statement, parameters)


@contextmanager
def our_side(conninfo: str, projection: str) -> Iterator[BaselineSide]:
    """Our side, for as long as the block runs."""
    with failures_named(), connect(conninfo, "baseline", autocommit=True, **SETTINGS) as connection:
        yield BaselineSide(conninfo, connection, projection)


def _laid(one: Theirs) -> Sequence[Any]:
    return (
        one.number,
        UUID(bytes=one.fact_id),
        one.tenant_id,
        one.subject_id,
        one.subject,
        one.scope_kind,
        one.scope_key,
        one.key,
        one.shown,
        list(one.value_keys),
        None if one.part_keys is None else list(one.part_keys),
    )
