"""The part of the closed list that the reconciler has alone."""

from __future__ import annotations

from typing import Final

from chronofact.runtime.metric import Metric

RECONCILER_METRICS: Final = (
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
