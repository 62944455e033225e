"""The closed list of metrics, each with the reason it exists; labels hold no subject, key or value, a tenant where it says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

Service = Literal["writer", "projector", "reader", "reconciler"]

_REQUEST_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_BATCH_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_SIZES: Final = (1, 10, 50, 100, 500, 1_000, 2_000, 5_000, 10_000)


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what it is called, who has it, and what is learned from it."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    services: tuple[Service, ...]
    reason: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


METRICS: Final = (
    Metric(
        "chronofact_http_requests_total",
        "counter",
        ("writer", "reader", "reconciler"),
        "Answers by route and status: rates, and the share that fails.",
        labels=("route", "status"),
    ),
    Metric(
        "chronofact_http_request_seconds",
        "histogram",
        ("writer", "reader", "reconciler"),
        "Time to answer, by route: what callers wait for.",
        labels=("route",),
        buckets=_REQUEST_S,
    ),
    Metric(
        "chronofact_ready",
        "gauge",
        ("writer", "projector", "reader", "reconciler"),
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
    Metric(
        "chronofact_reconciler_checks_total",
        "counter",
        ("reconciler",),
        "Checks by outcome (finished, failed): a check that never finishes proves nothing.",
        labels=("outcome",),
    ),
    Metric(
        "chronofact_reconciler_divergences_total",
        "counter",
        ("reconciler",),
        "What checks found to differ, by table (or log): anything above zero wants somebody to look.",
        labels=("relation",),
    ),
    Metric("chronofact_reconciler_facts_total", "counter", ("reconciler",), "Facts that checks have looked at."),
    Metric("chronofact_reconciler_check_seconds", "gauge", ("reconciler",), "How long the last finished check took."),
    Metric(
        "chronofact_reconciler_last_check_divergences",
        "gauge",
        ("reconciler",),
        "What the last finished checks found, of all projections that tenants read.",
    ),
    Metric(
        "chronofact_reconciler_last_check_finished_seconds",
        "gauge",
        ("reconciler",),
        "When the last check finished, since 1970: alerts watch its age.",
    ),
    Metric(
        "chronofact_conflicts_open",
        "gauge",
        ("reconciler",),
        "Pairs of versions in conflict that nobody has settled, of the 50 tenants with the most; the rest is `other`.",
        labels=("tenant",),
    ),
    Metric(
        "chronofact_conflicts_open_facts",
        "gauge",
        ("reconciler",),
        "Facts with such a pair: what no prompt is told until somebody decides.",
        labels=("tenant",),
    ),
    Metric(
        "chronofact_conflicts_oldest_seconds",
        "gauge",
        ("reconciler",),
        "Age of the oldest such pair: whether anybody settles them at all.",
        labels=("tenant",),
    ),
    Metric(
        "chronofact_shadow_differences",
        "gauge",
        ("reconciler",),
        "What the newest comparison of a projection with another one found, by class: `unknown` above 0 hinders a switch.",
        labels=("projection", "class"),
    ),
    Metric(
        "chronofact_shadow_facts",
        "gauge",
        ("reconciler",),
        "Facts that its last sweep compared.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_shadow_facts_in_flight",
        "gauge",
        ("reconciler",),
        "Facts that it could not compare, since one side had not come as far: one that stays high lags for good.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_shadow_sweep_seconds",
        "gauge",
        ("reconciler",),
        "How long that sweep took: it holds a snapshot meanwhile.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_shadow_window_left_seconds",
        "gauge",
        ("reconciler",),
        "Until the window of a comparison is over; 0 once it is.",
        labels=("projection",),
    ),
    Metric(
        "chronofact_rebuilds",
        "gauge",
        ("reconciler",),
        "Rebuilds by state, as the database keeps them: one that is `failed` wants somebody to look.",
        labels=("state",),
    ),
    Metric(
        "chronofact_rebuild_messages",
        "gauge",
        ("reconciler",),
        "Messages of the rebuild at work: `total` to be loaded, and how many of them are `read` and `folded`.",
        labels=("stage",),
    ),
    Metric(
        "chronofact_rebuild_messages_per_second",
        "gauge",
        ("reconciler",),
        "How fast it reads and folds now; 0 while nothing is at work.",
    ),
    Metric(
        "chronofact_rebuild_phase_seconds",
        "gauge",
        ("reconciler",),
        "What each phase of it has taken so far: which one bounds it.",
        labels=("phase",),
    ),
    Metric(
        "chronofact_rebuilds_ended_total",
        "counter",
        ("reconciler",),
        "Rebuilds that ended here, by how: ready, failed or cancelled.",
        labels=("state",),
    ),
    Metric(
        "chronofact_rebuild_failures_total",
        "counter",
        ("reconciler",),
        "Rebuilds that failed here, by the code of docs/reference/errors.md.",
        labels=("code",),
    ),
    Metric(
        "chronofact_verifications",
        "gauge",
        ("reconciler",),
        "Verifications as the database keeps them, by outcome: `different` wants somebody to look.",
        labels=("outcome",),
    ),
    Metric(
        "chronofact_verification_differences",
        "gauge",
        ("reconciler",),
        "What the last finished verification of two projections found.",
        labels=("left", "right"),
    ),
    Metric(
        "chronofact_routes",
        "gauge",
        ("reconciler",),
        "Lines that name a projection: tenants' own (`tenant`), and that of all others (`default`).",
        labels=("projection", "of"),
    ),
    Metric(
        "chronofact_route_changes",
        "gauge",
        ("reconciler",),
        "Changes of routes as the database keeps them: switches and rollbacks, wherever they were asked for.",
        labels=("kind",),
    ),
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
