"""What is away is told with its address: on /readyz, in the log once and then seldom, and as metric."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from chronofact.adjudicator.around import AWAY, Around
from chronofact.adjudicator.service import attempted
from chronofact.postgres.session import address_of
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.health import Reason
from chronofact.runtime.metrics import Metrics

GONE = Transient("postgres_away", "no connection to Postgres in time")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def around(clock: Clock) -> tuple[Around, Metrics]:
    metrics = Metrics("adjudicator")
    return Around({"postgres": "db:5432/facts", "judging": None}, metrics, monotonic=clock), metrics


def away(metrics: Metrics, part: str) -> float | None:
    return metrics.registry.get_sample_value(AWAY, {"part": part})


def told(logs: list[MutableMapping[str, Any]]) -> list[tuple[str, float]]:
    return [(one["event"], one["for_s"]) for one in logs]


def test_what_is_away_is_named_with_its_address_and_logged_less_and_less_often() -> None:
    clock = Clock()
    health, metrics = around(clock)
    health.ready("judging")
    with capture_logs() as logs:
        for second in range(1_000):
            clock.now = float(second)
            health.hindered("postgres", GONE)
        assert told(logs) == [
            ("hindered", 0),
            ("hindered", 60),
            ("hindered", 180),
            ("hindered", 420),
            ("hindered", 900),
        ]
        assert (logs[0]["part"], logs[0]["code"], logs[0]["log_level"]) == ("postgres", "postgres_away", "warning")
        assert logs[0]["message"] == "no connection to Postgres in time (db:5432/facts)"
        assert health.reasons()["postgres"].message == logs[0]["message"]
        assert (away(metrics, "postgres"), away(metrics, "judging")) == (1, 0)
        logs.clear()
        health.ready("postgres")
        health.ready("postgres")
        assert told(logs) == [("recovered", 999)]
    assert health.reasons() == {}
    assert away(metrics, "postgres") == 0


def test_who_leaves_is_not_ready_and_away_from_nothing() -> None:
    health, metrics = around(Clock())
    with capture_logs() as logs:
        health.hindered("process", Reason("shutting_down", "the process is about to stop"))
    assert logs == []
    assert health.reasons()["process"].code == "shutting_down"
    assert away(metrics, "process") is None


def test_another_reason_is_said_at_once() -> None:
    health, _ = around(Clock())
    with capture_logs() as logs:
        for failure in (GONE, GONE, Unfit("tenant_not_routed", "no route", remedy="wait"), GONE):
            health.hindered("judging", failure)
    assert [one["code"] for one in logs] == ["postgres_away", "tenant_not_routed", "postgres_away"]
    assert [one["remedy"] for one in logs][1] == "wait"


async def test_a_round_that_can_not_be_done_is_told_until_one_is() -> None:
    health, metrics = around(Clock())
    failures: list[Exception] = [GONE, Corruption("torn")]

    async def work() -> None:
        if failures:
            raise failures.pop(0)

    with capture_logs() as logs:
        await attempted("sweep", work, health)
        assert health.reasons()["sweep"].code == "postgres_away"
        assert away(metrics, "sweep") == 1
        await attempted("sweep", work, health)
        await attempted("sweep", work, health)
    assert "sweep" not in health.reasons()
    assert [one["event"] for one in logs] == ["hindered", "job_failed", "recovered"]


@pytest.mark.parametrize(
    ("conninfo", "address"),
    [
        ("postgresql://me:secret@db.example:6000/facts?sslmode=require", "db.example:6000/facts"),
        ("host=/run/postgres dbname=facts password=secret", "/run/postgres:5432/facts"),
        ("password=secret", "localhost:5432/"),
    ],
)
def test_an_address_has_no_credential(conninfo: str, address: str) -> None:
    assert address_of(conninfo) == address
