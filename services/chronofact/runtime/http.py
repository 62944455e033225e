"""What every HTTP service has: health, metrics, its description, and errors in one shape without details of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.routing import Match

from chronofact.contracts.addresses import meant_address
from chronofact.contracts.error_codes import status_of
from chronofact.contracts.refusals import sayable
from chronofact.domain.errors import Rejected
from chronofact.runtime.docs_page import docs_page
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health, Reason
from chronofact.runtime.logging import place_of
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import TEXT, answers, many, nullable, shape, words

RETRY_AFTER_S: Final = "1"
_HTTP_CODES: Final = {404: "not_found", 405: "method_not_allowed"}

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


_REASONS: Final = many(shape({"part": TEXT, "code": TEXT, "message": TEXT, "remedy": nullable(TEXT)}))
_READY: Final = answers(
    {200: "It can serve.", 503: "It can't, and why."},
    {
        200: shape({"status": words("ready"), "reasons": _REASONS, "beside": _REASONS}),
        503: shape({"status": words("not_ready"), "reasons": _REASONS, "beside": _REASONS}),
    },
)
_ALIVE: Final = answers({200: "It runs."}, {200: shape({"status": words("alive")})})


def create_app(service: str, summary: str, *, health: Health, metrics: Metrics) -> FastAPI:
    """An application with /livez, /readyz, /metrics, /openapi.json and /docs, to add routes to."""
    app = FastAPI(
        title=f"Chronofact {service}",
        summary=summary,
        version=version("chronofact"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.add_exception_handler(Rejected, _on_rejected)
    app.add_exception_handler(Transient, _on_away)
    app.add_exception_handler(Unfit, _on_away)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_fault)
    _add_health(app, health, metrics)
    _add_docs(app)
    return app


def json_response(body: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A body as compact JSON."""
    return Response(orjson.dumps(body), status, headers, "application/json")


def error_body(error: Rejected, *, index: int | None = None) -> dict[str, Any]:
    """A refusal as callers see it."""
    return {"code": error.code, "message": error.message, "field": sayable(error.field), "index": index}


def error_response(error: Rejected, *, index: int | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """A request refused as a whole."""
    status = status_of(error.code)
    extra = dict(headers or {})
    if status == 401:
        extra["WWW-Authenticate"] = "Bearer"
    if status in {429, 503}:
        extra.setdefault("Retry-After", RETRY_AFTER_S)
    return json_response({"error": error_body(error, index=index)}, status=status, headers=extra)


def _add_health(app: FastAPI, health: Health, metrics: Metrics) -> None:
    @app.head("/livez", include_in_schema=False)
    @app.get("/livez", tags=["health"], summary="The process runs", responses=_ALIVE)
    async def livez() -> Response:
        return json_response({"status": "alive"})

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", tags=["health"], summary="It can serve, or why not, by name", responses=_READY)
    async def readyz() -> Response:
        reasons = _told(health.reasons())
        body = {"status": "not_ready" if reasons else "ready", "reasons": reasons, "beside": _told(health.beside())}
        if reasons:
            return json_response(body, status=503, headers={"Retry-After": RETRY_AFTER_S})
        return json_response(body)

    @app.get("/metrics", tags=["health"], summary="Prometheus metrics", response_class=PlainTextResponse)
    async def exposition() -> Response:
        metrics.gauge("chronofact_ready").set(not health.reasons())
        return Response(metrics.exposition(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _told(reasons: Mapping[str, Reason]) -> list[dict[str, str | None]]:
    return [
        {"part": part, "code": reason.code, "message": reason.message, "remedy": reason.remedy}
        for part, reason in reasons.items()
    ]


def _add_docs(app: FastAPI) -> None:
    page = docs_page(app.title)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(page, media_type="text/html; charset=utf-8")


async def _on_rejected(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Rejected)  # noqa: S101 - that is what it is registered for
    return error_response(error)


async def _on_away(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Transient | Unfit)  # noqa: S101
    return error_response(Rejected(error.code, str(error)))


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    code = _HTTP_CODES.get(error.status_code, "parameter_malformed")
    headers = dict(error.headers or {})
    message = "the request is not of its form"
    if code == "not_found":
        message = _no_such_address(request)
    elif code == "method_not_allowed":
        allowed = _methods_at(request)
        headers["Allow"] = ", ".join(allowed)
        message = _other_method(request, allowed)
    return json_response({"error": error_body(Rejected(code, message))}, status=error.status_code, headers=headers)


def _no_such_address(request: Request) -> str:
    service = request.app.state.service
    found = meant_address(service, request.method, request.url.path)
    if found is None:
        return "no such address; /docs lists them"
    whose = "" if found.service == service else f" of the {found.service}"
    return f"no such address; did you mean {found}{whose}? /docs lists them"


def _other_method(request: Request, allowed: Sequence[str]) -> str:
    writes = request.app.state.service == "reader" and request.method not in _READS
    more = "facts are said by POST /v1/events of the writer" if writes else "/docs lists them"
    return f"the address takes {' and '.join(allowed)}; {more}"


def _methods_at(request: Request) -> list[str]:
    """What the address takes, by whichever route."""
    at = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in at for method in getattr(route, "methods", None) or ()})


async def _on_fault(_request: Request, error: Exception) -> Response:
    structlog.get_logger().error("request_failed", error=place_of(error))
    return error_response(Rejected("internal", "a fault of ours; it is in the log"))
