"""Open conflicts as metrics: a bounded number of tenants, nothing left of those that have none any more."""

from __future__ import annotations

from chronofact.contracts.conflict_counts import TenantConflicts
from chronofact.reconciler.conflicts import COUNTED_EVERY_S, TENANTS_MAX, ConflictMetrics, bounded
from chronofact.runtime.metrics import Metrics


class Counted:
    """Says what it is told to."""

    def __init__(self, *found: TenantConflicts) -> None:
        self.found = list(found)

    def count(self) -> list[TenantConflicts]:
        return self.found


def test_tenants_beyond_the_first_fifty_are_one() -> None:
    found = [TenantConflicts(f"{number:03}", number, 1, 1_000.0 - number) for number in range(1, 60)]
    told = bounded(found)
    assert len(told) == TENANTS_MAX + 1
    assert told[0] == TenantConflicts("059", 59, 1, 941.0)
    assert told[-1] == TenantConflicts("other", sum(range(1, 10)), 9, 999.0)
    assert bounded([]) == [TenantConflicts("other", 0, 0, 0.0)]


async def test_what_is_settled_is_told_no_more() -> None:
    metrics, counted = Metrics("reconciler"), Counted(TenantConflicts("acme", 3, 2, 60.0))
    instants = [0.0, 0.1, 10.0, 12.0]
    told = ConflictMetrics(counted, metrics, monotonic=lambda: instants.pop(0))
    assert told.pause_s() == 0
    await told.count()
    assert told.pause_s() == COUNTED_EVERY_S
    text = metrics.exposition().decode()
    for line in (
        'chronofact_conflicts_open{tenant="acme"} 3.0',
        'chronofact_conflicts_open_facts{tenant="acme"} 2.0',
        'chronofact_conflicts_oldest_seconds{tenant="acme"} 60.0',
        'chronofact_conflicts_open{tenant="other"} 0.0',
    ):
        assert line in text
    counted.found = []
    await told.count()
    assert "acme" not in metrics.exposition().decode()
    assert told.pause_s() == 40, "what takes long is done more seldom"
