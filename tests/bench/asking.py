"""Plain HTTP/1.1 over kept connections: a client that costs little, so that it is the reader that is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

Ask = Callable[[int], str]
"""The address to get, by number."""


class Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> Line:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def get(self, path: str) -> bytes:
        """The body; raises where the status is not 200."""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: reader\r\n\r\n".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        body = await self._reader.readexactly(length)
        if not head.startswith(b"http/1.1 200"):
            raise RuntimeError(body.decode())
        return body

    def close(self) -> None:
        self._writer.close()


async def as_fast_as_can_be(port: int, ask: Ask, *, lines: int, count: int) -> float:
    """Answers a second, over so many connections at once."""
    opened = [await Line.to(port) for _ in range(lines)]

    async def run(line: Line, first: int) -> None:
        for number in range(first, count, lines):
            await line.get(ask(number))

    started = time.perf_counter()
    await asyncio.gather(*(run(line, first) for first, line in enumerate(opened)))
    rate = count / (time.perf_counter() - started)
    for line in opened:
        line.close()
    return rate


async def at_a_rate(port: int, ask: Ask, *, per_s: float, count: int, lines: int = 64) -> list[float]:
    """Seconds to each answer, from when it was due to be asked."""
    free: asyncio.Queue[Line] = asyncio.Queue()
    for _ in range(lines):
        free.put_nowait(await Line.to(port))
    took: list[float] = []

    async def one(number: int, due: float) -> None:
        line = await free.get()
        await line.get(ask(number))
        took.append(time.perf_counter() - due)
        free.put_nowait(line)

    started = time.perf_counter()
    tasks = []
    for number in range(count):
        due = started + number / per_s
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(one(number, due)))
    await asyncio.gather(*tasks)
    while not free.empty():
        free.get_nowait().close()
    return took
