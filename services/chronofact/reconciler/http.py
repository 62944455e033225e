"""The reconciler's routes: who asks for a check, and what it found."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from chronofact.contracts.checking import CheckWanted, Divergence, Run
from chronofact.contracts.json_text import faithfully
from chronofact.contracts.meant import hint
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_instant, instant_of
from chronofact.reconciler.service import Reconciler, new_seed
from chronofact.runtime.auth import Credentials, Role
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.http import error_response, json_response
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import ANY, COUNT, INSTANT, TEXT, answers, many, nullable, shape

BODY_BYTES_MAX: Final = 4_096
LIMIT_MAX: Final = 1_000
PAST_MAX: Final = 1_000
RUN_MAX: Final = 2**62
_RESPONSES: Final[dict[int | str, str]] = {
    400: "A parameter or the body is not as it must be.",
    401: "No credential that is known.",
    403: "The credential may not operate.",
    503: "Postgres is away; asking again is safe.",
}
_RUN: Final = {
    "id": TEXT,
    "projection": TEXT,
    "state": TEXT,
    "started_at": INSTANT,
    "finished_at": nullable(INSTANT),
    "cut_at": nullable(INSTANT),
    "facts": nullable(COUNT),
    "events": nullable(COUNT),
    "divergences": nullable(COUNT),
    "failure": nullable(TEXT),
}
_FOUND: Final = shape({"relation": TEXT, "aspect": TEXT, "expected": ANY, "found": ANY})
_SHAPES: Final = {
    ("POST", "/v1/checks"): shape(_RUN),
    ("GET", "/v1/checks"): shape({"checks": many(shape(_RUN)), "cursor": nullable(TEXT)}),
    ("GET", "/v1/checks/{run_id}"): shape({**_RUN, "found": many(_FOUND), "cursor": nullable(TEXT)}),
}
_WANTED: Final = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "log": {"type": "boolean", "default": True, "description": "Whether the log is read, too."},
        "adjudicated": {"type": "boolean", "default": True, "description": "Whether the answers are kept as a table."},
        "past": {"type": "integer", "minimum": 0, "maximum": PAST_MAX, "default": 8},
        "seed": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1},
    },
}

Handler = Callable[[Request], Awaitable[Response]]


class Routes:
    """What each call does."""

    def __init__(self, reconciler: Reconciler, credentials: Credentials, metrics: Metrics, *, projection: str) -> None:
        self._reconciler = reconciler
        self._credentials = credentials
        self._projection = projection
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

    async def start(self, request: Request) -> Response:
        """``POST /v1/checks``."""
        _only(request, frozenset())
        run = await self._reconciler.start(wanted_of(await _body(request), self._projection))
        return json_response(told(run), status=202, headers={"Location": f"/v1/checks/{run.run_id}"})

    async def listed(self, request: Request) -> Response:
        """``GET /v1/checks``."""
        _only(request, frozenset({"cursor", "limit"}))
        limit = _number(request, "limit", 100, 1, LIMIT_MAX)
        before = _number(request, "cursor", RUN_MAX, 1, RUN_MAX)
        runs = await self._reconciler.runs(before=before, limit=limit)
        cursor = str(runs[-1].run_id) if len(runs) == limit else None
        return json_response({"checks": [told(run) for run in runs], "cursor": cursor})

    async def one(self, request: Request) -> Response:
        """``GET /v1/checks/{id}``."""
        _only(request, frozenset({"cursor", "limit"}))
        limit = _number(request, "limit", 100, 1, LIMIT_MAX)
        after = _number(request, "cursor", 0, 0, RUN_MAX)
        run = await self._reconciler.run(_run_id(request.path_params["run_id"]))
        found = await self._reconciler.divergences(run.run_id, after=after, limit=limit)
        cursor = str(found[-1][0]) if len(found) == limit else None
        return json_response({**told(run), "found": [divergence(one) for _, one in found], "cursor": cursor})


def add_routes(app: FastAPI, routes: Routes) -> None:
    """Every route with its description."""
    page = [
        _parameter("limit", {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": 100}),
        _parameter("cursor", {"type": "string"}),
    ]
    body = {"required": False, "content": {"application/json": {"schema": _WANTED}}}
    _add(app, routes, "POST", "/v1/checks", routes.start, "Begin a check", {"requestBody": body})
    _add(app, routes, "GET", "/v1/checks", routes.listed, "Checks, newest first", {"parameters": page})
    where = {**_parameter("run_id", {"type": "string"}), "in": "path", "required": True}
    _add(
        app, routes, "GET", "/v1/checks/{run_id}", routes.one, "One check and what it found",
        {"parameters": [where, *page]},
    )  # fmt: skip


def wanted_of(body: Mapping[str, Any], projection: str) -> CheckWanted:
    """What a body asks for.

    Raises:
        Rejected: ``field_unknown``, ``field_type``.
    """
    known = ("log", "adjudicated", "past", "seed")
    unknown = sorted(body.keys() - set(known))
    if unknown:
        raise Rejected("field_unknown", f"not a field of a check{hint(unknown[0], known)}", field=unknown[0])
    for name in ("log", "adjudicated"):
        if not isinstance(body.get(name, True), bool):
            raise Rejected("field_type", f"{name} is true or false", field=name)
    limits = {"past": PAST_MAX, "seed": 2**31 - 1}
    for name, most in limits.items():
        number = body.get(name, 0)
        if type(number) is not int or not 0 <= number <= most:
            raise Rejected("field_type", f"{name} is a number from 0 to {most}", field=name)
    return CheckWanted(
        projection,
        past_max=body.get("past", 8),
        seed=body.get("seed", new_seed()),
        with_log=body.get("log", True),
        with_adjudicated=body.get("adjudicated", True),
    )


def told(run: Run) -> dict[str, Any]:
    """A run as callers see it."""
    tally = run.tally
    return {
        "id": str(run.run_id),
        "projection": run.wanted.projection,
        "state": run.state.value,
        "started_at": format_instant(instant_of(run.started_at)),
        "finished_at": None if run.finished_at is None else format_instant(instant_of(run.finished_at)),
        "cut_at": None if run.cut_at is None else format_instant(instant_of(run.cut_at)),
        "topic_id": None if run.topic_id is None else str(run.topic_id),
        "next_offsets": {str(partition): offset for partition, offset in run.next_offsets.items()},
        "seed": run.wanted.seed,
        "past": run.wanted.past_max,
        "log": run.wanted.with_log,
        "adjudicated": run.wanted.with_adjudicated,
        "facts": tally.facts,
        "facts_total": tally.facts_total,
        "events": tally.events,
        "messages": tally.messages,
        "messages_total": tally.messages_total,
        "bounded": tally.bounded,
        "divergences": tally.divergences,
        "failure": run.failure,
    }


def divergence(found: Divergence) -> dict[str, Any]:
    """One difference, with both sides."""
    return {
        "fact_id": None if found.fact_id is None else str(found.fact_id),
        "fact_no": found.fact_no,
        "relation": found.relation,
        "aspect": found.aspect,
        "place": found.place,
        "expected": found.expected,
        "found": found.found,
    }


def _add(
    app: FastAPI, routes: Routes, method: str, path: str, handler: Handler, summary: str, extra: dict[str, Any]
) -> None:
    async def endpoint(request: Request) -> Response:
        return await routes.respond(path, handler, request)

    done = 202 if method == "POST" else 200
    more: dict[int | str, str] = {200: "As it stands.", 404: "There is no such check."}
    if method == "POST":
        more = {
            202: "It has begun.",
            409: "A check of this projection is running.",
            413: "The body is too large.",
            422: "A field is not as it must be.",
        }
    app.add_api_route(
        path,
        endpoint,
        methods=[method],
        status_code=done,
        summary=summary,
        tags=["checks"],
        operation_id=f"{method.lower()}{path.replace('/', '_')}",
        responses=answers({**_RESPONSES, **more}, {done: _SHAPES[method, path]}),
        openapi_extra=extra,
    )


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


async def _body(request: Request) -> Mapping[str, Any]:
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


def _only(request: Request, known: frozenset[str]) -> None:
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise Rejected(
                "parameter_unknown", f"this call has no such parameter, or has it once{hint(name, known)}", field=name
            )


def _number(request: Request, name: str, default: int, least: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and least <= int(text) <= most):
        raise Rejected("parameter_malformed", f"{name} is a number from {least} to {most}", field=name)
    return int(text)


def _run_id(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise Rejected("not_found", "no check has this number", field="run_id")
    return int(text)
