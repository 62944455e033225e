"""Text memories over HTTP: what one waits for, how many a process takes, and how large it gets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import orjson
import psutil
import pytest

from chronofact.kafka.admin import create_topics
from tests.bench.figures import Figure, record
from tests.bench.load import Outcome, as_fast_as_it_goes, at_a_rate, request
from tests.integration.writing import WriterProcess

PAIRS: Final = Path(__file__).parents[1] / "data" / "subject_pairs.jsonl"
WARM, COUNT, RATE_PER_S, AT_ONCE = 100, 500, 20, 8
BATCH: Final = 100


@pytest.fixture(scope="module")
def writer(kafka: str) -> Iterator[WriterProcess]:
    create_topics(kafka, "bench.memories")
    with WriterProcess(kafka, "bench.memories") as process:
        process.await_ready()
        yield process


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """The sentences of the labelled pairs, over and over."""
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    return list(islice(cycle(one[side]["text"] for one in pairs for side in ("new", "candidate")), 3 * COUNT))


def memory(number: int, text: str) -> dict[str, Any]:
    """One of 50 subjects says something."""
    return {
        "subject": f"user-{number % 50}",
        "category": "conversation",
        "text": text,
        "valid_from": f"2026-{number % 12 + 1:02}-01T00:00:00Z",
        "source": {"id": f"turn-{number}"},
    }


def one_each(texts: list[str], start: int, count: int) -> list[bytes]:
    said = (memory(number, texts[number % len(texts)]) for number in range(start, start + count))
    return [request("POST", "/v1/memories", orjson.dumps(one)) for one in said]


def p99_ms(outcome: Outcome) -> float:
    return sorted(outcome.delays_s)[int(0.99 * len(outcome.delays_s))] * 1e3


def mib(writer: WriterProcess) -> float:
    return psutil.Process(writer.process.pid).memory_info().rss / 2**20


def test_memories(writer: WriterProcess, texts: list[str]) -> None:
    port = writer.logged[0]["port"]
    without_mib = mib(writer)
    asyncio.run(as_fast_as_it_goes(port, one_each(texts, 0, WARM), connections=1))
    alone = asyncio.run(as_fast_as_it_goes(port, one_each(texts, 1_000, COUNT), connections=1))
    paced = asyncio.run(at_a_rate(port, one_each(texts, 3_000, COUNT), per_s=RATE_PER_S, connections=32))
    loaded = asyncio.run(as_fast_as_it_goes(port, one_each(texts, 5_000, COUNT), connections=AT_ONCE))
    bodies = [
        [memory(number, texts[number % len(texts)]) for number in range(start, start + BATCH)]
        for start in range(10_000, 10_000 + 2 * COUNT, BATCH)
    ]
    batches = [request("POST", "/v1/memories", orjson.dumps(body)) for body in bodies]
    process = psutil.Process(writer.process.pid)
    cpu_before = sum(process.cpu_times()[:2])
    arrays = asyncio.run(as_fast_as_it_goes(port, batches, connections=1))
    cpu_ms = (sum(process.cpu_times()[:2]) - cpu_before) / (BATCH * len(batches)) * 1e3
    for outcome in (alone, paced, loaded):
        assert outcome.statuses == {201: COUNT}
    assert arrays.statuses == {200: len(batches)}
    bound = "reading: 2 ms for frames, 3 ms for the embedding"
    record(Figure("memory, one after another, p99", p99_ms(alone), "ms", "at most", 60, bound))
    record(Figure(f"memory, {RATE_PER_S} a second, p99", p99_ms(paced), "ms", "at most", 60, bound))
    record(Figure(f"memory, {AT_ONCE} at once, p99", p99_ms(loaded), "ms", "told", None, "the queue"))
    record(Figure(f"memories, {AT_ONCE} at once", loaded.per_s, "/s", "at least", 100, "one thread reads"))
    record(Figure(f"memories, {BATCH} a request", arrays.per_s * BATCH, "/s", "at least", 100, "one thread reads"))
    record(Figure("processor time of a memory", cpu_ms, "ms", "at most", 10, bound))
    record(Figure("writer before its first text", without_mib, "MiB", "at most", 200, "Python"))
    record(Figure("writer after 2,600 texts", mib(writer), "MiB", "at most", 550, "both models"))
