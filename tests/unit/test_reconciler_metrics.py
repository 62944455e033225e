"""What the reconciler's metrics tell of rebuilds, verifications and routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from chronofact.contracts.outcomes import Outcomes
from chronofact.contracts.rebuilding import Rebuild, RebuildState, RebuildTold
from chronofact.contracts.standstill import Standstill
from chronofact.reconciler.outcome_metrics import READ_EVERY_S, OutcomeMetrics
from chronofact.reconciler.rebuild_metrics import RebuildMetrics
from chronofact.reconciler.standstill import Standstills
from chronofact.runtime.metrics import METRICS, Metrics
from tests.unit.rebuild_twins import MemoryRebuilds

START = datetime(2026, 1, 1, tzinfo=UTC)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"chronofact_{name}", labels)


class Outside:
    """Says what it is told to."""

    def __init__(self) -> None:
        self.found = Outcomes()

    def count(self) -> Outcomes:
        return self.found


async def test_verifications_and_routes_are_told_as_they_stand() -> None:
    metrics, outside = Metrics("reconciler"), Outside()
    told = OutcomeMetrics(outside, metrics)
    assert told.pause_s() == 0
    outside.found = Outcomes(
        {"identical": 3, "different": 1}, [("p1", "p2", 4)], [("p1", 7, 0), ("p2", 2, 1)], {"switch": 5}
    )
    await told.read()
    assert told.pause_s() == READ_EVERY_S
    outcomes = ("running", "identical", "different", "failed")
    assert [value(metrics, "verifications", outcome=one) for one in outcomes] == [0, 3, 1, 0]
    assert value(metrics, "verification_differences", left="p1", right="p2") == 4
    lines = {
        (one, of): value(metrics, "routes", projection=one, of=of)
        for one in ("p1", "p2")
        for of in ("tenant", "default")
    }
    assert lines == {("p1", "tenant"): 7, ("p1", "default"): 0, ("p2", "tenant"): 2, ("p2", "default"): 1}
    assert [value(metrics, "route_changes", kind=one) for one in ("switch", "rollback")] == [5, 0]
    outside.found = Outcomes({"identical": 4}, [], [("p2", 0, 1)], {"switch": 5, "rollback": 1})
    await told.read()
    assert value(metrics, "verification_differences", left="p1", right="p2") is None
    assert value(metrics, "routes", projection="p1", of="tenant") is None
    assert value(metrics, "route_changes", kind="rollback") == 1


class OneAtWork(MemoryRebuilds):
    """A rebuild that has come so far."""

    def __init__(self) -> None:
        super().__init__()
        rebuild = Rebuild(1, "p2", 1, RebuildState.BUILDING, 2, 0, START, phases={"plan_s": 0.5, "load_s": 2.0})
        self.told = RebuildTold(rebuild, 1_000, 0, 0, 0, 0, 0)

    def counts(self) -> Mapping[RebuildState, int]:
        return {self.told.rebuild.state: 1, RebuildState.FAILED: 2}

    def rebuilds(self, *, before: int | None = None, limit: int = 100) -> list[RebuildTold]:
        return [self.told]


async def test_a_rebuild_is_told_with_its_phases_and_rate() -> None:
    clock = iter(range(0, 100, 2))
    metrics, rebuilds = Metrics("reconciler"), OneAtWork()
    told = RebuildMetrics(rebuilds, metrics, Standstills(metrics), monotonic=lambda: float(next(clock)))
    rates = []
    for before, now in pairwise((0, 400, 1_000)):
        rebuilds.told = replace(rebuilds.told, messages_read=now, messages=before)
        await told.read()
        rates.append(value(metrics, "rebuild_messages_per_second"))
    assert rates == [0, ((1_000 + 400) // 2 - 200) / 2]
    assert [value(metrics, "rebuild_messages", stage=one) for one in ("total", "read", "folded")] == [1_000, 1_000, 400]
    assert value(metrics, "rebuild_phase_seconds", phase="load") == 2
    assert value(metrics, "rebuilds", state="building") == 1
    rebuilds.told = replace(rebuilds.told, rebuild=replace(rebuilds.told.rebuild, state=RebuildState.READY))
    await told.read()
    states = ("building", "ready", "failed", "cancelled")
    assert [value(metrics, "rebuilds", state=one) for one in states] == [0, 1, 2, 0]
    assert value(metrics, "rebuild_messages_per_second") == 0
    told.ended(RebuildState.READY, None)
    told.ended(RebuildState.FAILED, "log_truncated")
    assert value(metrics, "rebuilds_ended_total", state="ready") == 1
    assert value(metrics, "rebuild_failures_total", code="log_truncated") == 1


async def test_who_stands_still_is_told_until_it_goes_on() -> None:
    metrics, rebuilds = Metrics("reconciler"), OneAtWork()
    standstills = Standstills(metrics)
    told = RebuildMetrics(rebuilds, metrics, standstills)

    def silent() -> list[float | None]:
        return [value(metrics, "rebuild_still_seconds", of=one) for one in ("reconciler", "worker")]

    assert silent() == [0, 0]
    rebuilds.told = replace(rebuilds.told, still=Standstill(START, 7.5))
    standstills.workers({2: Standstill(START, 6.0), 4: Standstill(START, 9.0)})
    await told.read()
    assert silent() == [7.5, 9]
    rebuilds.told = replace(rebuilds.told, still=None)
    await told.read()
    assert silent() == [0, 9]
    rebuilds.told = replace(rebuilds.told, rebuild=replace(rebuilds.told.rebuild, state=RebuildState.READY))
    await told.read()
    assert silent() == [0, 0]
    for what in ("rebuild 3", "rebuild turn", "worker 2", "check of p1"):
        standstills.ended(what, Standstill(START, 30.0))
    ended = [value(metrics, "standstills_ended_total", of=one) for one in ("rebuild", "worker", "check")]
    assert ended == [2, 1, 1]


def test_the_reconciler_has_them_all() -> None:
    page = Metrics("reconciler").exposition().decode()
    mine = [one for one in METRICS if "reconciler" in one.services]
    for area in ("rebuild", "verification", "shadow", "route"):
        assert any(area in one.name for one in mine), area
    for one in mine:
        assert f"# TYPE {one.name.removesuffix('_total') if one.kind == 'counter' else one.name}" in page, one.name
