"""Single facts judged by the independent SQL and the rule of their projection, in the snapshot of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from psycopg import sql

from chronofact.contracts.checking import CheckWanted, Divergence
from chronofact.contracts.shadow import Verdict
from chronofact.postgres.check_cut import CheckCut
from chronofact.postgres.check_run import SETTINGS
from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import connect

SPREAD_MAX: Final = 4
"""Facts are judged by range of numbers: so many numbers for each that is wanted, at most, else the range is halved."""
ROOM: Final = 64


class ShadowJudge:
    """Judges facts of one projection, as known now."""

    def __init__(self, cut: CheckCut) -> None:
        self._cut = cut

    def judge(self, fact_nos: Iterable[int]) -> dict[int, Verdict]:
        """What the SQL says of each of them."""
        found: dict[int, Verdict] = {}
        waiting = [sorted(fact_nos)]
        while waiting:
            some = waiting.pop()
            if not some:
                continue
            if len(some) > 1 and some[-1] - some[0] > max(SPREAD_MAX * len(some), ROOM):
                waiting += halves(some)
                continue
            divergences, tally = self._cut.judge(some[0], some[-1])
            is_whole = tally.divergences == len(divergences) and not tally.bounded
            if is_whole or len(some) == 1:
                found |= dict(_verdicts(some, divergences, is_judged=not tally.bounded))
            else:
                waiting += halves(some)
        return found


@contextmanager
def judging(conninfo: str, snapshot_id: str, *, projection: str, cut_at: datetime) -> Iterator[ShadowJudge]:
    """A judge in a snapshot that another connection exported."""
    wanted = CheckWanted(projection, past_max=0, with_log=False, with_adjudicated=False)
    with failures_named(), connect(conninfo, "shadow", autocommit=False, **SETTINGS) as connection:
        connection.execute("set transaction isolation level repeatable read")
        connection.execute(sql.SQL("set transaction snapshot {}").format(sql.Literal(snapshot_id)))
        yield ShadowJudge(CheckCut(connection, wanted, topic_id=None, cut_at=cut_at, leaf=None))


def halves(some: Sequence[int]) -> list[list[int]]:
    """Two lists where there was one; cut at the widest gap, so that neighbours stay together."""
    at = max(range(1, len(some)), key=lambda place: some[place] - some[place - 1])
    return [list(some[:at]), list(some[at:])]


def _verdicts(
    fact_nos: Sequence[int], divergences: Iterable[Divergence], *, is_judged: bool
) -> Iterator[tuple[int, Verdict]]:
    wrong = {one.fact_no: f"{one.relation}.{one.aspect}" for one in divergences}
    for fact_no in fact_nos:
        yield fact_no, Verdict(is_judged or fact_no in wrong, wrong.get(fact_no))
