"""What is away is told with its address, and as metric; a round of a timer that is refused takes no readiness."""

from __future__ import annotations

import time

import pytest
from structlog.testing import capture_logs

from chronofact.adjudicator.__main__ import ROUNDS
from chronofact.adjudicator.around import AWAY, Around
from chronofact.adjudicator.service import attempted
from chronofact.postgres.session import address_of
from chronofact.runtime.failures import Corruption, Transient
from chronofact.runtime.health import Reason
from chronofact.runtime.metrics import Metrics

GONE = Transient("postgres_away", "no connection to Postgres in time")


def around() -> tuple[Around, Metrics]:
    metrics = Metrics("adjudicator")
    parts = {"postgres": "db:5432/facts", "judging": None}
    return Around(parts, metrics, rounds=ROUNDS, monotonic=time.monotonic), metrics


def away(metrics: Metrics, part: str) -> float | None:
    return metrics.registry.get_sample_value(AWAY, {"part": part})


def test_what_is_away_is_named_with_its_address_and_as_metric() -> None:
    health, metrics = around()
    health.ready("judging")
    with capture_logs() as logs:
        health.hindered("postgres", GONE)
        assert logs[0]["message"] == "no connection to Postgres in time (db:5432/facts)"
        assert health.reasons()["postgres"].message == logs[0]["message"]
        assert (away(metrics, "postgres"), away(metrics, "judging")) == (1, 0)
        health.ready("postgres")
    assert [one["event"] for one in logs] == ["hindered", "recovered"]
    assert health.reasons() == {}
    assert away(metrics, "postgres") == 0


def test_who_leaves_is_not_ready_and_away_from_nothing() -> None:
    health, metrics = around()
    with capture_logs() as logs:
        health.hindered("process", Reason("shutting_down", "the process is about to stop"))
    assert logs == []
    assert health.reasons()["process"].code == "shutting_down"
    assert away(metrics, "process") is None


async def test_a_round_that_can_not_be_done_is_told_until_one_is_and_takes_no_readiness() -> None:
    health, metrics = around()
    health.ready("postgres")
    health.ready("judging")
    failures: list[Exception] = [GONE, Corruption("torn")]

    async def work() -> None:
        if failures:
            raise failures.pop(0)

    with capture_logs() as logs:
        await attempted("sweep", work, health)
        assert health.reasons() == {}, "the next round, which would show that it has passed, may be an hour away"
        assert health.beside()["sweep"].code == "postgres_away"
        assert away(metrics, "sweep") == 1
        await attempted("sweep", work, health)
        await attempted("sweep", work, health)
    assert health.beside() == {}
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
