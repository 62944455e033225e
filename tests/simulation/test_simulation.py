"""Seeded worlds: whatever happens to projectors, log and database, the projection is what the log says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from chronofact.embedded.compiled import with_build
from tests.simulation.checks import problems
from tests.simulation.faults import FAULTS, LOCK_TIMEOUT, REFUSED, WEATHERS
from tests.simulation.found_seeds import FOUND
from tests.simulation.running import Report, report_of, run
from tests.simulation.world import World

SEEDS = 300
AT_ONCE = 20
HAPPENED = {
    *(fault.name for fault in (*FAULTS, LOCK_TIMEOUT, REFUSED)),
    *(
        f"crash at {step}"
        for step in ("claim", "claim locked", "claimed", "begin", "advance", "load", "write", "written")
    ),
    *(f"crash at {step}" for step in ("commit", "committed", "poll", "start", "look", "asked")),
    *("killed", "killed inside a transaction", "told to stop", "came back within its session", "evicted"),
    *("nap", "nap inside a transaction", "fenced", "rebalance", "rebalance inside a transaction"),
    *("committed after its client was gone", "rolled back late", "session terminated", "ended who stood still"),
    "restored from an older copy",
    *("held", "could not hold", "a batch met a hold", "a release met a hold"),
    *("waited for a line", "slow commit", "slow step"),
    *("redelivered", "ran ahead", "offset without a message", "broker time went back"),
    *("asked for a release", "released", "asked for a drop", "dropped", "dropped by mistake", "mended"),
}
"""All of it has to happen within the seeds of a run, or they show less than they seem to."""


def fail_on(reports: list[Report]) -> None:
    wrong = [report for report in reports if report.problems]
    if wrong:
        seeds = [report.seed for report in wrong]
        pytest.fail(f"{len(wrong)} of {len(reports)} worlds, seeds {seeds}\n{wrong[0].told()}", pytrace=False)


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
def test_a_projection_is_what_its_log_says_whatever_happened(first: int) -> None:
    fail_on([report_of(seed) for seed in range(first, first + AT_ONCE)])


@pytest.mark.parametrize("seed", FOUND)
def test_what_was_once_found_stays_mended(seed: int) -> None:
    fail_on([report_of(seed)])


def test_everything_that_can_go_wrong_did_and_between_any_two_steps() -> None:
    counts: Counter[str] = sum((report_of(seed).counts for seed in range(SEEDS)), Counter())
    assert not sorted(kind for kind in HAPPENED if not counts[kind])
    assert {report_of(seed).weather for seed in range(SEEDS)} == set(WEATHERS)
    assert counts["switch inside a transaction"] > 5 * SEEDS
    assert counts["switch"] > 50 * SEEDS


def test_some_worlds_are_of_another_rule_and_it_tells() -> None:
    """What a world of rule 2 leaves is not what the same log would leave by rule 1."""
    worlds = [World(seed) for seed in range(SEEDS)]
    assert 0.15 * SEEDS < sum(world.rule == 2 for world in worlds) < 0.5 * SEEDS
    second = next(world for world in worlds if world.rule == 2)
    with second.lived():
        assert problems(second) == []
        second.rule = 1
        assert problems(second)


def test_worlds_are_large_enough_to_go_wrong_in() -> None:
    reports = [report_of(seed) for seed in range(SEEDS)]
    assert sum(report.messages for report in reports) > 40 * SEEDS
    assert sum(report.steps for report in reports) > 300 * SEEDS


def test_a_seed_is_one_schedule_in_any_process_and_by_machine_code() -> None:
    script = "from tests.simulation.running import run; print([run(seed).fingerprint for seed in range(16)])"
    plain = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed, environ in (("1", plain), ("2", plain), ("3", with_build(plain)))
    ]
    assert told == [str([report_of(seed).fingerprint for seed in range(16)])] * 3


def test_a_failing_seed_says_how_to_run_it_again() -> None:
    report = run(3)
    told = Report(**{**vars(report), "problems": ("an event was lost",)}).told()
    assert "an event was lost" in told
    assert "python -m tests.simulation 3" in told
    assert "projector-0" in told
