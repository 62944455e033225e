"""Open conflicts as metrics, by tenant: how many, in how many facts, and how old the oldest is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from chronofact.contracts.conflict_counts import TenantConflicts
from chronofact.runtime.metrics import Metrics

TENANTS_MAX: Final = 50
"""Tenants with a label of their own, those with the most open conflicts; the rest are one."""
REST: Final = "other"
COUNTED_EVERY_S: Final = 15.0
SHARE: Final = 20
"""A count that takes long is done so much more seldom."""


class OpenConflicts(Protocol):
    """Where they are counted; blocks."""

    def count(self) -> list[TenantConflicts]:
        """Every tenant that has some; raises Transient or Unfit."""
        ...


class ConflictMetrics:
    """Counts again and again."""

    def __init__(
        self, open_conflicts: OpenConflicts, metrics: Metrics, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_conflicts = open_conflicts
        self._monotonic = monotonic
        self._conflicts = metrics.gauge("chronofact_conflicts_open")
        self._facts = metrics.gauge("chronofact_conflicts_open_facts")
        self._oldest = metrics.gauge("chronofact_conflicts_oldest_seconds")
        self._pause_s = 0.0

    def pause_s(self) -> float:
        """Until the next count."""
        return self._pause_s

    async def count(self) -> None:
        """Counts, and tells what was found in place of what was told before."""
        self._pause_s = COUNTED_EVERY_S
        started = self._monotonic()
        found = await asyncio.to_thread(self._open_conflicts.count)
        self._pause_s = max(COUNTED_EVERY_S, SHARE * (self._monotonic() - started))
        for gauge in (self._conflicts, self._facts, self._oldest):
            gauge.clear()
        for one in bounded(found):
            self._conflicts.labels(one.tenant_id).set(one.conflicts)
            self._facts.labels(one.tenant_id).set(one.facts)
            self._oldest.labels(one.tenant_id).set(one.oldest_s)


def bounded(found: Iterable[TenantConflicts]) -> list[TenantConflicts]:
    """The tenants with the most, and the rest as one, which is there even when it is nobody."""
    ranked = sorted(found, key=lambda one: (-one.conflicts, one.tenant_id))
    rest = ranked[TENANTS_MAX:]
    summed = TenantConflicts(
        REST,
        sum(one.conflicts for one in rest),
        sum(one.facts for one in rest),
        max((one.oldest_s for one in rest), default=0.0),
    )
    return [*ranked[:TENANTS_MAX], summed]
