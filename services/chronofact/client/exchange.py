"""The client without its I/O: a call is a generator that yields what to send and is sent what came back."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, TypeVar

import orjson

from chronofact.client.errors import Busy, ClientError, Refused, Unreachable

T = TypeVar("T")

FIRST_PAUSE_S: Final = 0.05
PAUSE_MAX_S: Final = 2.0
TRY_AGAIN: Final = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Ask:
    """One HTTP request, to be sent after a pause."""

    method: str
    url: str
    params: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    content_type: str = "application/json"
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    content: bytes
    retry_after: str | None = None

    def json(self) -> Any:
        """The body, parsed."""
        return orjson.loads(self.content)


Steps: TypeAlias = Generator[Ask, Reply, T]
"""A call under way; an ``Unreachable`` is thrown in when no answer came."""


def exchange(ask: Ask, *, patience_s: float) -> Steps[Any]:
    """The parsed body of a successful answer; 429, 503 and lost connections are tried again, which is always safe.

    Raises:
        Busy: it stayed so for ``patience_s``.
        Unreachable: no connection for ``patience_s``.
        Refused: any other answer that is not 2xx.
    """
    waited_s, pause_s = 0.0, FIRST_PAUSE_S
    while True:
        try:
            reply = yield ask
        except Unreachable as error:
            failure: ClientError = error
            wait_s = pause_s
            waited_s += error.waited_s
        else:
            if reply.status not in TRY_AGAIN:
                return _body_of(reply)
            failure = failure_of(reply, waited_s=waited_s)
            wait_s = stated_pause_s(reply) or pause_s
        if waited_s + wait_s > patience_s:
            raise failure
        waited_s += wait_s
        pause_s = min(2 * pause_s, PAUSE_MAX_S)
        ask = replace(ask, pause_s=wait_s)


def failure_of(reply: Reply, *, waited_s: float) -> ClientError:
    """What an answer that is not 2xx means; those of ``TRY_AGAIN`` pass."""
    code, message, field = _error_of(reply)
    if reply.status in TRY_AGAIN:
        return Busy(reply.status, code, message, waited_s=waited_s)
    return Refused(reply.status, code, message, field=field)


def stated_pause_s(reply: Reply) -> float | None:
    """How long the service asks to be left alone."""
    text = reply.retry_after or ""
    return float(text) if text.isascii() and text.isdigit() else None


def _body_of(reply: Reply) -> Any:
    if 200 <= reply.status < 300:
        return reply.json()
    raise failure_of(reply, waited_s=0.0)


def _error_of(reply: Reply) -> tuple[str, str, str | None]:
    try:
        body = reply.json()
    except orjson.JSONDecodeError:
        body = None
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return f"http_{reply.status}", "the service gave no reason", None
    return str(error.get("code")), str(error.get("message")), error.get("field")
