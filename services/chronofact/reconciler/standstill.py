"""Tells of processes that stand still: in the log, and as metrics."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from chronofact.contracts.standstill import Standstill
from chronofact.domain.interval import format_instant, instant_of
from chronofact.runtime.metrics import Metrics


class Standstills:
    """What the stores and the load of one process find out."""

    def __init__(self, metrics: Metrics) -> None:
        self._silent = metrics.gauge("chronofact_rebuild_still_seconds")
        self._ended = metrics.counter("chronofact_standstills_ended_total")
        for of in ("reconciler", "worker"):
            self._silent.labels(of).set(0)

    def ended(self, what: str, stood: Standstill) -> None:
        """Who had held that was ended."""
        of = what.split(maxsplit=1)[0]
        self._ended.labels(of).inc()
        structlog.get_logger().error("still_ended", held=what, since=format_instant(instant_of(stood.since)))

    def reconciler(self, still: Standstill | None) -> None:
        """How it is with the runner of the rebuild at work."""
        self._silent.labels("reconciler").set(0 if still is None else still.seconds)

    def none(self) -> None:
        """No rebuild is at work."""
        self.reconciler(None)
        self.workers({})

    def workers(self, still: Mapping[int, Standstill]) -> None:
        """How it is with our own workers."""
        self._silent.labels("worker").set(max((one.seconds for one in still.values()), default=0))


def workers_told(still: Mapping[int, Standstill]) -> str | None:
    """What a load waits for where a worker stands still, in words."""
    if not still:
        return None
    number = min(still)
    since = format_instant(instant_of(still[number].since))
    return (
        f"worker {number} stands still since {since}; where it does not wake soon, another goes on from its checkpoints"
    )
