"""``POST /v1/interactions``: turns in, text memories and structured facts out, each with its window (semantics §9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from chronofact.contracts.interactions import Interaction, Turn, TurnRejected
from chronofact.contracts.payload import id_text
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_bound
from chronofact.runtime.auth import Credentials
from chronofact.runtime.http import error_response, json_response
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import ID, TEXT, Schema, answers, many, nullable, shape, words
from chronofact.writer.accept import Accepted
from chronofact.writer.body import parse_json
from chronofact.writer.http import ANSWERS, DRY_RUN, authority_of
from chronofact.writer.intake import JSON, Bodies, has_lines, is_dry_run, trace_of
from chronofact.writer.interact import FactTaken, Left, MemoryTaken, TurnTaken
from chronofact.writer.interactions import TakesTalk, Talk
from chronofact.writer.route import counted

_ROUTE: Final = "/v1/interactions"


class Conversations:
    """The route: who may, what was sent, what became of it."""

    def __init__(
        self, taking: TakesTalk, credentials: Credentials, bodies: Bodies, *, clock: Callable[[], int]
    ) -> None:
        self._taking = taking
        self._credentials = credentials
        self._bodies = bodies
        self._clock = clock

    async def answer(self, request: Request) -> Response:
        """What became of one conversation.

        Raises:
            Rejected, ClientDisconnect: nothing was taken.
        """
        headers = request.headers
        authority = authority_of(self._credentials, headers, self._clock())
        is_dry = is_dry_run(request.query_params)
        if has_lines(headers):
            raise Rejected("content_type_unsupported", f"send {JSON}", field="Content-Type")
        try:
            async with self._bodies.of(request) as raw:
                body = parse_json(raw, commands_max=1)
                raw.clear()
                (said,) = body.commands if body.is_single else (None,)
                if not isinstance(said, dict):
                    raise Rejected("command_not_object", "the body is one JSON object")
                talk = await self._taking.take(said, authority, is_dry_run=is_dry, trace=trace_of(headers))
        except TurnRejected as error:
            return error_response(error.refusal, index=error.index)
        return json_response(_told(talk), status=200 if talk.position is None else 201)


def _told(talk: Talk) -> dict[str, Any]:
    turns = [_turn(index, one) for index, one in enumerate(talk.turns)]
    return {"turns": turns, "position": None if talk.position is None else talk.position.encode()}


def _turn(index: int, taken: TurnTaken) -> dict[str, Any]:
    return {
        "index": index,
        "role": taken.role,
        "memories": [_memory(one) for one in taken.memories],
        "facts": [_fact(one) for one in taken.facts],
        "not_taken": [_left(one) for one in taken.left],
    }


def _memory(one: MemoryTaken) -> dict[str, Any]:
    return {
        **_ids(one.accepted),
        "text": one.text,
        "valid_from": format_bound(one.window.start),
        "valid_to": format_bound(one.window.end),
        "is_dated": one.window.said,
        "frames": [frame.to_json() for frame in one.reading.frames],
    }


def _fact(one: FactTaken) -> dict[str, Any]:
    return {
        **_ids(one.accepted),
        "key": one.key,
        "value": one.value,
        "valid_from": format_bound(one.window.start),
        "valid_to": format_bound(one.window.end),
        "is_dated": one.window.said,
        "succession": "automatic" if one.blocked_by is None else "explicit",
        "blocked_by": one.blocked_by,
    }


def _left(one: Left) -> dict[str, Any]:
    if one.frame is None:
        return {"reason": one.why}
    return {"reason": one.why, "entity": one.frame.entity, "slot": one.frame.slot, "value": one.frame.value}


def _ids(accepted: Accepted) -> dict[str, str | None]:
    version_id = accepted.version_id
    return {
        "event_id": id_text(accepted.event.event_id),
        "fact_id": id_text(accepted.fact_id),
        "version_id": None if version_id is None else id_text(version_id),
    }


# -- its description -------------------------------------------------------------------------------

_WINDOW: Final[Schema] = {"valid_from": nullable(TEXT), "valid_to": nullable(TEXT), "is_dated": {"type": "boolean"}}
_IDS: Final[Schema] = {"event_id": ID, "fact_id": ID, "version_id": ID}
_FRAME: Final = shape({"entity": TEXT, "slot": TEXT, "value": TEXT})
_MEMORY: Final = shape({**_IDS, "text": TEXT, **_WINDOW, "frames": many(_FRAME)})
_FACT: Final = shape(
    {
        **_IDS,
        "key": TEXT,
        "value": TEXT,
        **_WINDOW,
        "succession": words("automatic", "explicit"),
        "blocked_by": nullable(TEXT),
    }
)
_LEFT: Final = shape({"reason": TEXT}, entity=TEXT, slot=TEXT, value=TEXT)
_TURN: Final = shape(
    {
        "index": {"type": "integer"},
        "role": TEXT,
        "memories": many(_MEMORY),
        "facts": many(_FACT),
        "not_taken": many(_LEFT),
    }
)
_TALK: Final = shape({"turns": many(_TURN), "position": nullable(TEXT)})
_ANSWERS: Final[dict[int | str, str]] = dict(
    sorted(
        {
            **ANSWERS,
            200: "Nothing was published: it was only tried, or no turn says anything.",
            201: "All that it says, acknowledged by the broker.",
            413: "More than 16 MiB.",
            422: "Refused as a whole; `index` is the turn that was wrong.",
            501: "This writer takes no texts: by its setting, or for want of what reads them.",
        }.items()
    )
)


def add_interactions(app: FastAPI, conversations: Conversations, metrics: Metrics) -> None:
    """The route and its description."""
    app.add_api_route(
        _ROUTE,
        counted(_ROUTE, conversations.answer, metrics),
        methods=["POST"],
        operation_id="post_v1_interactions",
        summary="A conversation: text memories and structured facts of what the user said in it",
        tags=["memories"],
        responses=answers(_ANSWERS, {200: _TALK, 201: _TALK}),
        openapi_extra={"requestBody": _request_body(), "parameters": [DRY_RUN]},
    )


def _request_body() -> dict[str, Any]:
    said = Interaction.model_json_schema()
    said["properties"]["source"] = said.pop("$defs")["Source"]
    said["properties"]["turns"] = {"type": "array", "items": Turn.model_json_schema(), "minItems": 1, "maxItems": 1_000}
    return {"required": True, "content": {JSON: {"schema": said}}}
