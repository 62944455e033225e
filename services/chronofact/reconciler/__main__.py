"""``python -m chronofact.reconciler``: the one place that picks the reconciler's adapters."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import structlog
import uvloop
from fastapi import FastAPI

from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.checked_log import CheckedLog
from chronofact.postgres.check_store import CheckStore
from chronofact.postgres.conflict_counts import ConflictCounts
from chronofact.postgres.outcome_counts import OutcomeCounts
from chronofact.postgres.rebuild_store import RebuildStore
from chronofact.postgres.route_store import RouteStore
from chronofact.postgres.shadow_store import ShadowStore
from chronofact.postgres.verification_store import VerificationStore
from chronofact.postgres.verify_hold import Holds
from chronofact.postgres.verify_snapshot import Snapshots
from chronofact.reconciler.check import Checker
from chronofact.reconciler.conflicts import ConflictMetrics
from chronofact.reconciler.http import Routes, add_routes
from chronofact.reconciler.jobs import Job, repeat
from chronofact.reconciler.last_check import LastCheckMetrics
from chronofact.reconciler.outcome_metrics import OutcomeMetrics
from chronofact.reconciler.ports import Checks, Log
from chronofact.reconciler.rebuild_http import RebuildRoutes, add_rebuild_routes
from chronofact.reconciler.rebuild_metrics import RebuildMetrics
from chronofact.reconciler.rebuild_steps import RebuildSteps
from chronofact.reconciler.rebuilds import RebuildRunner
from chronofact.reconciler.requests import Operating
from chronofact.reconciler.route_http import RouteRoutes, add_route_routes
from chronofact.reconciler.service import Reconciler, seconds_until
from chronofact.reconciler.shadow_http import ShadowRoutes, add_shadow_routes
from chronofact.reconciler.shadow_service import ShadowSweeps
from chronofact.reconciler.standstill import Standstills
from chronofact.reconciler.verify import Verifier
from chronofact.reconciler.verify_http import VerificationRoutes, add_verification_routes
from chronofact.reconciler.verify_service import Verifying
from chronofact.runtime.auth import Credentials, credentials_of
from chronofact.runtime.config import Settings, settings_or_exit, start_or_exit
from chronofact.runtime.environment import log_unknown_settings
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.lifecycle import leave_within, stop_loop_on_signals
from chronofact.runtime.logging import configure_logging, place_of
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import listening_or_exit, serve

POSTGRES: Final = "postgres"
LOOK_S: Final = 1.0
LEAVE_S: Final = 1.0
"""Beyond its drain: a thread may wait for a Postgres that stands still, and nothing is lost with it."""


def main() -> None:
    """Runs the reconciler until SIGTERM."""
    settings = settings_or_exit()
    configure_logging("reconciler", settings.log_level)
    log_unknown_settings()
    with start_or_exit(settings):
        kinds = ScopeKinds.load(settings.scope_kinds_file)
        credentials = credentials_of(settings, normalise_scope=kinds.pattern)
    with listening_or_exit("reconciler"):
        sys.exit(uvloop.run(run(settings, credentials)))


async def run(settings: Settings, credentials: Credentials) -> int:
    """The service from its first look at Postgres to its last check; the code to leave with."""
    health, metrics = Health(POSTGRES), Metrics("reconciler")
    standstills, conninfo = Standstills(metrics), settings.postgres.get_secret_value()
    checks = CheckStore(conninfo, still_ended=standstills.ended)
    checker = Checker(checks, log_of(settings), workers=settings.check_workers)
    reconciler = Reconciler(checks, lambda: checker, metrics)
    verifying = verifying_of(settings, standstills)
    app = build_app(settings, reconciler, verifying, credentials, health=health, metrics=metrics)
    counted = ConflictMetrics(ConflictCounts(conninfo), metrics)
    last_check = LastCheckMetrics(checks, metrics)
    outcomes = OutcomeMetrics(OutcomeCounts(conninfo), metrics)
    shadows = ShadowStore(conninfo, still_ended=standstills.ended)
    sweeps = ShadowSweeps(shadows, metrics, sweep_s=settings.shadow_sweep_s)
    rebuilds = RebuildStore(conninfo, still_s=settings.rebuild_still_s, still_ended=standstills.ended)
    told = RebuildMetrics(rebuilds, metrics, standstills)
    runner = RebuildRunner(rebuilds, RebuildSteps(settings, standstills), ended=told.ended)
    jobs = [
        *jobs_of(settings, reconciler, checks, health),
        Job("conflicts", counted.count, counted.pause_s),
        Job("last_check", last_check.read, last_check.pause_s),
        Job("outcomes", outcomes.read, outcomes.pause_s),
        Job("shadow", sweeps.look, sweeps.pause_s),
        Job("verification", verifying.look, verifying.pause_s),
        Job("rebuild", lambda: asyncio.to_thread(attempted, runner.turn), lambda: LOOK_S),
        Job("rebuild_cancel", lambda: asyncio.to_thread(attempted, runner.cancel), lambda: LOOK_S),
        Job("rebuild_metrics", told.read, told.pause_s),
    ]
    with stop_loop_on_signals(leave_within_s=settings.drain_timeout_s + LEAVE_S) as stopping:
        working = [asyncio.create_task(repeat(job)) for job in jobs]
        code = await serve(
            app,
            host=settings.reconciler_host,
            port=settings.reconciler_port,
            health=health,
            stopping=stopping,
            drain_timeout_s=settings.drain_timeout_s,
            beside=working,
        )
        if code:
            leave_within(settings.drain_timeout_s + LEAVE_S)
        for task in working:
            task.cancel()
        sweeps.stop()
        runner.stop(0)
        await asyncio.gather(verifying.stop(), reconciler.stop())
        await asyncio.to_thread(runner.stop, settings.drain_timeout_s)
        structlog.get_logger().info("stopped")
        return code


def build_app(
    settings: Settings,
    reconciler: Reconciler,
    verifying: Verifying,
    credentials: Credentials,
    *,
    health: Health,
    metrics: Metrics,
) -> FastAPI:
    """The application over any checks."""
    app = create_app("reconciler", "Compares projections with the log.", health=health, metrics=metrics)
    operating = Operating(credentials, metrics)
    add_routes(app, operating, Routes(reconciler, projection=settings.projection))
    add_shadow_routes(app, operating, ShadowRoutes(ShadowStore(settings.postgres.get_secret_value())))
    store = RouteStore(settings.postgres.get_secret_value())
    add_route_routes(app, operating, RouteRoutes(store, lag_events_max=settings.switch_lag_events_max))
    rebuilds = RebuildStore(settings.postgres.get_secret_value())
    add_rebuild_routes(app, operating, RebuildRoutes(rebuilds, workers=settings.rebuild_workers))
    add_verification_routes(app, operating, VerificationRoutes(verifying))
    return app


def verifying_of(settings: Settings, standstills: Standstills) -> Verifying:
    """Verifications by the same code as ``chronofact verify``."""
    conninfo = settings.postgres.get_secret_value()
    kept = VerificationStore(conninfo, still_ended=standstills.ended)
    return Verifying(kept, lambda wait_s: Verifier(kept, Snapshots(conninfo), Holds(conninfo), catch_up_s=wait_s))


def jobs_of(settings: Settings, reconciler: Reconciler, checks: Checks, health: Health) -> list[Job]:
    """What the service does by itself."""
    jobs = [Job("look", lambda: look(checks, health), lambda: LOOK_S)]
    daily_at = settings.check_daily_at
    if daily_at:
        jobs.append(
            Job(
                "check",
                lambda: reconciler.check_daily(settings.projection),
                lambda: seconds_until(daily_at, datetime.now(UTC)),
            )
        )
    return jobs


async def look(checks: Checks, health: Health) -> None:
    """Whether Postgres is there, for /readyz."""
    try:
        await asyncio.to_thread(checks.runs, before=None, limit=1)
    except (Transient, Unfit) as failure:
        health.hindered(POSTGRES, failure)
    else:
        health.ready(POSTGRES)


def attempted(work: Callable[[], None]) -> None:
    """A turn of a job; a fault of ours is logged, so that it is not its last turn."""
    try:
        work()
    except (Transient, Unfit, Corruption):
        raise
    except Exception as fault:  # noqa: BLE001 - a thread's entry
        structlog.get_logger().error("rebuild_faulted", place=place_of(fault))


def log_of(settings: Settings) -> Callable[[], Log]:
    """Opens the facts topic anew for each check."""
    topic = facts_topic(settings.facts_topic)
    return lambda: CheckedLog(settings.kafka, topic, options=settings.kafka_options)


if __name__ == "__main__":
    main()
