"""``POST /v1/drops``: a parked message is given up, for every projection and for good."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI, Request, Response
from pydantic import ValidationError

from chronofact.contracts.drops import DropCommand
from chronofact.contracts.payload import id_text
from chronofact.contracts.refusals import refusal_of
from chronofact.domain.errors import Rejected
from chronofact.runtime.auth import Credentials, Role
from chronofact.runtime.http import json_response
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import ID, TEXT, answers, shape, words
from chronofact.writer.body import parse_json
from chronofact.writer.intake import JSON, Bodies, has_lines, trace_of
from chronofact.writer.route import counted
from chronofact.writer.service import Writer

_ROUTE: Final = "/v1/drops"


class Drops:
    """The route: an operator's alone, one drop a request."""

    def __init__(self, writer: Writer, credentials: Credentials, bodies: Bodies) -> None:
        self._writer = writer
        self._credentials = credentials
        self._bodies = bodies

    async def answer(self, request: Request) -> Response:
        """What became of one request.

        Raises:
            Rejected, ClientDisconnect: nothing was taken.
        """
        headers = request.headers
        self._credentials.caller(headers.get("authorization"), headers.get("x-tenant-id")).require(Role.OPERATE)
        if request.query_params:
            raise Rejected("parameter_unknown", "this call has no parameters")
        if has_lines(headers):
            raise Rejected("content_type_unsupported", f"send {JSON}, one drop a request", field="Content-Type")
        async with self._bodies.of(request) as raw:
            command = _command(raw)
        drop, position = await self._writer.drop(command, trace=trace_of(headers))
        told = {"status": "accepted", "event_id": id_text(drop.event_id), "position": position.encode()}
        return json_response(told, status=201)


def _command(raw: bytearray) -> DropCommand:
    body = parse_json(raw, commands_max=1)
    if not body.is_single:
        raise Rejected("command_not_object", "the body is one JSON object")
    (found,) = body.commands
    if isinstance(found, Rejected):
        raise found
    try:
        return DropCommand.model_validate(found)
    except ValidationError as error:
        raise refusal_of(error, fields=tuple(DropCommand.model_fields)) from None


def add_drops(app: FastAPI, drops: Drops, metrics: Metrics) -> None:
    """The route and its description."""
    app.add_api_route(
        _ROUTE,
        counted(_ROUTE, drops.answer, metrics),
        methods=["POST"],
        operation_id="post_v1_drops",
        summary="Give up a parked message; `chronofact parked drop` looks first whether it is one",
        tags=["operations"],
        status_code=201,
        responses=answers(_ANSWERS, {201: _SAID}),
        openapi_extra={"requestBody": _request_body()},
    )


_ANSWERS: Final[dict[int | str, str]] = {
    201: "Acknowledged by the broker; a projection that has the message parked gives it up when it reads this.",
    400: "Not JSON, or a parameter.",
    401: "No credential that is known.",
    403: "The credential may not operate.",
    408: "The body did not come in time; nothing was sent.",
    413: "Too large.",
    415: "Another type or encoding.",
    422: "Refused: no place of this topic, no reason, or no key.",
    429: "No room now; nothing was sent.",
    503: "Kafka did not acknowledge in time, or the topic is not as it must be.",
}


_SAID: Final = shape({"status": words("accepted"), "event_id": ID, "position": TEXT})


def _request_body() -> dict[str, Any]:
    return {"required": True, "content": {JSON: {"schema": DropCommand.model_json_schema()}}}
