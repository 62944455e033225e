"""The last finished check as metrics, whoever made it: read from the kept runs, so that a restart forgets nothing."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from chronofact.contracts.checking import Run
from chronofact.runtime.metrics import Metrics

READ_EVERY_S: Final = 60.0
RETRY_S: Final = 5.0


class FinishedChecks(Protocol):
    """Where runs are kept; blocks."""

    def last_finished(self, projection: str | None = None) -> Run | None:
        """The one that finished last; raises Transient or Unfit."""
        ...


class LastCheckMetrics:
    """Reads again and again, since checks are made by the command line, too."""

    def __init__(self, checks: FinishedChecks, metrics: Metrics) -> None:
        self._checks = checks
        self._divergences = metrics.gauge("chronofact_reconciler_last_check_divergences")
        self._finished_at = metrics.gauge("chronofact_reconciler_last_check_finished_seconds")
        self._pause_s = 0.0

    def pause_s(self) -> float:
        """Until the next look; none before the first."""
        return self._pause_s

    async def read(self) -> None:
        """Tells the run that finished last."""
        self._pause_s = RETRY_S
        run = await asyncio.to_thread(self._checks.last_finished)
        self._pause_s = READ_EVERY_S
        if run is not None and run.finished_at is not None:
            self._divergences.set(run.tally.divergences)
            self._finished_at.set(run.finished_at.timestamp())
