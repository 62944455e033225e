"""The writer's process on a real broker: what it answers, what it refuses to start on, what it survives."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from chronofact.contracts.codec import decode_event
from chronofact.contracts.payload import id_text
from chronofact.contracts.position import Position
from chronofact.contracts.topics import facts_topic
from chronofact.embedded.stack import Stack
from chronofact.kafka.admin import Admin, create_topics
from chronofact.kafka.consumer import LogConsumer
from chronofact.kafka.partitioning import partition_of
from tests.contract.writing import assertion
from tests.integration.writing import WriterProcess


def commands(count: int, *, subject: str = "ada") -> list[dict[str, Any]]:
    return [assertion(subject=f"{subject}-{number}", value=number) for number in range(count)]


def event_ids(kafka: str, topic: str) -> list[str]:
    """The id of every event in the log, each checked to lie in its key's partition."""
    ends = Admin(kafka).state(facts_topic(topic)).high_watermarks
    consumer = LogConsumer(kafka, topic)
    consumer.assign(dict.fromkeys(ends, 0))
    found: list[str] = []
    while len(found) < sum(ends.values()):
        for message in consumer.poll(1_000, 0.5):
            assert message.partition == partition_of(message.key, 12)
            found.append(id_text(decode_event(message.value).event_id))
    consumer.close()
    return found


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


@pytest.fixture
def writer(kafka: str, topic: str) -> Iterator[WriterProcess]:
    with WriterProcess(kafka, topic) as process:
        process.await_ready()
        yield process


def test_what_is_acknowledged_is_in_the_log(writer: WriterProcess, kafka: str, topic: str) -> None:
    response = writer.send(commands(1_000))
    told = response.json()
    position = Position.parse(told["position"])
    assert sorted(event_ids(kafka, topic)) == sorted(result["event_id"] for result in told["results"])
    assert position.topic_id == Admin(kafka).state(facts_topic(topic)).topic_id
    assert dict(position.next_offsets) == {
        one: end for one, end in Admin(kafka).state(facts_topic(topic)).high_watermarks.items() if end
    }


def test_a_drain_finishes_what_was_taken(writer: WriterProcess, kafka: str, topic: str) -> None:
    answers: list[httpx.Response] = []
    senders = [
        threading.Thread(
            target=lambda name: answers.append(writer.send(commands(2_000, subject=name))), args=(f"s{one}",)
        )
        for one in range(4)
    ]
    for sender in senders:
        sender.start()
    time.sleep(0.15)
    started = time.monotonic()
    code = writer.stop()
    for sender in senders:
        sender.join()
    assert code == 0
    assert time.monotonic() - started < 20
    assert [entry["event"] for entry in writer.logged][-2:] == ["stopping", "stopped"]
    acknowledged = {result["event_id"] for answer in answers for result in answer.json()["results"]}
    assert acknowledged <= set(event_ids(kafka, topic))


def test_a_body_cut_short_is_no_command(writer: WriterProcess) -> None:
    body = orjson.dumps(commands(2))
    head = (
        f"POST /v1/events HTTP/1.1\r\nhost: w\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", writer.logged[0]["port"])) as connection:
        connection.sendall(head.encode() + body[:-1])
    assert writer.send(assertion()).status_code == 201
    accepted = "chronofact_writer_commands_accepted_total 1.0"
    assert accepted in writer.http.get("/metrics").text
    assert writer.stop() == 0
    assert "request_failed" not in {entry["event"] for entry in writer.logged}


@pytest.mark.parametrize(
    ("difference", "code"),
    [
        ({"partitions": 3}, "partition_count_differs"),
        (
            {"config": {"cleanup.policy": "compact", "message.timestamp.type": "LogAppendTime"}},
            "cleanup_policy_differs",
        ),
        (None, "topic_missing"),
    ],
)
def test_an_unfit_topic_is_named_and_nothing_is_taken(
    kafka: str, topic_name: str, difference: dict[str, Any] | None, code: str
) -> None:
    if difference is not None:
        Admin(kafka).create([replace(facts_topic(topic_name), **difference)])
    with WriterProcess(kafka, topic_name) as writer:
        assert writer.await_reasons(lambda reasons: reasons != ["starting"]) == [code]
        refused = writer.send(assertion())
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, code)
        assert refused.headers["retry-after"]
        if difference is None:
            Admin(kafka).create([facts_topic(topic_name)])
            writer.await_ready()
            assert writer.send(assertion()).status_code == 201


def test_kafka_may_go_and_come_back(stack_folder: Path, topic_name: str) -> None:
    stack = Stack(stack_folder / "data", is_durable=False)
    kafka = stack.start(postgres=False).kafka
    assert kafka is not None
    create_topics(kafka, topic_name)
    with WriterProcess(kafka, topic_name, delivery_timeout_s="2", topic_check_s="1") as writer:
        writer.await_ready()
        sent = [writer.send(commands(10)).json()]
        stack.stop()
        away = writer.send(commands(20))
        assert (away.status_code, away.headers["retry-after"]) == (503, "1")
        assert away.json()["error"]["code"] in {"outcome_unknown", "kafka_unreachable"}
        assert writer.await_reasons(bool) == ["kafka_unreachable"]
        assert writer.http.get("/livez").status_code == 200
        stack = Stack(stack_folder / "data", is_durable=False)
        assert stack.start(postgres=False).kafka == kafka
        try:
            writer.await_ready()
            sent.append(writer.send(commands(20)).json())
            promised = {result["event_id"] for told in sent for result in told["results"]}
            assert promised == set(event_ids(kafka, topic_name))
        finally:
            stack.stop()


def test_settings_that_can_not_be_end_the_start_in_a_sentence(kafka: str) -> None:
    environ = os.environ | {
        "CHRONOFACT_KAFKA": kafka,
        "CHRONOFACT_AUTH": "off",
        "CHRONOFACT_WRITER_HOST": "0.0.0.0",
        "CHRONOFACT_POSTGRES": "postgresql://u:hunter2@h/d",
    }
    line = [sys.executable, "-m", "chronofact.writer"]
    ended = subprocess.run(line, env=environ, capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 2
    assert "loopback" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "hunter2" not in ended.stderr
