"""A rebuild's load as its runner calls it: plan, load, discard; each may be called again after any crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias
from uuid import UUID

from chronofact.contracts.rebuilding import Rebuild, RebuildPart, RebuildState
from chronofact.contracts.standstill import nobody_is_told
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.whole_log import WholeLog
from chronofact.postgres.load_store import Loaded, LoadStore, Watch
from chronofact.reconciler.rebuilding.patience import Patience
from chronofact.reconciler.rebuilding.processes import Workers
from chronofact.reconciler.standstill import Standstills, workers_told
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Transient
from chronofact.runtime.fingerprint import fold_fingerprint

Report: TypeAlias = Callable[[Sequence[RebuildPart]], None]
"""Told about four times a second how far each partition has come; ``chronofact.rebuild_part`` says the same to anybody."""

LOOK_S: Final = 0.25
_UNLOADED: Final = frozenset({"waiting", "reading", "folding"})


def plan(settings: Settings, rebuild: Rebuild) -> Rebuild:
    """Look at the log and fix what is to be loaded: topic, targets, fold; kept in the rebuild's line (state planning).

    The caller has inserted that line with projection, rule and workers, and holds its epoch. Called again it changes
    nothing.

    Raises:
        Unfit: ``topic_missing``, ``log_truncated``, any other fault of the topic, ``projection_exists``.
        Rejected: ``rule_unknown``.
        Transient: Kafka or Postgres is away.
        RebuildLost, RebuildCancelled: nothing was kept.
    """
    store = _store(settings, rebuild)
    known = store.planned()
    if known["targets"] is None:
        fingerprint = fold_fingerprint(rebuild.rule)
        state = WholeLog(
            settings.kafka, facts_topic(settings.facts_topic, settings.facts_partitions), options=settings.kafka_options
        ).look()
        targets = [state.high_watermarks[one] for one in range(state.partitions)]
        store.plan(topic_id=state.topic_id, fingerprint=fingerprint, targets=targets)
        known = {"topic_id": UUID(bytes=state.topic_id), "fingerprint": fingerprint, "targets": targets}
    return replace(
        rebuild, topic_id=known["topic_id"], fingerprint=known["fingerprint"], targets=tuple(known["targets"])
    )


def load(
    settings: Settings,
    rebuild: Rebuild,
    *,
    report: Report,
    stopping: threading.Event,
    standstills: Standstills | None = None,
) -> Loaded:
    """Make the projection's schema, fill it up to the targets, index and analyse it; goes on where an earlier one ended.

    It moves the rebuild's line from planning through building to indexing, beats its heartbeat, and adds up
    ``phases`` ``load_s`` and ``index_s``. A worker that stands still is told of, and then ended. Afterwards the projection (still in state building) has its checkpoints at
    the targets and its parked and dropped messages in their tables. Waits out Kafka and Postgres.

    Raises:
        RebuildCancelled: ``cancel_asked_at`` is set; no worker is at work any more. Call ``discard``.
        RebuildLost: another runner has it; its workers write nothing more.
        Unfit: it can't go on as things are: ``fold_changed``, ``schema_unknown``, ``topic_recreated``, ``log_truncated``,
            ``log_shortened``, ``parking_limit``, ``rebuild_folder``, ``worker_dies``, …; each with its remedy.
        Corruption: what is stored contradicts itself.
        Transient: ``shutting_down``: ``stopping`` was set; workers are gone, what they had written stays.
    """

    def sleep(seconds: float) -> None:
        if stopping.wait(seconds):
            raise _Stopped

    store, patience = _store(settings, rebuild), Patience(sleep, name="rebuild")
    try:
        patience(lambda: store.prepare(fingerprint=fold_fingerprint(rebuild.rule)))
        with Workers(settings, rebuild, still_ended=standstills.ended if standstills else nobody_is_told) as workers:
            watching = _Watching(store, workers, report, sleep, standstills)
            while patience(watching.look):
                pass
        return patience(store.finish)
    except _Stopped:
        raise Transient("shutting_down", "the process is about to stop") from None


def discard(settings: Settings, rebuild: Rebuild) -> None:
    """Remove all that the rebuild has made but its own line: schema, checkpoints, parked and dropped lines, parts.

    Raises:
        Unfit: ``projection_serves``: tenants are routed to it, or may be; nothing was removed.
        RebuildLost: another runner has it.
        Transient: Postgres is away, or somebody reads the schema.
    """
    _store(settings, rebuild).discard()


class _Stopped(Exception):
    """``stopping`` was set while something was waited for."""


class _Watching:
    """The runner's look at its workers; begins anew over another connection after Postgres was away."""

    def __init__(
        self,
        store: LoadStore,
        workers: Workers,
        report: Report,
        sleep: Callable[[float], None],
        standstills: Standstills | None,
    ) -> None:
        self._standstills = standstills
        self._store = store
        self._workers = workers
        self._report = report
        self._sleep = sleep
        self._beat_at = time.monotonic()

    def look(self) -> bool:
        """Until no worker is left; False then."""
        with self._store.watching() as watch:
            while True:
                parts = watch.parts()
                is_at_work = self._workers.watch(_done(parts))
                self._beat(watch, parts)
                self._report(parts)
                if not is_at_work:
                    return False
                self._sleep(LOOK_S)

    def _beat(self, watch: Watch, parts: Sequence[RebuildPart]) -> None:
        is_loaded = not any(part.state in _UNLOADED for part in parts)
        state, phase = (RebuildState.INDEXING, "index_s") if is_loaded else (RebuildState.BUILDING, "load_s")
        now = time.monotonic()
        still = self._workers.still()
        if self._standstills is not None:
            self._standstills.workers(still)
        watch.beat(state, phase, now - self._beat_at, waiting=workers_told(still))
        self._beat_at = now


def _done(parts: Sequence[RebuildPart]) -> int:
    """A number that grows with what is done: of buckets, parts and indexes; messages read again are no progress."""
    return sum(2 * part.buckets_done + (part.state == "loaded") + 2 * (part.state == "indexed") for part in parts)


def _store(settings: Settings, rebuild: Rebuild) -> LoadStore:
    return LoadStore(settings.postgres.get_secret_value(), rebuild)
