"""How soon changed answers reach many listeners, what that costs, and how fast one that comes late catches up."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import pytest

from chronofact.domain.events import Succession
from chronofact.kafka.admin import create_topics
from tests.bench.figures import Figure, record
from tests.bench.meter import PeakMemory, cpu_s, percentile, tree
from tests.bench.test_projector_rate import LATENCY_RATE, produce_evenly, visible_at, watch_checkpoints
from tests.integration.projecting import ProjectorProcess, ServiceProcess
from tests.integration.saying import Fact, Said

LISTENERS: Final = 20
SECONDS: Final = 12
FACTS: Final = 3_000
_EVENT_ID: Final = re.compile(rb'"event_id":"([0-9a-f-]{36})"')
_BLOCK_ID: Final = re.compile(rb"^id: (\S+)$", re.MULTILINE)


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


@dataclass(slots=True)
class Heard:
    """What all listeners got: event ids with when each came."""

    deliveries: list[tuple[bytes, float]] = field(default_factory=list)
    ends: dict[int, float] = field(default_factory=dict)
    first_id: str = ""


@pytest.mark.timeout(300)
def test_changes_to_many_listeners(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    said = changing(LATENCY_RATE * SECONDS)
    produced: dict[tuple[int, int], float] = {}
    heard = Heard()
    with (
        ProjectorProcess(kafka, topic_name, database) as projector,
        ReaderProcess(kafka, topic_name, database) as reader,
    ):
        projector.await_event("claimed")
        reader.await_readyz()
        process = tree(reader.process.pid)
        with PeakMemory(reader.process.pid) as memory:
            listening = threading.Thread(
                target=asyncio.run, args=(listen(reader.port, LISTENERS, len(said), heard),), daemon=True
            )
            listening.start()
            while not heard.first_id:
                time.sleep(0.05)
            before = cpu_s(process)
            producing = threading.Thread(target=produce_evenly, args=(kafka, topic_name, said, produced))
            producing.start()
            visible = watch_checkpoints(database, len(said))
            producing.join()
            listening.join(60)
            spent = cpu_s(process) - before
        _late(reader, heard, len(said))
        assert reader.stop() == 0
    assert len(heard.deliveries) == LISTENERS * len(said)
    _told(said, produced, visible, heard, spent=spent, memory_mb=memory.mb)


def _told(
    said: list[Said],
    produced: dict[tuple[int, int], float],
    visible: dict[int, list[tuple[int, float]]],
    heard: Heard,
    *,
    spent: float,
    memory_mb: float,
) -> None:
    places = places_of(said)
    steady = heard.deliveries[LISTENERS * LATENCY_RATE :]  # the first second warms up
    whole = [1_000 * (at - produced[places[event_id]]) for event_id, at in steady]
    own = [1_000 * (at - visible_at(visible[places[event_id][0]], places[event_id][1])) for event_id, at in steady[::7]]
    lasted = max(heard.ends.values()) - min(produced.values())
    us = f"reader {spent / len(said) * 1e6:.0f} µs a change, {spent / len(heard.deliveries) * 1e6:.1f} µs a delivery"
    record(
        Figure(
            f"changes to {LISTENERS} listeners", len(said) / lasted, "changes/s", "at least", 0.95 * LATENCY_RATE,
            f"offered {LATENCY_RATE}/s; {us}",
        )
    )  # fmt: skip
    record(
        Figure(
            "produce to listener, p99", percentile(whole, 0.99), "ms", "at most", 500,
            "the projector's batch, then the reader's look",
        )
    )  # fmt: skip
    record(Figure("produce to listener, p50", percentile(whole, 0.5), "ms", "told", None, "as above"))
    record(
        Figure(
            "committed to listener, p99", percentile(own, 0.99), "ms", "told", None,
            "a look every 20 ms, four statements, and waiting for a core",
        )
    )  # fmt: skip
    record(Figure("committed to listener, p50", percentile(own, 0.5), "ms", "told", None, "as above"))
    record(Figure("memory of the reader with listeners", memory_mb, "MB", "at most", 200, "8 MiB of ring"))


def _late(reader: ReaderProcess, heard: Heard, count: int) -> None:
    """One that was away for all of it."""
    late = Heard()
    began = time.monotonic()
    asyncio.run(listen(reader.port, 1, count, late, after=heard.first_id))
    rate = count / (max(late.ends.values()) - began)
    record(
        Figure("catching up after being away", rate, "changes/s", "at least", 3_000, "pages of 250, read and spelled")
    )


async def listen(port: int, listeners: int, count: int, heard: Heard, after: str = "") -> None:
    """Until each has got so many."""

    async def one(number: int) -> None:
        incoming, outgoing = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
        came = f"Last-Event-ID: {after}\r\n" if after else ""
        outgoing.write(f"GET /v1/changes HTTP/1.1\r\nHost: bench\r\n{came}\r\n".encode())
        got, tail = 0, b""
        while got < count:
            raw = tail + await incoming.read(1 << 18)
            now = time.monotonic()
            if not heard.first_id and (found := _BLOCK_ID.search(raw)):
                heard.first_id = found[1].decode()
            cut = raw.rfind(b"event: change")  # what may not be whole yet
            ids = _EVENT_ID.findall(raw)
            last = _EVENT_ID.search(raw, max(cut, 0))
            tail = b"" if cut < 0 or last else raw[cut:]
            heard.deliveries += [(event_id, now) for event_id in ids]
            got += len(ids)
        heard.ends[number] = time.monotonic()
        outgoing.close()

    await asyncio.gather(*map(one, range(listeners)))


def changing(count: int) -> list[Said]:
    """Events that each change an answer."""
    return [
        Fact(f"changing {at % FACTS}").asserts(
            f"value {at}", (1_700_000_000 + at) * 1_000_000, source=f"{at}", succession=Succession.AUTOMATIC
        )
        for at in range(count)
    ]


def places_of(said: list[Said]) -> dict[bytes, tuple[int, int]]:
    """Partition and offset of each event in a topic that holds just these."""
    ends: dict[int, int] = {}
    places: dict[bytes, tuple[int, int]] = {}
    for one in said:
        offset = ends.get(one.partition, 0)
        ends[one.partition] = offset + 1
        places[str(UUID(bytes=one.event_id)).encode()] = one.partition, offset
    return places
