"""A Faust agent that an exception leaves loses the message; the adjudicator's stream doesn't (ADR 36)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.architecture.tree import ROOT

ALL = {str(number) for number in range(12)}
WAIT_S = 30


@pytest.fixture
def numbered(kafka: str) -> str:
    """A topic of one partition with twelve messages."""
    topic = f"test.numbered.{uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 2})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(WAIT_S)
    # compressed as the writer does where many come at once; together they are smaller so, one alone is not
    producer = Producer({"bootstrap.servers": kafka, "log_level": 2, "linger.ms": 100, "compression.type": "lz4"})
    for number in range(12):
        producer.produce(topic, str(number).encode(), key=bytes(64))
    assert producer.flush(WAIT_S) == 0
    return topic


@contextmanager
def agent(kind: str, kafka: str, topic: str, notes: Path) -> Iterator[subprocess.Popen[bytes]]:
    line = [sys.executable, "-m", "tests.integration.faust_agents", kind, kafka, topic, str(notes)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(line, cwd=notes.parent, env=env, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def committed(kafka: str, topic: str, kind: str) -> int:
    """Where the next reader of the group goes on."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": f"{kind}.{topic}", "log_level": 2})
    try:
        (place,) = consumer.committed([TopicPartition(topic, 0)], timeout=WAIT_S)
        return int(place.offset)
    finally:
        consumer.close()


def await_handled(notes: Path, wanted: set[str]) -> None:
    until = time.monotonic() + WAIT_S
    while handled(notes) != wanted:
        assert time.monotonic() < until, handled(notes)
        time.sleep(0.05)


def handled(notes: Path) -> set[str]:
    return set(notes.read_text().split()) if notes.exists() else set()


def test_a_naive_agent_loses_the_message_that_failed_and_ours_handles_it(
    kafka: str, numbered: str, tmp_path: Path
) -> None:
    notes, our_notes = tmp_path / "naive", tmp_path / "ours"
    with (
        agent("naive", kafka, numbered, notes) as naive,
        agent("ours", kafka, numbered, our_notes) as ours,
    ):
        await_handled(notes, ALL - {"5"})
        # a fault ends ours at once, and nothing of the message is acknowledged
        assert ours.wait(WAIT_S) == 1
        assert "5" not in handled(our_notes)
        naive.terminate()
        naive.wait(WAIT_S)
    assert committed(kafka, numbered, "naive") == 12
    assert committed(kafka, numbered, "ours") <= 5
    with (
        agent("naive", kafka, numbered, notes) as naive,
        agent("ours", kafka, numbered, our_notes) as ours,
    ):
        await_handled(our_notes, ALL)
        ours.terminate()
        assert ours.wait(WAIT_S) == 0
        assert handled(notes) == ALL - {"5"}
    # Faust makes folders where a process begins; ours may begin where nothing can be written
    assert [one.name.split(".")[0] for one in tmp_path.iterdir() if one.is_dir()] == ["naive"]
