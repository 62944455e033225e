"""Verifications and routes as metrics, whoever made them: read from what is kept, so that a restart forgets nothing."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from chronofact.contracts.outcomes import OUTCOMES, Outcomes
from chronofact.contracts.routing import Kind
from chronofact.runtime.metrics import Metrics

READ_EVERY_S: Final = 5.0


class Counting(Protocol):
    """Where verifications and routes are kept; blocks."""

    def count(self) -> Outcomes:
        """As they stand now; raises Transient or Unfit."""
        ...


class OutcomeMetrics:
    """Reads again and again, since the command line verifies and switches, too."""

    def __init__(self, counting: Counting, metrics: Metrics) -> None:
        self._counting = counting
        self._verifications = metrics.gauge("chronofact_verifications")
        self._differences = metrics.gauge("chronofact_verification_differences")
        self._routes = metrics.gauge("chronofact_routes")
        self._changes = metrics.gauge("chronofact_route_changes")
        self._pause_s = 0.0

    def pause_s(self) -> float:
        """Until the next look; none before the first."""
        return self._pause_s

    async def read(self) -> None:
        """Tells what stands in the database now."""
        self._pause_s = READ_EVERY_S
        found = await asyncio.to_thread(self._counting.count)
        for outcome in OUTCOMES:
            self._verifications.labels(outcome).set(found.verifications.get(outcome, 0))
        for kind in Kind:
            self._changes.labels(kind.value).set(found.changes.get(kind.value, 0))
        self._differences.clear()
        for left, right, differences in found.differences:
            self._differences.labels(left, right).set(differences)
        self._routes.clear()
        for projection, tenants, others in found.routes:
            self._routes.labels(projection, "tenant").set(tenants)
            self._routes.labels(projection, "default").set(others)
