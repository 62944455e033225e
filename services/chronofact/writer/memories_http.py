"""``POST /v1/memories``: as ``POST /v1/events``, with texts for commands and the frames that were found in each."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI

from chronofact.contracts.commands import Memory
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import ID, TEXT, Schema, many, shape, words
from chronofact.writer.http import ANSWERS, DRY_RUN, Events, answers_of
from chronofact.writer.intake import JSON, LINES
from chronofact.writer.route import counted

_ROUTE: Final = "/v1/memories"


def add_memories(app: FastAPI, memories: Events, metrics: Metrics) -> None:
    """The route and its description."""
    app.add_api_route(
        _ROUTE,
        counted(_ROUTE, memories.answer, metrics),
        methods=["POST"],
        operation_id="post_v1_memories",
        summary="One text memory, a JSON array of them, or NDJSON",
        tags=["memories"],
        responses=answers_of(_ACCEPTED, _ANSWERS),
        openapi_extra={"requestBody": _request_body(), "parameters": [DRY_RUN]},
    )


_FRAME: Final[Schema] = shape({"entity": TEXT, "slot": TEXT, "value": TEXT})
_ACCEPTED: Final = shape(
    {"status": words("accepted"), "event_id": ID, "version_id": ID, "fact_id": ID, "frames": many(_FRAME)},
    idempotency_key=TEXT,
)
_ANSWERS: Final[dict[int | str, str]] = {
    **ANSWERS,
    501: "This writer takes no texts: by its setting, or for want of what reads them.",
}


def _request_body() -> dict[str, Any]:
    memory = Memory.model_json_schema()
    parts = memory.pop("$defs")
    memory["properties"]["source"] = parts["Source"]
    many = {"type": "array", "items": memory, "maxItems": 10_000}
    return {"required": True, "content": {JSON: {"schema": {"oneOf": [memory, many]}}, LINES: {"schema": memory}}}
