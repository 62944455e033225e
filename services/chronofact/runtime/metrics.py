"""The closed list of metrics, each with the reason it exists; labels hold no subject, key or value, a tenant where it says so."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from chronofact.runtime.adjudicator_metrics import ADJUDICATOR_METRICS
from chronofact.runtime.metric import Metric, Service
from chronofact.runtime.reconciler_metrics import RECONCILER_METRICS
from chronofact.runtime.text_metrics import TEXT_METRICS

_REQUEST_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_BATCH_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_SIZES: Final = (1, 10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000)

METRICS: Final = (
    Metric(
        "chronofact_http_requests_total",
        "counter",
        ("writer", "reader", "reconciler", "adjudicator"),
        "Answers by route and status: rates, and the share that fails.",
        labels=("route", "status"),
    ),
    Metric(
        "chronofact_http_request_seconds",
        "histogram",
        ("writer", "reader", "reconciler", "adjudicator"),
        "Time to answer, by route: what callers wait for.",
        labels=("route",),
        buckets=_REQUEST_S,
    ),
    Metric(
        "chronofact_ready",
        "gauge",
        ("writer", "projector", "reader", "reconciler", "adjudicator"),
        "1 when /readyz says so: alerts watch it.",
    ),
    Metric(
        "chronofact_writer_commands_accepted_total", "counter", ("writer",), "Commands whose event Kafka acknowledged."
    ),
    Metric(
        "chronofact_writer_commands_rejected_total",
        "counter",
        ("writer",),
        "Commands refused, by code: a producer that sends bad input shows here.",
        labels=("code",),
    ),
    Metric(
        "chronofact_writer_append_seconds",
        "histogram",
        ("writer",),
        "From handing a request's events to the producer until all are acknowledged: Kafka's share of the answer time.",
        buckets=_REQUEST_S,
    ),
    Metric("chronofact_writer_append_failures_total", "counter", ("writer",), "Requests whose outcome stayed unknown."),
    Metric(
        "chronofact_writer_queue_full_total",
        "counter",
        ("writer",),
        "Requests refused for want of room: Kafka is too slow.",
    ),
    Metric("chronofact_writer_queue_messages", "gauge", ("writer",), "Messages not acknowledged yet."),
    Metric(
        "chronofact_projector_events_total",
        "counter",
        ("projector",),
        "Messages by outcome (applied, already_applied, parked): the projector's rate.",
        labels=("projection", "outcome"),
    ),
    Metric(
        "chronofact_projector_memories_total",
        "counter",
        ("projector",),
        "Text memories by outcome: projected, or unreadable (the event counts, and no search finds the memory).",
        labels=("projection", "outcome"),
    ),
    Metric(
        "chronofact_projector_batch_seconds",
        "histogram",
        ("projector",),
        "Time of a batch's phases (advance, decode, load, fold, write, commit): what bounds the rate.",
        labels=("projection", "phase"),
        buckets=_BATCH_S,
    ),
    Metric(
        "chronofact_projector_batch_events",
        "histogram",
        ("projector",),
        "Messages in a batch.",
        labels=("projection",),
        buckets=_SIZES,
    ),
    Metric(
        "chronofact_projector_lag_events",
        "gauge",
        ("projector",),
        "Messages of a partition that are not applied yet.",
        labels=("projection", "partition"),
    ),
    Metric(
        "chronofact_projector_lag_seconds",
        "gauge",
        ("projector",),
        "Age of the newest applied message: how stale reads are.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_projector_partitions",
        "gauge",
        ("projector",),
        "Partitions that this process owns.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_projector_failures_total",
        "counter",
        ("projector",),
        "Feeds that ended since something is wrong with us: each is tried again after 30 s.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_projector_retries_total",
        "counter",
        ("projector",),
        "Pauses by reason: a database or broker that is away shows here.",
        labels=("projection", "code"),
    ),
    Metric(
        "chronofact_projector_parked_messages",
        "gauge",
        ("projector",),
        "Messages of this process's partitions that are parked now: work for an operator, so alert above 0.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_projector_held_facts",
        "gauge",
        ("projector",),
        "Facts whose answers are stale until what is parked of them is released or dropped.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_projector_released_total",
        "counter",
        ("projector",),
        "Parked messages that were applied after all.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_projector_dropped_total",
        "counter",
        ("projector",),
        "Messages given up by an EventDropped that counts.",
        labels=("projection",),
    ),
    Metric("chronofact_reader_answers_total", "counter", ("reader",), "Answers by kind.", labels=("kind",)),
    Metric(
        "chronofact_reader_stale_total", "counter", ("reader",), "Answers that said stale: waits that were not enough."
    ),
    Metric(
        "chronofact_reader_listeners",
        "gauge",
        ("reader",),
        "Who follows changed answers here: near the limit, add readers.",
    ),
    Metric("chronofact_reader_changes_total", "counter", ("reader",), "Changed answers sent, over all listeners."),
    Metric(
        "chronofact_reader_catch_ups_total",
        "counter",
        ("reader",),
        "How often a listener read from the database, coming again or being too slow for what was kept in memory.",
    ),
    Metric(
        "chronofact_reader_tail_folds_total",
        "counter",
        ("reader",),
        "Reads that found their projection behind: folded, or why not, so that a limit that is too low shows.",
        labels=("outcome",),
    ),
    Metric(
        "chronofact_reader_tail_seconds",
        "histogram",
        ("reader",),
        "Time to read an unread tail from Kafka: the larger part of what a fold costs.",
        buckets=_REQUEST_S,
    ),
    Metric(
        "chronofact_reader_tail_messages_total",
        "counter",
        ("reader",),
        "Unread messages looked at, of whatever fact: a projection that is far behind makes reads dear.",
    ),
    *RECONCILER_METRICS,
    *TEXT_METRICS,
    *ADJUDICATOR_METRICS,
)


class Metrics:
    """One process's metrics: those of the list that its service has, in a registry of its own."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._made = {one.name: self._make(one) for one in METRICS if service in one.services}

    def counter(self, name: str) -> Counter:
        """The counter of that name; KeyError when this service declares none."""
        found = self._made[name]
        assert isinstance(found, Counter)  # noqa: S101 - the list says so
        return found

    def gauge(self, name: str) -> Gauge:
        """The gauge of that name."""
        found = self._made[name]
        assert isinstance(found, Gauge)  # noqa: S101
        return found

    def histogram(self, name: str) -> Histogram:
        """The histogram of that name."""
        found = self._made[name]
        assert isinstance(found, Histogram)  # noqa: S101
        return found

    def exposition(self) -> bytes:
        """Prometheus' text format."""
        return generate_latest(self.registry)

    def _make(self, one: Metric) -> Counter | Gauge | Histogram:
        match one.kind:
            case "counter":
                return Counter(one.name, one.reason, one.labels, registry=self.registry)
            case "gauge":
                return Gauge(one.name, one.reason, one.labels, registry=self.registry)
            case "histogram":
                return Histogram(one.name, one.reason, one.labels, registry=self.registry, buckets=one.buckets)
