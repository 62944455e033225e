"""Says how the projector fares: /readyz, metrics and log, from one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog

from chronofact.contracts.projection import HELD
from chronofact.projecting.ports import Applied
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health, reason_of
from chronofact.runtime.metrics import Metrics

PART: Final = "projection"


class Telling:
    """The projector's observer in production."""

    def __init__(self, health: Health, metrics: Metrics, *, wall_s: Callable[[], float]) -> None:
        self._health = health
        self._wall_s = wall_s
        self._log = structlog.get_logger()
        self._hindrance: str | None = None
        self._events = metrics.counter("chronofact_projector_events_total")
        self._batch_s = metrics.histogram("chronofact_projector_batch_seconds")
        self._batch_events = metrics.histogram("chronofact_projector_batch_events")
        self._lag_events = metrics.gauge("chronofact_projector_lag_events")
        self._lag_s = metrics.gauge("chronofact_projector_lag_seconds")
        self._partitions = metrics.gauge("chronofact_projector_partitions")
        self._parked = metrics.gauge("chronofact_projector_parked_messages")
        self._held_facts = metrics.gauge("chronofact_projector_held_facts")
        self._released = metrics.counter("chronofact_projector_released_total")
        self._dropped = metrics.counter("chronofact_projector_dropped_total")
        self._is_parking_told = False
        self._retries = metrics.counter("chronofact_projector_retries_total")

    def hindered(self, failure: Transient | Unfit, *, pause_s: float) -> None:
        """Readiness goes off; each kind of hindrance is logged once until it has passed."""
        self._health.hindered(PART, failure)
        self._retries.labels(failure.code).inc()
        self._partitions.set(0)
        if failure.code != self._hindrance:
            self._hindrance = failure.code
            told = reason_of(failure)
            self._log.warning(
                "hindered", code=told.code, message=told.message, remedy=told.remedy, pause_s=round(pause_s, 3)
            )

    def ready(self, partitions: Sequence[int]) -> None:
        """Readiness is on."""
        self._health.ready(PART)
        self._partitions.set(len(partitions))
        self._lag_events.clear()
        self._log.info("recovered" if self._hindrance else "claimed", partitions=list(partitions))
        self._hindrance = None
        self._is_parking_told = False

    def applied(self, result: Applied) -> None:
        """Count a batch; what only waits behind another message is no news."""
        self._events.labels("applied").inc(result.applied)
        self._events.labels("already_applied").inc(result.already_applied + result.skipped)
        self._batch_events.observe(result.messages)
        for phase, seconds in result.phases_s.items():
            self._batch_s.labels(phase).observe(seconds)
        if result.parked:
            self._events.labels("parked").inc(sum(result.parked.values()))
            if result.parked.keys() != {HELD}:
                self._log.error("parked", codes=result.parked)
        self._tell_release(result)

    def _tell_release(self, result: Applied) -> None:
        self._released.inc(result.released)
        self._dropped.inc(result.dropped)
        if result.released:
            self._log.info("released", messages=result.released)
        if result.dropped:
            self._log.info("dropped", messages=result.dropped)
        if result.retried:
            self._log.warning("release_failed", codes=result.retried)

    def parking(self, *, messages: int, facts: int) -> None:
        """What waits for an operator; logged once after each claim, if there is anything."""
        self._parked.set(messages)
        self._held_facts.set(facts)
        if messages and not self._is_parking_told:
            self._log.warning("holding", messages=messages, facts=facts)
        self._is_parking_told = True

    def lag(self, events: Mapping[int, int], *, newest_appended_at: int) -> None:
        """How far behind we are."""
        for partition, behind in events.items():
            self._lag_events.labels(partition).set(behind)
        is_behind = newest_appended_at and any(events.values())
        self._lag_s.set(max(0.0, self._wall_s() - newest_appended_at / 1_000_000) if is_behind else 0)
