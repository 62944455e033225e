"""Rebuilds as metrics: how many in which state, how far the one at work has come, and how they ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from chronofact.contracts.rebuilding import RebuildState, RebuildTold
from chronofact.reconciler.rebuild_ports import Rebuilds
from chronofact.reconciler.standstill import Standstills
from chronofact.runtime.metrics import Metrics

READ_EVERY_S: Final = 2.0


class RebuildMetrics:
    """Reads again and again."""

    def __init__(
        self,
        rebuilds: Rebuilds,
        metrics: Metrics,
        standstills: Standstills,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rebuilds = rebuilds
        self._standstills = standstills
        self._monotonic = monotonic
        self._states = metrics.gauge("chronofact_rebuilds")
        self._messages = metrics.gauge("chronofact_rebuild_messages")
        self._rate = metrics.gauge("chronofact_rebuild_messages_per_second")
        self._phases = metrics.gauge("chronofact_rebuild_phase_seconds")
        self._ended = metrics.counter("chronofact_rebuilds_ended_total")
        self._failures = metrics.counter("chronofact_rebuild_failures_total")
        self._before: tuple[int, int, float] | None = None

    def pause_s(self) -> float:
        """Until the next look."""
        return READ_EVERY_S

    async def read(self) -> None:
        """Tells what stands in the database now."""
        counts = await asyncio.to_thread(self._rebuilds.counts)
        for state in RebuildState:
            self._states.labels(state.value).set(counts.get(state, 0))
        if any(not state.is_over for state in counts):
            found = await asyncio.to_thread(self._rebuilds.rebuilds, limit=100)
            at_work = [one for one in found if not one.rebuild.state.is_over]
            if at_work:
                self._tell(at_work[-1])
                return
        self._before = None
        self._rate.set(0)
        self._standstills.none()

    def ended(self, state: RebuildState, code: str | None) -> None:
        """One is over."""
        self._ended.labels(state.value).inc()
        if code is not None:
            self._failures.labels(code).inc()

    def _tell(self, found: RebuildTold) -> None:
        self._standstills.reconciler(found.stood)
        for name in ("total", "read", "folded"):
            field = "messages" if name == "folded" else f"messages_{name}"
            self._messages.labels(name).set(getattr(found, field))
        for phase, seconds in found.rebuild.phases.items():
            self._phases.labels(phase.removesuffix("_s")).set(seconds)
        now, done = self._monotonic(), (found.messages_read + found.messages) // 2
        if self._before is not None and self._before[0] == found.rebuild.rebuild_id and now > self._before[2]:
            self._rate.set(max(0.0, (done - self._before[1]) / (now - self._before[2])))
        self._before = found.rebuild.rebuild_id, done, now
