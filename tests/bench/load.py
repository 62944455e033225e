"""Load over HTTP with next to no cost of its own: requests are bytes made beforehand, answers are read by their length."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Outcome:
    """What a run of requests met."""

    seconds: float = 0.0
    delays_s: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    @property
    def per_s(self) -> float:
        return len(self.delays_s) / self.seconds


def request(method: str, path: str, body: bytes = b"") -> bytes:
    """One request, ready to be written."""
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection:
    """One kept-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, port: int) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=2**24))

    async def ask(self, raw: bytes) -> tuple[int, bytes]:
        """Status and body."""
        self._writer.write(raw)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        return int(head[9:12]), await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()


async def as_fast_as_it_goes(port: int, requests: Sequence[bytes], *, connections: int) -> Outcome:
    """All requests over so many connections, each waiting for its answer before the next."""
    outcome, waiting = Outcome(), iter(requests)
    links = [await Connection.to(port) for _ in range(connections)]

    async def work(link: Connection) -> None:
        for raw in waiting:
            began = time.perf_counter()
            status, _ = await link.ask(raw)
            outcome.delays_s.append(time.perf_counter() - began)
            outcome.statuses[status] = outcome.statuses.get(status, 0) + 1

    began = time.perf_counter()
    await asyncio.gather(*map(work, links))
    outcome.seconds = time.perf_counter() - began
    for link in links:
        link.close()
    return outcome


async def at_a_rate(port: int, requests: Sequence[bytes], *, per_s: float, connections: int) -> Outcome:
    """Requests at fixed times; a delay counts from when its request was due, so that waiting in line is not hidden."""
    outcome, links = Outcome(), asyncio.Queue[Connection]()
    for _ in range(connections):
        links.put_nowait(await Connection.to(port))
    began = time.perf_counter()

    async def one(raw: bytes, due: float) -> None:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        link = await links.get()
        status, _ = await link.ask(raw)
        outcome.delays_s.append(time.perf_counter() - due)
        outcome.statuses[status] = outcome.statuses.get(status, 0) + 1
        links.put_nowait(link)

    await asyncio.gather(*(one(raw, began + number / per_s) for number, raw in enumerate(requests)))
    outcome.seconds = time.perf_counter() - began
    while not links.empty():
        links.get_nowait().close()
    return outcome
