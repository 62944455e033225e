"""Bodies within the limits of one and of all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from typing import Any

import httpx
import pytest
from fastapi import Request
from starlette.requests import ClientDisconnect

from chronofact.domain.errors import Rejected
from chronofact.writer.intake import Bodies
from tests.contract.writing import JSON, WriterInProcess


def request_of(*chunks: bytes, length: int | None = None) -> Request:
    parts = list(chunks)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def test_what_all_bodies_hold_has_a_limit_and_is_given_back() -> None:
    bodies = Bodies(body_bytes_max=10, bodies_bytes_max=15, timeout_s=5)
    async with bodies.of(request_of(b"12345", b"67890")) as first:
        assert bytes(first) == b"1234567890"
        with pytest.raises(Rejected) as refused:
            async with bodies.of(request_of(b"123", b"456")):
                pass
        assert refused.value.code == "queue_full"
    async with bodies.of(request_of(b"123456")) as later:
        assert bytes(later) == b"123456"


@pytest.mark.parametrize("request_", [request_of(b"1234567", b"8901"), request_of(b"", length=11)])
async def test_a_body_beyond_the_limit_is_refused_as_soon_as_it_shows(request_: Request) -> None:
    with pytest.raises(Rejected) as refused:
        async with Bodies(body_bytes_max=10, bodies_bytes_max=100, timeout_s=5).of(request_):
            pass
    assert refused.value.code == "body_too_large"


def stalling(outcome: MutableMapping[str, Any] | None) -> Request:
    """Sends half a body, then nothing, or that the client has gone."""
    parts: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": b"12345", "more_body": True}]

    async def receive() -> MutableMapping[str, Any]:
        if parts:
            return parts.pop()
        if outcome is None:
            await asyncio.sleep(60)
        return outcome or {}

    return Request({"type": "http", "method": "POST", "headers": []}, receive)


@pytest.mark.parametrize(
    ("request_", "expected"), [(stalling(None), Rejected), (stalling({"type": "http.disconnect"}), ClientDisconnect)]
)
async def test_a_body_that_stalls_or_breaks_off_gives_its_room_back(
    request_: Request, expected: type[Exception]
) -> None:
    bodies = Bodies(body_bytes_max=10, bodies_bytes_max=10, timeout_s=0.05)
    with pytest.raises(expected):
        async with bodies.of(request_):
            pass
    async with bodies.of(request_of(b"1234567890")) as later:
        assert len(later) == 10


async def test_a_body_that_nobody_waits_for_any_more_gives_its_room_back() -> None:
    bodies = Bodies(body_bytes_max=10, bodies_bytes_max=10, timeout_s=5)

    async def read() -> None:
        async with bodies.of(stalling(None)):
            pass

    reading = asyncio.create_task(read())
    await asyncio.sleep(0.05)
    reading.cancel()
    await asyncio.wait({reading})
    async with bodies.of(request_of(b"1234567890")) as later:
        assert len(later) == 10


def test_a_body_in_chunks_is_one_body() -> None:
    writer = WriterInProcess(body_bytes_max=64, bodies_bytes_max=64)

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(10):
            yield b" " * 10
            await asyncio.sleep(0)

    response: httpx.Response = writer.ask("POST", "/v1/events", content=chunks(), headers=JSON)
    assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")
