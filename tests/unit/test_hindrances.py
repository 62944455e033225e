"""What is away is said by name with the remedy: once, then seldom, and once that it is back; by every service alike."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
import threading
from collections.abc import MutableMapping
from typing import Any, Final

import pytest
import structlog
from structlog.testing import capture_logs

from chronofact.contracts.error_codes import remedy_of
from chronofact.contracts.reading import Watermarks
from chronofact.projector.stall import STALLED_S, Stall
from chronofact.reader.freshness import LogWatch
from chronofact.reconciler.jobs import Job, repeat
from chronofact.reconciler.rebuilding.patience import Patience
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.health import Health, Reason
from chronofact.runtime.logging import configure_logging
from chronofact.writer.watch import Watch

AWAY: Final = Transient("kafka_unreachable", "Kafka can't be reached")
GONE: Final = Transient("postgres_away", "no connection to Postgres in time")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(logs: list[MutableMapping[str, Any]]) -> list[tuple[str, str, str]]:
    return [(one["event"], one["part"], one["code"]) for one in logs]


def test_what_hinders_is_logged_less_and_less_often_and_its_end_once() -> None:
    clock = Clock()
    health = Health("postgres", monotonic=clock)
    with capture_logs() as logs:
        health.ready("postgres")
        for second in range(1_000):
            clock.now = float(second)
            health.hindered("postgres", GONE)
        assert [one["for_s"] for one in logs] == [0, 60, 180, 420, 900]
        assert logs[0] == {
            "event": "hindered",
            "log_level": "warning",
            "part": "postgres",
            "code": "postgres_away",
            "message": str(GONE),
            "remedy": remedy_of("postgres_away"),
            "for_s": 0,
        }
        logs.clear()
        health.ready("postgres")
        health.ready("postgres")
        assert [(one["event"], one["for_s"]) for one in logs] == [("recovered", 999)]


def test_another_reason_is_said_at_once_and_no_oftener_where_they_take_turns_and_our_own_never() -> None:
    clock = Clock()
    health = Health("judging", monotonic=clock)
    with capture_logs() as logs:
        for second in range(0, 120, 4):
            clock.now = float(second)
            health.hindered("judging", GONE)
            health.hindered("judging", Unfit("tenant_not_routed", "no route", remedy="wait"))
        health.hindered("process", Reason("shutting_down", "the process is about to stop"))
    assert [(one["code"], one["for_s"]) for one in logs] == [
        ("postgres_away", 0),
        ("tenant_not_routed", 0),
        ("postgres_away", 60),
        ("tenant_not_routed", 60),
    ]
    assert logs[1]["remedy"] == "wait"
    assert health.reasons()["process"].code == "shutting_down"


def test_a_projector_that_waits_for_ever_says_so() -> None:
    clock = Clock()
    stall = Stall(Health(monotonic=clock), monotonic=clock, cut=lambda: None, part="loop p1")
    with capture_logs() as logs:
        for _ in range(40):
            clock.now += 1
            stall.look()
        stall.turned()
        stall.look()
    assert told(logs) == [("hindered", "loop p1", "stalled"), ("recovered", "loop p1", "stalled")]
    assert logs[1]["for_s"] == 40 - STALLED_S
    assert logs[0]["remedy"] == remedy_of("stalled")


async def test_a_reader_says_that_the_log_is_away_and_stays_ready() -> None:
    away = [True]

    def ends() -> Watermarks:
        if away:
            raise AWAY
        return Watermarks(bytes(16), {0: 1})

    health = Health()
    watch = LogWatch(ends, health)
    with capture_logs() as logs:
        await watch.look()
        await watch.look()
        assert health.reasons() == {}
        assert health.beside()["log"].code == "kafka_unreachable"
        assert watch.is_away
        away.clear()
        await watch.look()
    assert told(logs) == [("hindered", "log", "kafka_unreachable"), ("recovered", "log", "kafka_unreachable")]
    assert (health.beside(), watch.is_away) == ({}, False)


async def test_a_writer_says_what_is_wrong_with_the_topic_and_that_it_is_back() -> None:
    looks: list[Exception] = [AWAY, AWAY]

    def look() -> bytes:
        if looks:
            raise looks.pop()
        return bytes(16)

    watch = Watch(look, Health("log"), check_s=1)
    with capture_logs() as logs:
        assert [await watch.look() for _ in range(3)] == [False, False, True]
    assert told(logs) == [("hindered", "log", "kafka_unreachable"), ("recovered", "log", "kafka_unreachable")]


async def test_a_job_of_the_reconciler_that_is_refused_again_and_again_says_so_once() -> None:
    done = asyncio.Event()
    failures: list[Exception] = [GONE] * 50 + [Corruption("torn")]

    async def work() -> None:
        if failures:
            raise failures.pop(0)
        done.set()

    with capture_logs() as logs:
        working = asyncio.create_task(repeat(Job("conflicts", work, lambda: 0)))
        await done.wait()
        working.cancel()
    assert [one["event"] for one in logs] == ["hindered", "job_failed", "recovered"]
    assert (logs[0]["part"], logs[0]["remedy"]) == ("conflicts", remedy_of("postgres_away"))


def test_a_worker_of_a_rebuild_says_once_what_it_waits_for() -> None:
    failures: list[Exception] = [AWAY] * 50

    def call() -> int:
        if failures:
            raise failures.pop()
        return 7

    with capture_logs() as logs:
        assert Patience(lambda _seconds: None, name="rebuild worker 1")(call) == 7
    assert [(one["event"], one["part"]) for one in logs] == [
        ("hindered", "rebuild worker 1"),
        ("recovered", "rebuild worker 1"),
    ]
    assert logs[0]["remedy"] == remedy_of("kafka_unreachable")


def test_a_line_names_its_service_whatever_thread_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    handlers, level = logging.root.handlers[:], logging.root.level
    monkeypatch.setattr(sys, "stderr", said)
    try:
        configure_logging("reader")
        for line in (
            lambda: structlog.get_logger().info("started"),
            lambda: logging.getLogger("client").error("no node %s", 1),
        ):
            thread = threading.Thread(target=line)
            thread.start()
            thread.join()
        logging.getLogger("client").error("no node %s", 2)
    finally:
        structlog.reset_defaults()
        logging.basicConfig(handlers=handlers, level=level, force=True)
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [(one["service"], one["event"]) for one in lines] == [("reader", "started"), ("reader", "library")]
