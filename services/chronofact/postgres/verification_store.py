"""Verifications as Postgres keeps them: the list, what each found, and one at a time for a projection."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Any, Final
from uuid import UUID

from psycopg import Connection
from psycopg.rows import dict_row

from chronofact.contracts.standstill import Ended, nobody_is_told
from chronofact.contracts.verification import (
    Aspects,
    Difference,
    NamedFact,
    Verification,
    VerificationRunning,
    VerificationState,
    VerifyTally,
    VerifyWanted,
)
from chronofact.postgres.errors import failures_named
from chronofact.postgres.holding import Lock, alive, held
from chronofact.postgres.session import connect
from chronofact.postgres.template import script
from chronofact.runtime.failures import Unfit

LOCK_CLASS: Final = 0x766572  # "ver"
_DIED: Final = {"failure": "its process died", "remedy": "nothing is held or left of it: verify again"}
_WATCHED: Final[dict[str, str | int]] = {"idle_in_transaction_session_timeout": 0}
_OF_FACT: Final = ("fact_id", "tenant_id", "subject_id", "subject_label", "scope_kind", "scope_key", "fact_key")


class VerificationRun:
    """One at work; its connection holds the locks of both projections."""

    def __init__(self, connection: Connection[Any], verification_id: int) -> None:
        self._connection = connection
        self.verification_id = verification_id

    def took_cut(self, topic_id: UUID | None, next_offsets: Mapping[int, int]) -> None:
        """The common cut is found."""
        listed = [next_offsets.get(one, 0) for one in range(max(next_offsets, default=-1) + 1)]
        self._execute("took_cut", {"topic_id": topic_id, "next_offsets": listed})

    def progress(self, tally: VerifyTally) -> None:
        """How far it has come."""
        self._execute("progress", asdict(tally))

    def found(self, differences: Sequence[Difference]) -> None:
        """Keeps what differs."""
        with failures_named(), self._connection.cursor() as cursor:
            statement = script("verify", "keep").filled(self._connection)
            cursor.executemany(statement, [self._kept(one) for one in differences])

    def finish(self, tally: VerifyTally) -> None:
        """All of it was compared."""
        with failures_named(), self._connection.transaction():
            self.progress(tally)
            self._execute("finish", {})

    def fail(self, failure: str, *, code: str, remedy: str | None) -> None:
        """It came to nothing."""
        if not self._connection.closed:
            self._execute("fail", {"failure": failure[:500], "failure_code": code, "remedy": remedy})

    def _execute(self, name: str, parameters: Mapping[str, Any]) -> None:
        with failures_named():
            named = {"verification_id": self.verification_id, **parameters}
            self._connection.execute(script("verify", name).filled(self._connection), named)

    def _kept(self, one: Difference) -> dict[str, Any]:
        fact = dict.fromkeys(_OF_FACT) if one.fact is None else asdict(one.fact)
        return {
            "verification_id": self.verification_id,
            **fact,
            "fact_id": one.fact_id,
            "aspect": one.aspect,
            "left_lines": one.left_lines,
            "right_lines": one.right_lines,
            "left_said": _listed(one.left_said),
            "right_said": _listed(one.right_said),
        }


class VerificationStore:
    """Those of one database; every call has a connection of its own."""

    def __init__(self, conninfo: str, *, still_ended: Ended = nobody_is_told) -> None:
        self._conninfo = conninfo
        self._still_ended = still_ended

    @contextmanager
    def begin(self, wanted: VerifyWanted) -> Iterator[VerificationRun]:
        """A new one, which holds both projections' locks; whatever ends it early marks it failed.

        Raises:
            VerificationRunning: another one is at work on one of them.
            Unfit: ``projection_missing``.
        """
        both = sorted((wanted.left, wanted.right))
        with failures_named(), self._connected() as connection, ExitStack() as locks:
            for one in both:
                if not locks.enter_context(held(connection, _lock(one), ended=self._still_ended)):
                    raise VerificationRunning(one)
            died = {**_DIED, "projections": both}
            connection.execute(script("verify", "died").filled(connection), died)
            run = VerificationRun(connection, _begun(connection, wanted))
            try:
                with alive(connection):
                    yield run
            except BaseException as error:
                code = getattr(error, "code", type(error).__name__)
                run.fail(str(error) or code, code=code, remedy=getattr(error, "remedy", None))
                raise

    def verifications(self, *, before: int | None, limit: int) -> list[Verification]:
        """Newest first."""
        return self._listed({"before": before, "verification_id": None, "limit": limit})

    def verification(self, verification_id: int) -> Verification | None:
        """One of them."""
        return next(iter(self._listed({"before": None, "verification_id": verification_id, "limit": 1})), None)

    def differences(self, verification_id: int, *, after: int, limit: int) -> list[tuple[int, Difference]]:
        """What it found, by number."""
        with failures_named(), self._connected() as connection:
            parameters = {"verification_id": verification_id, "after": after, "limit": limit}
            found = connection.execute(script("verify", "differences").filled(connection), parameters).fetchall()
        return [(line[0], _difference_of(line[1:])) for line in found]

    def bury(self) -> None:
        """Marks failed what is still said to run, though its process died."""
        with failures_named(), self._connected() as connection:
            orphans = {**_DIED, "lock_class": LOCK_CLASS}
            connection.execute(script("verify", "orphans").filled(connection), orphans)

    def _listed(self, parameters: dict[str, Any]) -> list[Verification]:
        with failures_named(), self._connected() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            statement = script("verify", "verifications").filled(connection)
            return [_verification_of(line) for line in cursor.execute(statement, parameters)]

    def _connected(self) -> Connection[Any]:
        return connect(self._conninfo, "verify", autocommit=True, **_WATCHED)


def _lock(projection: str) -> Lock:
    return Lock(f"verification of {projection}", LOCK_CLASS, projection)


def _begun(connection: Connection[Any], wanted: VerifyWanted) -> int:
    parameters = {"left_projection": wanted.left, "right_projection": wanted.right, "aspects": wanted.aspects.value}
    found = connection.execute(script("verify", "begin").filled(connection), parameters).fetchone()
    if found is None:
        both = (wanted.left, wanted.right)
        there = connection.execute("select p.name from chronofact.projection as p where p.name = any(%s)", ([*both],))
        known = {name for (name,) in there}
        missing = " and no projection ".join(one for one in both if one not in known)
        raise Unfit(
            "projection_missing",
            f"there is no projection {missing}",
            remedy="name others: `chronofact rebuild list` and `chronofact doctor` tell which there are",
        )
    return int(found[0])


def _listed(said: Sequence[str]) -> str:
    """Lines that are JSON, as one list."""
    return f"[{','.join(said)}]"


def _difference_of(line: tuple[Any, ...]) -> Difference:
    fact_id, named, (aspect, left_lines, right_lines, left_said, right_said) = line[0], line[1:7], line[7:]
    fact = None if named[0] is None else NamedFact(fact_id, *named)
    said = ([json.dumps(one) for one in side] for side in (left_said, right_said))
    return Difference(fact_id, fact, aspect, left_lines, right_lines, *said)


def _verification_of(line: dict[str, Any]) -> Verification:
    return Verification(
        line["verification_id"],
        VerifyWanted(line["left_projection"], line["right_projection"], Aspects(line["aspects"])),
        (line["rule_left"], line["rule_right"]),
        VerificationState(line["state"]),
        line["started_at"],
        line["finished_at"],
        line["cut_at"],
        line["topic_id"],
        dict(enumerate(line["next_offsets"] or ())),
        VerifyTally(**{name: line[name] for name in ("facts", "facts_total", "lines", "differences")}),
        line["identical"],
        line["failure"],
        line["failure_code"],
        line["remedy"],
    )
