"""Starts checks, one of a projection at a time, and tells what they found."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import SystemRandom
from typing import Any

import structlog

from chronofact.contracts.checking import CheckRunning, CheckWanted, Divergence, Run, RunState
from chronofact.domain.errors import Rejected
from chronofact.reconciler.check import Checker, Outcome
from chronofact.reconciler.ports import Checks
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.metrics import Metrics

SEED_BELOW = 2**31


class Reconciler:
    """Checks of one database, each in a thread of its own."""

    def __init__(self, checks: Checks, checker: Callable[[], Checker], metrics: Metrics) -> None:
        self._checks = checks
        self._checker = checker
        self._running: set[asyncio.Task[None]] = set()
        self._runs = metrics.counter("chronofact_reconciler_checks_total")
        self._divergences = metrics.counter("chronofact_reconciler_divergences_total")
        self._facts = metrics.counter("chronofact_reconciler_facts_total")
        self._seconds = metrics.gauge("chronofact_reconciler_check_seconds")

    async def start(self, wanted: CheckWanted) -> Run:
        """Begins a check and does not wait for its end.

        Raises:
            Rejected: ``check_running``.
        """
        run_id, _ = await self._begin(wanted)
        run = await asyncio.to_thread(self._checks.run, run_id)
        if run is None:
            raise Rejected("not_found", "the check has gone")
        return run

    async def served(self, projection: str) -> str:
        """What tenants without a line of their own read; this one where no route is there."""
        return next(iter(await asyncio.to_thread(self._checks.routed)), projection)

    async def check_daily(self, projection: str) -> None:
        """A check of each projection that tenants read, one after the other; of this one where no route is there."""
        for one in await asyncio.to_thread(self._checks.routed) or [projection]:
            await self._check_one(one)

    async def _check_one(self, projection: str) -> None:
        """One check, waited for; none where one is running already."""
        try:
            _, checking = await self._begin(CheckWanted(projection, seed=new_seed()))
        except Rejected:
            return
        await asyncio.shield(checking)

    async def _begin(self, wanted: CheckWanted) -> tuple[int, asyncio.Task[None]]:
        """A check that has begun, and its number."""
        begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        checking = asyncio.create_task(self._check(wanted, begun))
        self._running.add(checking)
        checking.add_done_callback(self._running.discard)
        either: set[asyncio.Future[Any]] = {checking, begun}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            begun.cancel()
            await checking  # which raises why it could not begin
        return begun.result(), checking

    async def runs(self, *, before: int | None, limit: int) -> list[Run]:
        """Newest first."""
        return await asyncio.to_thread(self._checks.runs, before=before, limit=limit)

    async def divergences(self, run_id: int, *, after: int, limit: int) -> list[tuple[int, Divergence]]:
        """What a run found, by number."""
        return await asyncio.to_thread(self._checks.divergences, run_id, after=after, limit=limit)

    async def run(self, run_id: int) -> Run:
        """One run.

        Raises:
            Rejected: ``not_found``.
        """
        run = await asyncio.to_thread(self._checks.run, run_id)
        if run is None:
            raise Rejected("not_found", "no check has this number", field="run_id")
        return run

    async def stop(self) -> None:
        """Ends what is running; such a check is marked failed."""
        self._checker().stop()
        if self._running:
            await asyncio.wait(self._running, timeout=10)

    async def _check(self, wanted: CheckWanted, begun: asyncio.Future[int]) -> None:
        log = structlog.get_logger()
        loop = asyncio.get_running_loop()
        started = time.monotonic()

        def tell(run_id: int) -> None:
            loop.call_soon_threadsafe(begun.set_result, run_id)

        try:
            outcome = await asyncio.to_thread(self._checker().check, wanted, tell)
        except CheckRunning as busy:
            raise Rejected("check_running", str(busy)) from None
        except (Transient, Unfit, Corruption) as failure:
            self._runs.labels(RunState.FAILED).inc()
            log.warning("check_failed", projection=wanted.projection, message=str(failure))
            if not begun.done():
                raise
        else:
            self._count(outcome, time.monotonic() - started)
            level = logging.ERROR if outcome.tally.divergences else logging.INFO
            log.log(
                level,
                "checked",
                projection=wanted.projection,
                run=outcome.run_id,
                facts=outcome.tally.facts,
                divergences=outcome.tally.divergences,
            )

    def _count(self, outcome: Outcome, seconds: float) -> None:
        self._runs.labels(RunState.FINISHED).inc()
        self._facts.inc(outcome.tally.facts)
        for relation, count in outcome.by_relation.items():
            self._divergences.labels(relation).inc(count)
        self._seconds.set(seconds)


def new_seed() -> int:
    """A seed for samples; it is kept with the run."""
    return SystemRandom().randrange(SEED_BELOW)


def seconds_until(daily_at: str, now: datetime) -> float:
    """Until the next time that a clock in UTC shows so."""
    hour, minute = map(int, daily_at.split(":"))
    due = now.astimezone(UTC).replace(hour=hour, minute=minute, second=0, microsecond=0)
    if due <= now:
        due += timedelta(days=1)
    return (due - now).total_seconds()
