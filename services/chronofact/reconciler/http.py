"""The reconciler's routes: who asks for a check, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from chronofact.contracts.checking import CheckWanted, Divergence, Run
from chronofact.contracts.meant import hint
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_instant, instant_of
from chronofact.reconciler.paging import PAGE, newest_first, oldest_first
from chronofact.reconciler.requests import Operating, body_of, in_path, numbered, only
from chronofact.reconciler.service import Reconciler, new_seed
from chronofact.runtime.http import json_response
from chronofact.runtime.openapi import ANY, COUNT, INSTANT, TEXT, many, nullable, shape

PAST_MAX: Final = 1_000
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


class Routes:
    """What each call does."""

    def __init__(self, reconciler: Reconciler, *, projection: str) -> None:
        self._reconciler = reconciler
        self._projection = projection

    async def start(self, request: Request) -> Response:
        """``POST /v1/checks``."""
        only(request)
        body = await body_of(request)
        run = await self._reconciler.start(wanted_of(body, await self._reconciler.served(self._projection)))
        return json_response(told(run), status=202, headers={"Location": f"/v1/checks/{run.run_id}"})

    async def listed(self, request: Request) -> Response:
        """``GET /v1/checks``."""
        page = newest_first(request)
        runs = await self._reconciler.runs(before=page.cursor, limit=page.limit)
        return json_response(page.of("checks", runs, told=told, cursor=lambda run: run.run_id))

    async def one(self, request: Request) -> Response:
        """``GET /v1/checks/{id}``."""
        page = oldest_first(request)
        run = await self._reconciler.run(numbered(request, "run_id", "check"))
        found = await self._reconciler.divergences(run.run_id, after=page.cursor, limit=page.limit)
        listed = page.of("found", found, told=lambda one: divergence(one[1]), cursor=lambda one: one[0])
        return json_response({**told(run), **listed})


def add_routes(app: FastAPI, operating: Operating, routes: Routes) -> None:
    """Every route with its description."""
    body = {"required": False, "content": {"application/json": {"schema": _WANTED}}}
    operating.add(
        app, ("POST", "/v1/checks"), routes.start,
        summary="Begin a check", tag="checks", done=202, shape=shape(_RUN), extra={"requestBody": body},
        meanings={
            202: "It has begun.",
            409: "A check of this projection is running.",
            413: "The body is too large.",
            422: "A field is not as it must be.",
        },
    )  # fmt: skip
    meanings: dict[int | str, str] = {200: "As it stands.", 404: "There is no such check."}
    operating.add(
        app, ("GET", "/v1/checks"), routes.listed,
        summary="Checks, newest first", tag="checks", meanings=meanings, extra={"parameters": PAGE},
        shape=shape({"checks": many(shape(_RUN)), "cursor": nullable(TEXT)}),
    )  # fmt: skip
    operating.add(
        app, ("GET", "/v1/checks/{run_id}"), routes.one,
        summary="One check and what it found", tag="checks", meanings=meanings,
        shape=shape({**_RUN, "found": many(_FOUND), "cursor": nullable(TEXT)}),
        extra={"parameters": [in_path("run_id"), *PAGE]},
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
