"""What the projector tells of parked messages: metrics of the closed list, and the log's hints."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from chronofact.projecting.ports import Applied
from chronofact.projector.telling import PART, Telling
from chronofact.runtime.health import Health
from chronofact.runtime.metrics import Metrics


@pytest.fixture
def telling() -> tuple[Telling, Metrics]:
    metrics = Metrics("projector")
    return Telling(Health(PART), metrics, "p1", wall_s=lambda: 0.0), metrics


def sample(metrics: Metrics, name: str) -> float | None:
    return metrics.registry.get_sample_value(f"chronofact_projector_{name}", {"projection": "p1"})


def test_parked_messages_held_facts_releases_and_drops_are_counted(telling: tuple[Telling, Metrics]) -> None:
    told, metrics = telling
    told.parking(messages=7, facts=2)
    told.applied(Applied(applied=5, released=3, dropped=1, retried={"event_undecodable": 1}))
    told.applied(Applied(applied=1, released=1))
    assert (sample(metrics, "parked_messages"), sample(metrics, "held_facts")) == (7, 2)
    assert (sample(metrics, "released_total"), sample(metrics, "dropped_total")) == (4, 1)
    told.parking(messages=0, facts=0)
    assert sample(metrics, "parked_messages") == 0


def test_the_log_hints_once_a_claim_at_what_is_parked(telling: tuple[Telling, Metrics]) -> None:
    told, _ = telling
    with capture_logs() as lines:
        for _ in range(2):
            told.ready([1, 2])
            told.parking(messages=7, facts=2)
            told.parking(messages=8, facts=2)
        told.ready([1])
        told.parking(messages=0, facts=0)
        told.parking(messages=1, facts=1)
    assert [(one["messages"], one["log_level"]) for one in lines if one["event"] == "holding"] == [(7, "warning")] * 2


def test_each_outcome_has_its_log_line_without_contents(telling: tuple[Telling, Metrics]) -> None:
    told, _ = telling
    with capture_logs() as lines:
        told.applied(Applied(parked={"held": 2, "value_missing": 1}, released=3, dropped=1, retried={"held": 1}))
        told.applied(Applied(parked={"held": 2}))
        told.applied(Applied(applied=2))
    assert [(one["event"], one["log_level"]) for one in lines] == [
        ("parked", "error"),
        ("released", "info"),
        ("dropped", "info"),
        ("release_failed", "warning"),
    ]
