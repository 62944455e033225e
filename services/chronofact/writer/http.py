"""``POST /v1/events``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers

from chronofact.contracts.commands import COMMANDS
from chronofact.runtime.auth import Credentials, Role
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import ERROR, ID, TEXT, Answers, Schema, answers, many, nullable, shape, words
from chronofact.writer.accept import Authority
from chronofact.writer.answers import lines, several, single
from chronofact.writer.body import Parsed, parse_json, parse_lines
from chronofact.writer.intake import JSON, LINES, Bodies, has_lines, is_dry_run, trace_of, wants_lines
from chronofact.writer.route import counted
from chronofact.writer.service import Taken

_ROUTE: Final = "/v1/events"
_COMPONENTS: Final = "#/components/schemas/{model}"


class Takes(Protocol):
    """What takes commands of one kind."""

    async def take(
        self, commands: list[Parsed], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Taken:
        """What became of each; a whole request is refused by ``Rejected``."""
        ...


class Events:
    """The route of any commands: who may, what was sent, what became of it."""

    def __init__(
        self,
        writer: Takes,
        credentials: Credentials,
        bodies: Bodies,
        *,
        commands_max: int,
        clock: Callable[[], int],
    ) -> None:
        self._writer = writer
        self._credentials = credentials
        self._bodies = bodies
        self._commands_max = commands_max
        self._clock = clock

    async def answer(self, request: Request) -> Response:
        """What became of one request.

        Raises:
            Rejected, ClientDisconnect: nothing was taken.
        """
        headers = request.headers
        authority = authority_of(self._credentials, headers, self._clock())
        is_dry = is_dry_run(request.query_params)
        parse = parse_lines if has_lines(headers) else parse_json
        async with self._bodies.of(request) as raw:
            body = parse(raw, commands_max=self._commands_max)
            raw.clear()
            taken = await self._writer.take(body.commands, authority, is_dry_run=is_dry, trace=trace_of(headers))
        if body.is_single:
            return single(taken)
        return lines(taken) if wants_lines(headers) else several(taken)


def authority_of(credentials: Credentials, headers: Headers, now: int) -> Authority:
    """What the caller may say.

    Raises:
        Rejected: it is nobody that is known, or may not write.
    """
    caller = credentials.caller(headers.get("authorization"), headers.get("x-tenant-id"))
    caller.require(Role.WRITE)
    return Authority(caller.tenant_id, caller.scopes, Role.IMPORT in caller.roles, now, Role.SERVICE in caller.roles)


def add_events(app: FastAPI, events: Events, metrics: Metrics) -> None:
    """The route and its description."""
    app.add_api_route(
        _ROUTE,
        counted(_ROUTE, events.answer, metrics),
        methods=["POST"],
        operation_id="post_v1_events",
        summary="One command, a JSON array of them, or NDJSON",
        tags=["events"],
        responses=answers_of(_ACCEPTED),
        openapi_extra={"requestBody": _request_body(), "parameters": [DRY_RUN]},
    )
    _describe_commands(app)


DRY_RUN: Final = {
    "name": "dry_run",
    "in": "query",
    "required": False,
    "schema": {"type": "boolean", "default": False},
    "description": "Validate and return the ids; publish nothing.",
}
ANSWERS: Final[dict[int | str, str]] = {
    200: "Several commands, each accepted or rejected, in order; or one that was only tried.",
    201: "One command, acknowledged by the broker.",
    400: "Not JSON, or not as a whole.",
    401: "No credential that is known.",
    403: "The credential may not write.",
    408: "The body did not come in time; nothing was sent.",
    413: "More than 10,000 commands or 16 MiB.",
    415: "Another type or encoding.",
    422: "One command, refused.",
    429: "No room for the whole request; nothing was sent.",
    501: "One memory, and this writer takes no texts: by its setting, or for want of what reads them.",
    503: "Kafka did not acknowledge in time, or the topic is not as it must be.",
}


_ACCEPTED: Final = shape(
    {"status": words("accepted"), "event_id": ID, "fact_id": ID},
    version_id=ID,
    idempotency_key=TEXT,
    frames=many(shape({"entity": TEXT, "slot": TEXT, "value": TEXT})),
)
_REJECTED: Final = shape({"status": words("rejected"), "error": ERROR["properties"]["error"]})


def answers_of(accepted: Schema, meanings: Mapping[int | str, str] = ANSWERS) -> Answers:
    """What a route of commands answers, by what it says of one that it accepted."""
    one = {"allOf": [accepted, shape({"position": nullable(TEXT)})]}
    several = shape({"results": many({"oneOf": [accepted, _REJECTED]}), "position": nullable(TEXT)})
    described = answers(meanings, {200: {"oneOf": [one, several]}, 201: one})
    described[200]["content"][LINES] = {"schema": TEXT}
    return described


def _request_body() -> dict[str, Any]:
    command = COMMANDS.json_schema(ref_template=_COMPONENTS)
    command.pop("$defs")
    many = {"type": "array", "items": command, "maxItems": 10_000}
    return {"required": True, "content": {JSON: {"schema": {"oneOf": [command, many]}}, LINES: {"schema": command}}}


def _describe_commands(app: FastAPI) -> None:
    plain = app.openapi

    def described() -> dict[str, Any]:
        schema = plain()
        shared = COMMANDS.json_schema(ref_template=_COMPONENTS)["$defs"]
        schema.setdefault("components", {}).setdefault("schemas", {}).update(shared)
        return schema

    app.openapi = described  # type: ignore[method-assign]
