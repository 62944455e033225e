"""Says how the projector fares: /readyz, metrics and log, from one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog

from chronofact.contracts.projection import HELD
from chronofact.projecting.ports import Applied
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health, Reason
from chronofact.runtime.metrics import Metrics

PART: Final = "projection"
"""Of /readyz, with the projection's name behind it."""


class Telling:
    """The observer of one projection's feeding in production."""

    def __init__(self, health: Health, metrics: Metrics, projection: str, *, wall_s: Callable[[], float]) -> None:
        self._health = health
        self._projection = projection
        self._part = f"{PART} {projection}"
        health.hindered(self._part, Reason("starting", "has not looked at its surroundings yet"))
        self._wall_s = wall_s
        self._log = structlog.get_logger()
        self._events = metrics.counter("chronofact_projector_events_total")
        self._memories = metrics.counter("chronofact_projector_memories_total")
        self._batch_s = metrics.histogram("chronofact_projector_batch_seconds")
        self._batch_events = metrics.histogram("chronofact_projector_batch_events")
        self._lag_events = metrics.gauge("chronofact_projector_lag_events")
        self._lagging: set[int] = set()
        self._lag_s = metrics.gauge("chronofact_projector_lag_seconds")
        self._partitions = metrics.gauge("chronofact_projector_partitions")
        self._parked = metrics.gauge("chronofact_projector_parked_messages")
        self._held_facts = metrics.gauge("chronofact_projector_held_facts")
        self._released = metrics.counter("chronofact_projector_released_total")
        self._dropped = metrics.counter("chronofact_projector_dropped_total")
        self._is_parking_told = False
        self._failures = metrics.counter("chronofact_projector_failures_total")
        self._retries = metrics.counter("chronofact_projector_retries_total")

    def counts(self, *, is_serving: bool) -> None:
        """Whether readiness depends on it: it does once tenants may read the projection."""
        self._health.counts(self._part, is_needed=is_serving)

    def failed(self, code: str, message: str) -> None:
        """Its feeding has ended, since something is wrong with us."""
        self._log.critical("failed", code=code, message=message)
        self._partitions.labels(self._projection).set(0)
        self._failures.labels(self._projection).inc()
        self._health.hindered(self._part, Reason("projection_failed", message))
        self._forget_lag()

    def forget(self) -> None:
        """It is fed here no more."""
        self._partitions.labels(self._projection).set(0)
        self._health.forget(self._part)
        self._forget_lag()
        for gauge in (self._parked, self._held_facts):
            gauge.labels(self._projection).set(0)

    def _forget_lag(self) -> None:
        """Whoever feeds these partitions now tells it."""
        self._lag_s.labels(self._projection).set(0)
        for partition in self._lagging:
            self._lag_events.remove(self._projection, str(partition))
        self._lagging.clear()

    def hindered(self, failure: Transient | Unfit) -> None:
        """Readiness goes off."""
        self._health.hindered(self._part, failure)
        self._retries.labels(self._projection, failure.code).inc()
        self._partitions.labels(self._projection).set(0)

    def ready(self, partitions: Sequence[int]) -> None:
        """Readiness is on."""
        self._health.ready(self._part)
        self._partitions.labels(self._projection).set(len(partitions))
        self._forget_lag()
        self._log.info("claimed", partitions=list(partitions))
        self._is_parking_told = False

    def applied(self, result: Applied) -> None:
        """Count a batch; what only waits behind another message is no news."""
        self._events.labels(self._projection, "applied").inc(result.applied)
        self._events.labels(self._projection, "already_applied").inc(result.already_applied + result.skipped)
        self._batch_events.labels(self._projection).observe(result.messages)
        self._memories.labels(self._projection, "projected").inc(result.memories)
        self._memories.labels(self._projection, "unreadable").inc(result.unreadable)
        for phase, seconds in result.phases_s.items():
            self._batch_s.labels(self._projection, phase).observe(seconds)
        if result.parked:
            self._events.labels(self._projection, "parked").inc(sum(result.parked.values()))
            if result.parked.keys() != {HELD}:
                self._log.error("parked", codes=result.parked)
        self._tell_release(result)

    def _tell_release(self, result: Applied) -> None:
        self._released.labels(self._projection).inc(result.released)
        self._dropped.labels(self._projection).inc(result.dropped)
        if result.released:
            self._log.info("released", messages=result.released)
        if result.dropped:
            self._log.info("dropped", messages=result.dropped)
        if result.retried:
            self._log.warning("release_failed", codes=result.retried)

    def parking(self, *, messages: int, facts: int) -> None:
        """What waits for an operator; logged once after each claim, if there is anything."""
        self._parked.labels(self._projection).set(messages)
        self._held_facts.labels(self._projection).set(facts)
        if messages and not self._is_parking_told:
            self._log.warning("holding", messages=messages, facts=facts)
        self._is_parking_told = True

    def lag(self, events: Mapping[int, int], *, newest_appended_at: int) -> None:
        """How far behind we are."""
        for partition, behind in events.items():
            self._lag_events.labels(self._projection, partition).set(behind)
            self._lagging.add(partition)
        is_behind = newest_appended_at and any(events.values())
        self._lag_s.labels(self._projection).set(
            max(0.0, self._wall_s() - newest_appended_at / 1_000_000) if is_behind else 0
        )
