"""The last check as metrics and for the doctor: nothing is forgotten by a restart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from chronofact.cli.doctor_projection import last_check_told
from chronofact.contracts.checking import CheckWanted, Run, RunState, Tally
from chronofact.reconciler.last_check import READ_EVERY_S, LastCheckMetrics
from chronofact.runtime.metrics import Metrics

DONE = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = Run(
    7,
    CheckWanted(),
    RunState.FINISHED,
    DONE - timedelta(minutes=1),
    DONE,
    DONE,
    None,
    tally=Tally(facts=1, divergences=3),
)


class Kept:
    """Runs of before."""

    def __init__(self, run: Run | None) -> None:
        self.run = run

    def standing(self) -> list[Run]:
        return [] if self.run is None else [self.run]


async def test_a_reconciler_that_starts_tells_the_run_of_before_and_then_those_of_others() -> None:
    kept, metrics = Kept(RUN), Metrics("reconciler")
    told = LastCheckMetrics(kept, metrics)
    assert told.pause_s() == 0
    await told.read()
    assert told.pause_s() == READ_EVERY_S
    text = metrics.exposition().decode()
    assert "chronofact_reconciler_last_check_divergences 3.0" in text
    (finished,) = (one for one in text.splitlines() if one.startswith("chronofact_reconciler_last_check_finished"))
    assert float(finished.split()[1]) == DONE.timestamp()
    kept.run = replace(RUN, tally=Tally(facts=1, divergences=0))
    await told.read()
    assert "chronofact_reconciler_last_check_divergences 0.0" in metrics.exposition().decode()


def test_the_doctor_tells_its_age_and_what_it_found() -> None:
    found = last_check_told(RUN, "p1", DONE + timedelta(hours=2))
    assert (found.state, found.detail) == ("failed", "2 h ago: 3 divergences in 1 fact")
    assert "chronofact check show 7" in str(found.remedy)
    well = replace(RUN, tally=Tally(facts=2))
    assert last_check_told(well, "p1", DONE + timedelta(minutes=5)).state == "ok"
    assert last_check_told(well, "p1", DONE + timedelta(hours=40)).state == "skipped"
    assert last_check_told(None, "p1", DONE).state == "skipped"
