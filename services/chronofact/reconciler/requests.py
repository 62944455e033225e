"""What all routes of the reconciler share: who may call, how requests are counted, and how they are read."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from chronofact.contracts.json_text import faithfully
from chronofact.contracts.meant import hint
from chronofact.domain.errors import Rejected
from chronofact.runtime.auth import Credentials, Role
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.http import error_response
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import Schema, answers

BODY_BYTES_MAX: Final = 4_096
REFUSALS: Final[Mapping[int | str, str]] = {
    400: "A parameter or the body is not as it must be.",
    401: "No credential that is known.",
    403: "The credential may not operate.",
    503: "Postgres is away; asking again is safe.",
}

Handler = Callable[[Request], Awaitable[Response]]


class Operating:
    """Answers requests of those who may operate, and counts them."""

    def __init__(self, credentials: Credentials, metrics: Metrics) -> None:
        self._credentials = credentials
        self._requests = metrics.counter("chronofact_http_requests_total")
        self._seconds = metrics.histogram("chronofact_http_request_seconds")

    async def respond(self, route: str, handler: Handler, request: Request) -> Response:
        """One request; what is wrong with it is its answer."""
        started = time.perf_counter()
        try:
            headers = request.headers
            caller = self._credentials.caller(headers.get("authorization"), headers.get("x-tenant-id"))
            caller.require(Role.OPERATE)
            response = await handler(request)
        except Rejected as refusal:
            response = error_response(refusal)
        except (Transient, Unfit) as failure:
            response = error_response(Rejected(failure.code, str(failure)))
        self._requests.labels(route, str(response.status_code)).inc()
        self._seconds.labels(route).observe(time.perf_counter() - started)
        return response

    def add(
        self,
        app: FastAPI,
        call: tuple[str, str],
        handler: Handler,
        *,
        summary: str,
        tag: str,
        meanings: Mapping[int | str, str],
        shape: Schema,
        done: int = 200,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """A route with its description; ``shape`` is that of the answer when it is ``done``."""
        method, path = call

        async def endpoint(request: Request) -> Response:
            return await self.respond(path, handler, request)

        app.add_api_route(
            path,
            endpoint,
            methods=[method],
            status_code=done,
            summary=summary,
            tags=[tag],
            operation_id=f"{method.lower()}{path.replace('/', '_')}",
            responses=answers({**REFUSALS, **meanings}, {done: shape}),
            openapi_extra=extra or {},
        )


def in_path(name: str) -> dict[str, Any]:
    """The description of a part of the path."""
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


async def body_of(request: Request) -> Mapping[str, Any]:
    """The body as an object; nothing is an empty one.

    Raises:
        Rejected: ``body_too_large``, ``command_not_object``, or what is wrong with its JSON.
    """
    raw = b""
    async for piece in request.stream():
        raw += piece
        if len(raw) > BODY_BYTES_MAX:
            raise Rejected("body_too_large", f"a body has at most {BODY_BYTES_MAX} bytes")
    if not raw.strip():
        return {}
    found = faithfully(raw)
    if not isinstance(found, dict):
        raise Rejected("command_not_object", "the body is a JSON object")
    return found


def only(request: Request, *known: str) -> None:
    """Refuses parameters that the call does not have, or has once.

    Raises:
        Rejected: ``parameter_unknown``.
    """
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise Rejected(
                "parameter_unknown", f"this call has no such parameter, or has it once{hint(name, known)}", field=name
            )


def number_of(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A parameter that is a number.

    Raises:
        Rejected: ``parameter_malformed``.
    """
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and least <= int(text) <= most):
        raise Rejected("parameter_malformed", f"{name} is a number from {least} to {most}", field=name)
    return int(text)


def numbered(request: Request, name: str, what: str) -> int:
    """The number in the path.

    Raises:
        Rejected: ``not_found``.
    """
    text = request.path_params[name]
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Rejected("not_found", f"no {what} has this number", field=name)
    return int(text)
