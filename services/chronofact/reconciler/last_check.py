"""The last finished checks as metrics, whoever made them: read from the kept runs, so that a restart forgets nothing."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from chronofact.contracts.checking import Run
from chronofact.runtime.metrics import Metrics

READ_EVERY_S: Final = 15.0
RETRY_S: Final = 5.0


class FinishedChecks(Protocol):
    """Where runs are kept; blocks."""

    def standing(self) -> list[Run]:
        """The last finished run of each projection that tenants read; raises Transient or Unfit."""
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
        """Tells what those runs found together, and when the oldest of them finished."""
        self._pause_s = RETRY_S
        runs = await asyncio.to_thread(self._checks.standing)
        self._pause_s = READ_EVERY_S
        finished = [run.finished_at.timestamp() for run in runs if run.finished_at is not None]
        if finished:
            self._divergences.set(sum(run.tally.divergences for run in runs))
            self._finished_at.set(min(finished))
