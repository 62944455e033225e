"""``python -m chronofact.reader``: the one place that picks the reader's adapters."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from typing import Final

import uvloop
from fastapi import FastAPI

from chronofact.contracts.reading import Watermarks
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin
from chronofact.kafka.tail import TopicTail
from chronofact.postgres.changes_store import ChangesStore
from chronofact.postgres.reading_store import ReadingStore
from chronofact.reader.changes_http import ChangesRoute, add_changes
from chronofact.reader.changes_stream import Changes
from chronofact.reader.folding import TailLimits
from chronofact.reader.freshness import LogWatch
from chronofact.reader.http import POSTGRES, Routes, add_routes
from chronofact.reader.nearness import ModelNearness, Nearness, WordsAlone
from chronofact.reader.ports import LogEnds, LogTail, Projections
from chronofact.reader.service import Reader
from chronofact.reader.watch import stop_all, watch_projections
from chronofact.runtime.auth import Credentials, credentials_of
from chronofact.runtime.config import Settings, settings_or_exit, start_or_exit
from chronofact.runtime.environment import log_unknown_settings
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.lifecycle import stop_loop_on_signals
from chronofact.runtime.logging import configure_logging
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import listening_or_exit, serve

SWITCH_S: Final = 0.0005


def main() -> None:
    """Runs the reader until SIGTERM."""
    settings = settings_or_exit()
    configure_logging("reader", settings.log_level)
    log_unknown_settings()
    with start_or_exit(settings):
        kinds = ScopeKinds.load(settings.scope_kinds_file)
        credentials = credentials_of(settings, normalise_scope=kinds.pattern)
    # what is loaded by now stays: collections need not look at it, and come rarely enough not to be felt
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    # a thread that folds gives way to the event loop soon: an ordinary read takes it several times
    sys.setswitchinterval(SWITCH_S)
    with listening_or_exit("reader"):
        sys.exit(uvloop.run(run(settings, kinds, credentials)))


async def run(settings: Settings, kinds: ScopeKinds, credentials: Credentials) -> int:
    """The service from its first look at Postgres to its last answer; the code to leave with."""
    health = Health(POSTGRES)
    store = ReadingStore(settings.postgres.get_secret_value())
    await store.open()
    changes_store = ChangesStore(settings.postgres.get_secret_value())
    await changes_store.open()
    watch = LogWatch(log_ends(settings), health)
    tail = TopicTail(
        settings.kafka,
        facts_topic(settings.facts_topic, settings.facts_partitions),
        kept_max=settings.tail_reads_max,
        options=settings.kafka_options,
    )
    metrics = Metrics("reader")
    app = build_app(settings, store, watch, tail, kinds, credentials, health=health, metrics=metrics)
    changes = Changes(changes_store, metrics, listeners_max=settings.listeners_max)
    add_changes(app, ChangesRoute(changes, credentials, kinds, metrics))
    with stop_loop_on_signals() as stopping:
        watching = [
            asyncio.create_task(watch.run()),
            asyncio.create_task(watch_projections(store, health, POSTGRES)),
            asyncio.create_task(changes.close_once(stopping)),
        ]
        try:
            return await serve(
                app,
                host=settings.reader_host,
                port=settings.reader_port,
                health=health,
                stopping=stopping,
                drain_timeout_s=settings.drain_timeout_s,
                beside=watching,
            )
        finally:
            await stop_all(watching)
            await store.close()
            await changes_store.close()
            tail.close()


def build_app(
    settings: Settings,
    projections: Projections,
    watch: LogWatch,
    tail: LogTail,
    kinds: ScopeKinds,
    credentials: Credentials,
    *,
    health: Health,
    metrics: Metrics | None = None,
    nearness: Nearness | None = None,
) -> FastAPI:
    """The application over any projections and log."""
    metrics = metrics or Metrics("reader")
    app = create_app("reader", "Answers what held when, as known when.", health=health, metrics=metrics)
    routes = Routes(
        Reader(projections, watch, tail, metrics, limits=tail_limits(settings)),
        credentials,
        kinds,
        health=health,
        metrics=metrics,
        body_bytes_max=settings.body_bytes_max,
        clock=_now,
        nearness=nearness or (WordsAlone() if settings.texts == "off" else ModelNearness()),
    )
    add_routes(app, routes)
    return app


def tail_limits(settings: Settings) -> TailLimits:
    """What folding the unread tail may cost."""
    return TailLimits(
        scan_messages_max=settings.tail_scan_messages_max,
        stored_events_max=settings.tail_stored_events_max,
        bytes_max=settings.tail_bytes_max,
        reads_max=settings.tail_reads_max,
        queue_ms=settings.tail_queue_ms,
        timeout_ms=settings.tail_timeout_ms,
    )


def log_ends(settings: Settings) -> LogEnds:
    """Asks Kafka where the facts topic ends."""
    admin = Admin(settings.kafka, options=settings.kafka_options)
    return lambda: Watermarks(*admin.ends(settings.facts_topic))


def _now() -> int:
    return time.time_ns() // 1_000


if __name__ == "__main__":
    main()
