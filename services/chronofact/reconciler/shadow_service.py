"""Sweeps while windows are open, and tells as metrics how each comparison stands."""

from __future__ import annotations

import asyncio
import logging
import threading
from datetime import UTC, datetime
from typing import Final

import structlog

from chronofact.contracts.shadow import Report, Shadow, SweepRunning, Swept
from chronofact.reconciler.shadow import sweep
from chronofact.reconciler.shadow_ports import Shadows
from chronofact.reconciler.shadow_told import classes_body, left_s
from chronofact.runtime.failures import Unfit
from chronofact.runtime.metrics import Metrics

LOOK_S: Final = 1.0
SHARE: Final = 20
"""A sweep that takes long is made so much more seldom."""
COUNTED_EVERY: Final = 15
"""Looks between two counts where nothing was swept."""


class ShadowSweeps:
    """Looks after all open windows."""

    def __init__(self, shadows: Shadows, metrics: Metrics, *, sweep_s: float) -> None:
        self._shadows = shadows
        self._sweep_s = sweep_s
        self._stopping = threading.Event()
        self._looks = 0
        self._differences = metrics.gauge("chronofact_shadow_differences")
        self._facts = metrics.gauge("chronofact_shadow_facts")
        self._in_flight = metrics.gauge("chronofact_shadow_facts_in_flight")
        self._seconds = metrics.gauge("chronofact_shadow_sweep_seconds")
        self._left = metrics.gauge("chronofact_shadow_window_left_seconds")

    def pause_s(self) -> float:
        """Until the next look for what is due."""
        return LOOK_S

    def stop(self) -> None:
        """Gives up a sweep at work, soon; nothing of it is kept."""
        self._stopping.set()

    async def look(self) -> None:
        """Sweeps what is due, and counts what there is."""
        found = await asyncio.to_thread(self._shadows.newest, is_open=True)
        due = [one for one in found if self._is_due(one, datetime.now(UTC))]
        for one in due:
            await self._sweep(one)
        if due or self._looks % COUNTED_EVERY == 0:
            await self._count()
        self._looks += 1

    async def _sweep(self, shadow: Shadow) -> None:
        log = structlog.get_logger()
        try:
            swept = await asyncio.to_thread(sweep, self._shadows, shadow, is_stopping=self._stopping.is_set)
        except SweepRunning:
            return
        except Unfit as failure:
            log.warning("shadow_failed", projection=shadow.new, code=failure.code, message=str(failure))
            await asyncio.to_thread(self._shadows.fail, shadow.shadow_id, failure.code)
        else:
            self._log(shadow, swept)

    def _log(self, shadow: Shadow, swept: Swept) -> None:
        structlog.get_logger().log(
            logging.INFO if swept.judged else logging.DEBUG,
            "shadow_swept",
            projection=shadow.new,
            against=shadow.old,
            facts=swept.facts,
            in_flight=swept.in_flight,
            differing=swept.differing,
            judged=swept.judged,
            seconds=round(swept.seconds, 3),
        )

    def _is_due(self, shadow: Shadow, now: datetime) -> bool:
        if shadow.last_compared_at is None or now >= shadow.until:
            return True
        pause_s = max(self._sweep_s, SHARE * (shadow.last_sweep_s or 0.0))
        return (now - shadow.last_compared_at).total_seconds() >= pause_s

    async def _count(self) -> None:
        found = await asyncio.to_thread(self._shadows.newest)
        reports = [await asyncio.to_thread(self._shadows.report, one) for one in found]
        for gauge in (self._differences, self._facts, self._in_flight, self._seconds, self._left):
            gauge.clear()
        for report in reports:
            self._tell(report)

    def _tell(self, report: Report) -> None:
        shadow = report.shadow
        for name, counted in classes_body(report.counted).items():
            beyond = shadow.facts_beyond if name == "unknown" else 0
            self._differences.labels(shadow.new, name).set(counted["differences"] + beyond)
        self._facts.labels(shadow.new).set(shadow.facts - shadow.facts_in_flight)
        self._in_flight.labels(shadow.new).set(shadow.facts_in_flight)
        self._seconds.labels(shadow.new).set(shadow.last_sweep_s or 0.0)
        self._left.labels(shadow.new).set(left_s(shadow, datetime.now(UTC)))
