"""The writer over HTTP in batches of 1,000; broker and client on the same cores."""

from __future__ import annotations

import time
from collections.abc import Iterator

import orjson
import psutil
import pytest

from chronofact.kafka.admin import create_topics
from tests.integration.writing import WriterProcess

BATCHES, BATCH = 120, 1_000
FACTS_A_SECOND_MIN = 12_000
CPU_US_A_COMMAND_MAX = 45
MEMORY_MIB_MAX = 200


@pytest.fixture
def writer(kafka: str, topic_name: str) -> Iterator[WriterProcess]:
    create_topics(kafka, topic_name)
    with WriterProcess(kafka, topic_name) as process:
        process.await_ready()
        yield process


def batch(number: int) -> bytes:
    """Five facts a subject, like an office-holder's; every one of another fact, which is the dearer case."""
    return orjson.dumps(
        [
            {
                "type": "assert",
                "subject": f"B{number}-{one // 5}",
                "key": f"office.k{one % 5}",
                "value": "2264 Rayburn House Office Building;  20515-0104",
                "valid_from": f"2011-01-{one % 28 + 1:02}T00:00:00Z",
                "valid_to": "2012-12-31T00:00:00Z",
                "source": {"id": f"rev-{one}", "hash": "ab" * 32},
                "recorded_at": "2012-09-28T00:43:45Z",
            }
            for one in range(BATCH)
        ]
    )


def test_rate_processor_time_and_memory(writer: WriterProcess) -> None:
    bodies = [batch(number) for number in range(BATCHES)]
    process = psutil.Process(writer.process.pid)
    writer.http.post("/v1/events", content=bodies[0], headers={"content-type": "application/json"})
    cpu_before, started = sum(process.cpu_times()[:2]), time.perf_counter()
    for body in bodies:
        answer = writer.http.post("/v1/events", content=body, headers={"content-type": "application/json"})
        assert b'"rejected"' not in answer.content
    seconds = time.perf_counter() - started
    cpu_us = (sum(process.cpu_times()[:2]) - cpu_before) / (BATCHES * BATCH) * 1e6
    memory_mib = process.memory_info().rss / 2**20
    rate = BATCHES * BATCH / seconds
    print(f"\nwriter: {rate:,.0f} facts/s, {cpu_us:.0f} us of CPU a command, {memory_mib:.0f} MiB")
    assert cpu_us <= CPU_US_A_COMMAND_MAX
    assert memory_mib <= MEMORY_MIB_MAX
    assert rate >= FACTS_A_SECOND_MIN
