"""``/v1/rebuilds``: begin one, see how far it has come, cancel it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from chronofact.contracts.meant import hint
from chronofact.contracts.rebuilding import NOTHING, RebuildPart, RebuildTold, RebuildWanted
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_instant, instant_of
from chronofact.reconciler.paging import PAGE, newest_first
from chronofact.reconciler.rebuild_ports import Rebuilds
from chronofact.reconciler.requests import Operating, body_of, in_path, numbered, only
from chronofact.runtime.http import json_response
from chronofact.runtime.openapi import COUNT, INSTANT, TEXT, Schema, many, nullable, shape, words

WORKERS_MAX: Final = 16
WINDOW_S_MAX: Final = 366 * 86_400
_PROJECTION: Final = re.compile(r"p[1-9][0-9]{0,5}", re.ASCII)
_COMPARED: Final = re.compile(rf"{_PROJECTION.pattern}|{NOTHING}", re.ASCII)
_STATES: Final = ("planning", "building", "indexing", "catching_up", "verifying", "ready", "failed", "cancelled")
_SECONDS: Final[Schema] = {"type": "number", "minimum": 0}
_FIELDS: Final[Mapping[str, Schema]] = {
    "projection": {
        "type": "string",
        "pattern": f"^{_PROJECTION.pattern}$",
        "description": "Default the next free one.",
    },
    "rule": {"type": "integer", "minimum": 1, "description": "Of the fold; default that of the default projection."},
    "workers": {"type": "integer", "minimum": 1, "maximum": WORKERS_MAX, "description": "Processes of the load."},
    "compare_with": {
        "type": "string",
        "pattern": f"^({_COMPARED.pattern})$",
        "description": "Default one that serves. With `none`, the independent check alone decides.",
    },
    "shadow_window_s": {
        "type": "integer",
        "minimum": 0,
        "maximum": WINDOW_S_MAX,
        "description": "With `rule`: for how long it is compared with one of another rule.",
    },
}
_WANTED: Final = {"type": "object", "additionalProperties": False, "properties": _FIELDS}
_AGAIN: Final = {
    **_WANTED,
    "properties": {"compare_with": {**_FIELDS["compare_with"], "description": "Default as before."}},
}
_REBUILD: Final = {
    "id": TEXT,
    "projection": TEXT,
    "rule": COUNT,
    "state": words(*_STATES),
    "waiting": nullable(TEXT),
    "still_since": nullable(INSTANT),
    "started_at": INSTANT,
    "finished_at": nullable(INSTANT),
    "seconds": _SECONDS,
    "phases": {"type": "object", "additionalProperties": _SECONDS},
    "messages": COUNT,
    "messages_read": COUNT,
    "messages_total": COUNT,
    "events": COUNT,
    "facts": COUNT,
    "parked": COUNT,
    "compared_with": nullable(TEXT),
    "failure": nullable(shape({"code": TEXT, "message": TEXT, "remedy": TEXT})),
}
_PART: Final = {
    "partition": COUNT,
    "state": words("waiting", "reading", "folding", "loaded", "indexed"),
    **dict.fromkeys(
        ("target", "messages_read", "buckets", "buckets_done", "messages", "events", "facts", "parked"), COUNT
    ),
}


class RebuildRoutes:
    """What each call does."""

    def __init__(self, rebuilds: Rebuilds, *, workers: int) -> None:
        self._rebuilds = rebuilds
        self._workers = workers

    async def start(self, request: Request) -> Response:
        """``POST /v1/rebuilds``."""
        only(request)
        wanted = wanted_of(await body_of(request))
        begun = await asyncio.to_thread(self._rebuilds.begin, wanted, workers=self._workers)
        location = {"Location": f"/v1/rebuilds/{begun.rebuild.rebuild_id}"}
        return json_response({**told(begun), "parts": []}, status=202, headers=location)

    async def listed(self, request: Request) -> Response:
        """``GET /v1/rebuilds``."""
        page = newest_first(request)
        found = await asyncio.to_thread(self._rebuilds.rebuilds, before=page.cursor, limit=page.limit)
        return json_response(page.of("rebuilds", found, told=told, cursor=lambda one: one.rebuild.rebuild_id))

    async def one(self, request: Request) -> Response:
        """``GET /v1/rebuilds/{rebuild_id}``."""
        only(request)
        return json_response(await self._told(numbered(request, "rebuild_id", "rebuild")))

    async def cancel(self, request: Request) -> Response:
        """``DELETE /v1/rebuilds/{rebuild_id}``."""
        only(request)
        rebuild_id = numbered(request, "rebuild_id", "rebuild")
        await asyncio.to_thread(self._rebuilds.ask_cancel, rebuild_id)
        return json_response(await self._told(rebuild_id), status=202)

    async def verify(self, request: Request) -> Response:
        """``POST /v1/rebuilds/{rebuild_id}/verification``."""
        only(request)
        rebuild_id = numbered(request, "rebuild_id", "rebuild")
        compare_with = compared_of(await body_of(request))
        await asyncio.to_thread(self._rebuilds.verify_again, rebuild_id, compare_with)
        return json_response(await self._told(rebuild_id), status=202)

    async def _told(self, rebuild_id: int) -> dict[str, Any]:
        found = await asyncio.to_thread(self._rebuilds.rebuild, rebuild_id)
        if found is None:
            raise Rejected("not_found", "no rebuild has this number", field="rebuild_id")
        return {**told(found[0]), "parts": _parts(found[1])}


def add_rebuild_routes(app: FastAPI, operating: Operating, routes: RebuildRoutes) -> None:
    """Every route with its description."""
    whole = shape({**_REBUILD, "parts": many(shape(_PART))})
    one = {"parameters": [in_path("rebuild_id")]}
    body = {"required": False, "content": {"application/json": {"schema": _WANTED}}}
    operating.add(
        app, ("POST", "/v1/rebuilds"), routes.start,
        summary="Begin to rebuild all state from the log, beside what serves", tag="rebuilds", done=202, shape=whole,
        extra={"requestBody": body},
        meanings={
            202: "It waits for its turn, or is at work.",
            409: "A projection, or a rebuild, of that name is there already.",
            413: "The body is too large.",
            422: "A field is not as it must be.",
        },
    )  # fmt: skip
    operating.add(
        app, ("GET", "/v1/rebuilds"), routes.listed,
        summary="Rebuilds, newest first", tag="rebuilds", meanings={200: "As they stand."}, extra={"parameters": PAGE},
        shape=shape({"rebuilds": many(shape(_REBUILD)), "cursor": nullable(TEXT)}),
    )  # fmt: skip
    operating.add(
        app, ("GET", "/v1/rebuilds/{rebuild_id}"), routes.one,
        summary="How far one has come", tag="rebuilds", shape=whole, extra=one,
        meanings={200: "As it stands.", 404: "There is no such rebuild."},
    )  # fmt: skip
    again = {"required": False, "content": {"application/json": {"schema": _AGAIN}}}
    operating.add(
        app, ("POST", "/v1/rebuilds/{rebuild_id}/verification"), routes.verify,
        summary="Verify a failed one once more, without loading it again", tag="rebuilds", done=202, shape=whole,
        extra={**one, "requestBody": again},
        meanings={
            202: "It waits for its turn, or is at work.",
            404: "There is no such rebuild.",
            409: "It has not failed, or failed before all was loaded.",
            413: "The body is too large.",
            422: "A field is not as it must be.",
        },
    )  # fmt: skip
    operating.add(
        app, ("DELETE", "/v1/rebuilds/{rebuild_id}"), routes.cancel,
        summary="End one, and remove all that it made", tag="rebuilds", done=202, shape=whole, extra=one,
        meanings={
            202: "It will be cancelled, or is.",
            404: "There is no such rebuild.",
            409: "It is done: retire its projection instead.",
        },
    )  # fmt: skip


def wanted_of(body: Mapping[str, Any]) -> RebuildWanted:
    """What a body asks for.

    Raises:
        Rejected: ``field_unknown``, ``field_type``, ``field_value``.
    """
    _refuse_unknown(body, _FIELDS)
    for name, form, further in (("projection", _PROJECTION, ""), ("compare_with", _COMPARED, f"; or {NOTHING}")):
        _refuse_unlike(body, name, form, further)
    for name, least, most in (
        ("rule", 1, 2**15 - 1),
        ("workers", 1, WORKERS_MAX),
        ("shadow_window_s", 0, WINDOW_S_MAX),
    ):
        said = body.get(name)
        if said is not None and (type(said) is not int or not least <= said <= most):
            raise Rejected("field_type", f"{name} is a number from {least} to {most}", field=name)
    if body.get("shadow_window_s") is not None and body.get("rule") is None:
        raise Rejected(
            "field_value", "shadow_window_s goes with rule: nothing else is looked at", field="shadow_window_s"
        )
    return RebuildWanted(**body)


def compared_of(body: Mapping[str, Any]) -> str | None:
    """What one is to be verified against, where that is said.

    Raises:
        Rejected: ``field_unknown``, ``field_type``, ``field_value``.
    """
    _refuse_unknown(body, ("compare_with",))
    _refuse_unlike(body, "compare_with", _COMPARED, f"; or {NOTHING}")
    return body.get("compare_with")


def _refuse_unknown(body: Mapping[str, Any], known: Collection[str]) -> None:
    unknown = sorted(body.keys() - set(known))
    if unknown:
        raise Rejected("field_unknown", f"not a field of a rebuild{hint(unknown[0], known)}", field=unknown[0])


def _refuse_unlike(body: Mapping[str, Any], name: str, form: re.Pattern[str], further: str) -> None:
    said = body.get(name)
    if said is not None and not isinstance(said, str):
        raise Rejected("field_type", f"{name} is a text", field=name)
    if said is not None and form.fullmatch(said) is None:
        raise Rejected("field_value", f"{name} is p and a number, like p2{further}", field=name)


def told(found: RebuildTold) -> dict[str, Any]:
    """A rebuild as callers see it."""
    rebuild = found.rebuild
    failure = {"code": rebuild.failure_code, "message": rebuild.failure, "remedy": rebuild.remedy}
    return {
        "id": str(rebuild.rebuild_id),
        "projection": rebuild.projection,
        "rule": rebuild.rule,
        "state": rebuild.state.value,
        "waiting": waiting(found),
        "still_since": None if found.stood is None else _instant(found.stood.since),
        "started_at": _instant(rebuild.started_at),
        "finished_at": _instant(rebuild.finished_at),
        "heartbeat_at": _instant(rebuild.heartbeat_at),
        "cancel_asked_at": _instant(rebuild.cancel_asked_at),
        "seconds": round(_seconds(found), 3),
        "phases": dict(rebuild.phases),
        "messages": found.messages,
        "messages_read": found.messages_read,
        "messages_total": found.messages_total,
        "events": found.events,
        "facts": found.facts,
        "parked": found.parked,
        "topic_id": None if rebuild.topic_id is None else str(rebuild.topic_id),
        "fingerprint": rebuild.fingerprint,
        "compared_with": rebuild.compared_with,
        "shadow_window_s": rebuild.shadow_window_s,
        "workers": rebuild.workers,
        "failure": None if rebuild.failure_code is None else failure,
    }


def waiting(found: RebuildTold) -> str | None:
    """For what it waits, in words."""
    rebuild = found.rebuild
    if found.still is not None:
        since = _instant(found.still.since)
        return f"its reconciler stands still since {since}; where it does not wake soon, another one goes on with it"
    if found.idle is not None:
        since = _instant(found.idle.since)
        return f"nobody has done anything for it since {since}: start a reconciler, or start the one that runs again"
    if rebuild.state.is_over:
        return "its removal" if rebuild.cancel_asked_at is not None and rebuild.state.value == "failed" else None
    if rebuild.cancel_asked_at is not None:
        return "its removal"
    return (
        "its turn; it comes at once, or when the one before is over"
        if rebuild.heartbeat_at is None
        else rebuild.waiting
    )


def _seconds(found: RebuildTold) -> float:
    rebuild = found.rebuild
    until = rebuild.finished_at or rebuild.heartbeat_at or rebuild.started_at
    return max(0.0, (until - rebuild.started_at).total_seconds())


def _parts(parts: Sequence[RebuildPart]) -> list[dict[str, Any]]:
    return [{name: getattr(part, name) for name in _PART} for part in parts]


def _instant(moment: datetime | None) -> str | None:
    return None if moment is None else format_instant(instant_of(moment))
