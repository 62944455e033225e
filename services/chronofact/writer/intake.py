"""A request before its commands: headers, parameters, and a body within the limits of one and of all."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import Request
from starlette.datastructures import Headers, QueryParams

from chronofact.contracts.meant import hint
from chronofact.domain.errors import Rejected

JSON: Final = "application/json"
LINES: Final = "application/x-ndjson"
_TRACE: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)
_STATEMENTS: Final = {"true": True, "1": True, "false": False, "0": False}


class Bodies:
    """Reads bodies; what all requests hold at once has a limit too, so that memory has one."""

    def __init__(self, *, body_bytes_max: int, bodies_bytes_max: int, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._body_bytes_max = body_bytes_max
        self._bodies_bytes_max = bodies_bytes_max
        self._held = 0

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[bytearray]:
        """The body, to be cleared once it is parsed, and counted as held until the context is left.

        Raises:
            Rejected: ``body_too_large``, ``body_too_slow``, ``queue_full``.
        """
        self._check(_announced(request.headers), 0)
        chunks, size_bytes = bytearray(), None
        try:
            await self._read_in_time(request, chunks)
            size_bytes = len(chunks)
            yield chunks
        finally:
            self._held -= len(chunks) if size_bytes is None else size_bytes

    async def _read_in_time(self, request: Request, chunks: bytearray) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._read(request, chunks)
        except TimeoutError:
            raise Rejected("body_too_slow", "the body did not come in time; nothing was sent") from None

    async def _read(self, request: Request, chunks: bytearray) -> None:
        async for chunk in request.stream():
            self._check(len(chunks) + len(chunk), len(chunk))
            chunks += chunk
            self._held += len(chunk)

    def _check(self, body_bytes: int, further: int) -> None:
        if body_bytes > self._body_bytes_max:
            raise Rejected("body_too_large", f"one body has at most {self._body_bytes_max} bytes")
        if self._held + further > self._bodies_bytes_max:
            raise Rejected("queue_full", "too many large requests at once; nothing was sent")


def has_lines(headers: Headers) -> bool:
    """Whether the body is NDJSON rather than JSON.

    Raises:
        Rejected: ``content_type_unsupported``, ``content_encoding_unsupported``.
    """
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Rejected("content_encoding_unsupported", "send the body uncompressed")
    kind, *parameters = (part.strip().lower() for part in headers.get("content-type", "").split(";"))
    if kind not in {JSON, LINES} or any(one not in _CHARSETS for one in parameters):
        raise Rejected("content_type_unsupported", f"send {JSON} or {LINES}, in UTF-8", field="Content-Type")
    return kind == LINES


_CHARSETS: Final = frozenset({"", "charset=utf-8", 'charset="utf-8"'})


def wants_lines(headers: Headers) -> bool:
    """Whether the answer is asked for as NDJSON."""
    return LINES in headers.get("accept", "").lower()


def is_dry_run(query: QueryParams) -> bool:
    """The parameter ``dry_run``.

    Raises:
        Rejected: ``parameter_unknown``, ``parameter_malformed``.
    """
    if unknown := set(query) - {"dry_run"}:
        near = hint(min(unknown), ("dry_run",))
        raise Rejected("parameter_unknown", f"this call has the parameter dry_run only{near}", field=min(unknown))
    said = query.getlist("dry_run") or ["false"]
    if len(said) > 1:
        raise Rejected("parameter_malformed", "dry_run is given twice", field="dry_run")
    found = _STATEMENTS.get(said[0].lower())
    if found is None:
        raise Rejected("parameter_malformed", "dry_run is true or false", field="dry_run")
    return found


def trace_of(headers: Headers) -> str | None:
    """The W3C traceparent, when it is one."""
    found = headers.get("traceparent")
    return found if found is not None and _TRACE.fullmatch(found) else None


def _announced(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isdecimal() and len(length) < 16 else 0
