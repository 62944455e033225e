"""A new rule beside the old one over live traffic: writer, projectors and reconciler as processes, with a short window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
import psycopg
import pytest

from chronofact.kafka.admin import create_topics
from chronofact.postgres.projections import create_projection, publish
from chronofact.postgres.session import connect
from tests.contract.writing import assertion
from tests.integration.projecting import WAIT_S, ProjectorProcess, ServiceProcess
from tests.integration.writing import WriterProcess

NFC: Final = "caf\u00e9"
NFD: Final = "cafe\u0301"
SPELT: Final = 6
RIVALS: Final = 4


class ReconcilerProcess(ServiceProcess):
    """`python -m chronofact.reconciler`."""

    service = "reconciler"


class Stack:
    """What runs, and how to ask it."""

    def __init__(self, writer: WriterProcess, reconciler: ReconcilerProcess, database: str) -> None:
        self.writer = writer.http
        self.reconciler = httpx.Client(base_url=f"http://127.0.0.1:{reconciler.port}", timeout=30)
        self.database = database
        self.feeding: tuple[ProjectorProcess, ...] = ()

    def say(self, *commands: dict[str, Any]) -> None:
        answer = self.writer.post("/v1/events", json=list(commands))
        assert answer.status_code == 200, answer.text
        assert {one["status"] for one in answer.json()["results"]} == {"accepted"}

    def command(self, *said: str) -> tuple[int, dict[str, Any]]:
        """A command with --json: how it ended, and its last line."""
        ran = subprocess.run(
            [sys.executable, "-m", "chronofact.cli", *said, "--json"],
            env={**os.environ, "CHRONOFACT_POSTGRES": self.database, "CHRONOFACT_AUTH": "off"},
            capture_output=True, text=True, check=False, timeout=WAIT_S,
        )  # fmt: skip
        lines = ran.stdout.splitlines()
        return ran.returncode, json.loads(lines[-1]) if lines else {"stderr": ran.stderr}

    def shadow(self, **parameters: Any) -> dict[str, Any]:
        answer = self.reconciler.get("/v1/shadow/p2", params=parameters)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.database) as connection:
            assert connection.execute(statement).rowcount > 0

    def await_shadow(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + WAIT_S
        while not is_so(found := self.shadow(samples=100)):
            told = [(one.process.poll(), one.logged[-5:]) for one in self.feeding]
            assert time.monotonic() < deadline, json.dumps([found, told], default=str)
            time.sleep(0.1)
        return found


@contextmanager
def running(kafka: str, topic: str, database: str, *, old_rule: int, new_rule: int) -> Iterator[Stack]:
    create_topics(kafka, topic)
    with connect(database, "test", autocommit=True) as connection:
        connection.execute("update chronofact.projection set rule = %s where name = 'p1'", (old_rule,))
        create_projection(connection, "p2", rule=new_rule, state="ready")
        publish(connection)
    with (
        ProjectorProcess(kafka, topic, database, projection="p1", projector_name="a") as old,
        ProjectorProcess(kafka, topic, database, projection="p2", projector_name="b") as new,
        ReconcilerProcess(kafka, topic, database, shadow_sweep_s=0.5, check_daily_at="") as reconciler,
        WriterProcess(kafka, topic) as writer,
    ):
        reconciler.await_readyz()
        writer.await_ready()
        for projector in (old, new):
            projector.await_readyz()
        stack = Stack(writer, reconciler, database)
        stack.feeding = (old, new)
        with stack.reconciler:
            yield stack


def traffic(stack: Stack, until: threading.Event) -> None:
    """New facts and changed ones of plain values, over and over, at a pace that lets the others keep up."""
    number = 0
    while not until.is_set():
        number += 1
        some = [
            assertion(
                subject=f"plain {(5 * number + one) % 500}",
                key="city",
                value=number,
                source={"id": f"s{number}", "text": "said"},
            )
            for one in range(5)
        ]
        began = time.monotonic()
        stack.say(*some)
        time.sleep(0.02 + 3 * (time.monotonic() - began))


def assertion_of(subject: str, value: str, source: str) -> dict[str, Any]:
    return assertion(subject=subject, key="drink", value=value, source={"id": source, "text": source})


@pytest.mark.parametrize(
    ("old_rule", "new_rule", "sort", "kinds"),
    [
        (1, 2, "correcting", ("conflict", "value")),
        pytest.param(2, 1, "discovered_conflict", ("value", "conflict"), marks=pytest.mark.soak),
    ],
)
def test_a_rule_in_shadow_of_another(
    kafka: str, topic_name: str, database: str, old_rule: int, new_rule: int, sort: str, kinds: tuple[str, str]
) -> None:
    with running(kafka, topic_name, database, old_rule=old_rule, new_rule=new_rule) as stack:
        assert stack.reconciler.get("/v1/shadow/p2").status_code == 404
        code, opened = stack.command("shadow", "start", "p2", "--window", "5m")
        assert (code, opened["opened"], opened["against"], opened["state"]) == (0, True, "p1", "open")
        assert stack.command("shadow", "start", "p2", "--window", "7d")[1]["until"] == opened["until"]
        until = threading.Event()
        talking = threading.Thread(target=traffic, args=(stack, until))
        talking.start()
        try:
            for number in range(SPELT):
                stack.say(*[assertion_of(f"spelt {number}", value, value) for value in (NFC, NFD)])
            for number in range(RIVALS):
                stack.say(*[assertion_of(f"rival {number}", value, value) for value in ("tea", NFC)])
            found = stack.await_shadow(lambda one: one["classes"][sort]["facts"] == SPELT)
            assert found["unknown"] == 0
        finally:
            until.set()
            talking.join()
        stack.execute("update chronofact.shadow set until = clock_timestamp() + interval '1 s'")
        found = stack.await_shadow(lambda one: one["state"] == "over")
        assert (found["facts_in_flight"], found["facts_differing"], found["unknown"]) == (0, SPELT, 0)
        assert {name: one["facts"] for name, one in found["classes"].items() if one["facts"]} == {sort: SPELT}
        assert len(found["samples"]) == SPELT
        for one in found["samples"]:
            assert (one["class"], one["reason"], one["valid_during"]) == (sort, "check_agrees", [None, None])
            assert (one["old"]["kind"], one["new"]["kind"]) == kinds
            assert one["fact"]["subject"].startswith("spelt ")
        assert_told(stack, sort)
        assert_spoilt(stack)


def assert_told(stack: Stack, sort: str) -> None:
    """The command, HTTP and metrics say the same."""
    code, told = stack.command("shadow", "report")
    assert (code, told["projection"], told["unknown"], len(told["samples"])) == (0, "p2", 0, 3)
    assert told["classes"] == stack.shadow()["classes"]
    metrics = stack.reconciler.get("/metrics").text
    assert f'chronofact_shadow_differences{{class="{sort}",projection="p2"}} {float(SPELT)}' in metrics
    assert 'chronofact_shadow_window_left_seconds{projection="p2"} 0.0' in metrics
    with psycopg.connect(stack.database) as connection:
        standing = connection.execute("select is_over, unknown from chronofact.shadow_standing").fetchall()
    assert standing == [(True, 0)]
    tenants = [one["tenant"] for one in told["tenants"]]
    assert stack.command("shadow", "report", "--tenant", tenants[0])[1]["differences"] == SPELT
    assert stack.command("shadow", "report", "--tenant", "nobody")[1]["differences"] == 0
    assert stack.command("shadow", "report", "--class", "unknown")[1]["samples"] == []
    for parameters in ({"samples": -1}, {"class": "known"}, {"other": 1}, {"tenant": ""}):
        assert stack.reconciler.get("/v1/shadow/p2", params=parameters).status_code == 400, parameters
    assert stack.reconciler.get("/v1/shadow/p7").status_code == 404


def assert_spoilt(stack: Stack) -> None:
    """Another window, in which the new side is spoilt: unknown, until it is put right."""
    assert stack.command("shadow", "start", "p2", "--window", "1h")[1]["opened"]
    # one of few versions: of many the check judges samples alone
    spoilt = (
        "update p2.{0} as t set {1} where t.fact_no = ("
        "select f.fact_no from p2.fact as f where f.subject_label like 'plain%' order by f.versions, f.fact_no limit 1)"
    )
    stack.execute(spoilt.format("fact", "state_hash = sha256(state_hash)"))
    found = stack.await_shadow(lambda one: one["unknown"] == 1)
    (told,) = [one for one in found["samples"] if one["class"] == "unknown"]
    assert told["reason"] == "check_disagrees fact.state_hash"
    code, told = stack.command("shadow", "report")
    assert (code, told["unknown"], told["state"]) == (1, 1, "open")
    stack.execute(
        "update p2.fact as t set state_hash = o.state_hash from p1.fact as o"
        " where o.fact_id = t.fact_id and t.subject_label like 'plain%'"
    )
    stack.await_shadow(lambda one: one["unknown"] == 0)
    assert stack.command("shadow", "report", "--now")[0] == 0


def test_what_can_t_be_compared_is_told(kafka: str, topic_name: str, database: str) -> None:
    stack = Stack.__new__(Stack)
    stack.database = database
    for said, code in (
        (("report",), 1), (("report", "--projection", "p2"), 1), (("start", "p2"), 1), (("start", "p1"), 2),
        (("start", "p2", "--against", "p3"), 1), (("start", "p2", "--window", "soon"), 2), (("start", "p2", "--window", "0s"), 2),
    ):  # fmt: skip
        ended, told = stack.command("shadow", *said)
        assert (ended, "stderr" in told) == (code, True), said
        assert "Traceback" not in told["stderr"]
