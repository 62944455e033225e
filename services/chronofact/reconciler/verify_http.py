"""``/v1/verifications``: hold two projections against each other, and see what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request, Response

from chronofact.contracts.meant import hint
from chronofact.contracts.verification import TABLES, Aspects, VerificationState, VerifyWanted
from chronofact.domain.errors import Rejected
from chronofact.reconciler.paging import PAGE, newest_first, oldest_first
from chronofact.reconciler.requests import Operating, body_of, in_path, numbered, only
from chronofact.reconciler.verify_service import Verifying
from chronofact.reconciler.verify_told import difference_body, verification_body
from chronofact.runtime.http import json_response
from chronofact.runtime.openapi import ANY, COUNT, FLAG, ID, INSTANT, TEXT, Schema, many, nullable, shape, words

WAIT_S: Final = 600
WAIT_S_MAX: Final = 86_400
_PROJECTION: Final = re.compile(r"p[1-9][0-9]{0,5}", re.ASCII)
_NAME: Final[Schema] = {"type": "string", "pattern": f"^{_PROJECTION.pattern}$"}
_FIELDS: Final[Mapping[str, Schema]] = {
    "left": {**_NAME, "description": "A projection, like p1."},
    "right": {**_NAME, "description": "The one to hold against it."},
    "aspects": {
        **words(*TABLES),
        "default": Aspects.ALL.value,
        "description": "What to compare: all, or said: only what no rule decides.",
    },
    "hold": {**_NAME, "description": "Which one waits at the cut; default one that no tenant reads."},
    "wait_s": {
        "type": "integer",
        "minimum": 1,
        "maximum": WAIT_S_MAX,
        "default": WAIT_S,
        "description": "For how long one may catch up with the other.",
    },
}
_WANTED: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["left", "right"],
    "properties": _FIELDS,
}
_VERIFICATION: Final = {
    "id": TEXT,
    "left": TEXT,
    "right": TEXT,
    "aspects": words(*Aspects),
    "rule_left": COUNT,
    "rule_right": COUNT,
    "state": words(*VerificationState),
    "started_at": INSTANT,
    "finished_at": nullable(INSTANT),
    "cut_at": nullable(INSTANT),
    "topic_id": nullable(ID),
    "next_offsets": {"type": "object", "additionalProperties": COUNT},
    "facts": COUNT,
    "facts_total": COUNT,
    "lines": COUNT,
    "differences": COUNT,
    "identical": nullable(FLAG),
    "failure": nullable(shape({"code": TEXT, "message": TEXT, "remedy": nullable(TEXT)})),
}
_FACT: Final = shape({"tenant_id": ID, "subject_id": ID, "subject_label": nullable(TEXT), "scope": TEXT, "key": TEXT})
_FOUND: Final = shape(
    {
        "fact_id": nullable(ID),
        "fact": nullable(_FACT),
        "table": TEXT,
        "left_lines": COUNT,
        "right_lines": COUNT,
        "left": many(ANY),
        "right": many(ANY),
    }
)


class VerificationRoutes:
    """What each call does."""

    def __init__(self, verifying: Verifying) -> None:
        self._verifying = verifying

    async def start(self, request: Request) -> Response:
        """``POST /v1/verifications``."""
        only(request)
        wanted, wait_s = wanted_of(await body_of(request))
        begun = await self._verifying.start(wanted, wait_s=wait_s)
        location = {"Location": f"/v1/verifications/{begun.verification_id}"}
        return json_response(verification_body(begun), status=202, headers=location)

    async def listed(self, request: Request) -> Response:
        """``GET /v1/verifications``."""
        page = newest_first(request)
        found = await self._verifying.verifications(before=page.cursor, limit=page.limit)
        listed = page.of("verifications", found, told=verification_body, cursor=lambda one: one.verification_id)
        return json_response(listed)

    async def one(self, request: Request) -> Response:
        """``GET /v1/verifications/{verification_id}``."""
        page = oldest_first(request)
        verification = await self._verifying.verification(numbered(request, "verification_id", "verification"))
        found = await self._verifying.differences(verification.verification_id, after=page.cursor, limit=page.limit)
        listed = page.of("found", found, told=lambda one: difference_body(one[1]), cursor=lambda one: one[0])
        return json_response({**verification_body(verification), **listed})


def add_verification_routes(app: FastAPI, operating: Operating, routes: VerificationRoutes) -> None:
    """Every route with its description."""
    body = {"required": True, "content": {"application/json": {"schema": _WANTED}}}
    operating.add(
        app, ("POST", "/v1/verifications"), routes.start,
        summary="Begin to hold two projections of one topic against each other", tag="verifications", done=202,
        extra={"requestBody": body}, shape=shape(_VERIFICATION),
        meanings={
            202: "It has begun.",
            404: "There is no such projection.",
            409: "A verification of one of them is running, or as many as may run here.",
            413: "The body is too large.",
            422: "A field is not as it must be.",
        },
    )  # fmt: skip
    operating.add(
        app, ("GET", "/v1/verifications"), routes.listed,
        summary="Verifications, newest first, whoever began them", tag="verifications", extra={"parameters": PAGE},
        meanings={200: "As they stand."},
        shape=shape({"verifications": many(shape(_VERIFICATION)), "cursor": nullable(TEXT)}),
    )  # fmt: skip
    operating.add(
        app, ("GET", "/v1/verifications/{verification_id}"), routes.one,
        summary="One verification, and the facts that differ, table by table", tag="verifications",
        meanings={200: "As it stands.", 404: "There is no such verification."},
        shape=shape({**_VERIFICATION, "found": many(_FOUND), "cursor": nullable(TEXT)}),
        extra={"parameters": [in_path("verification_id"), *PAGE]},
    )  # fmt: skip


def wanted_of(body: Mapping[str, Any]) -> tuple[VerifyWanted, float]:
    """What a body asks for, and how long one may catch up.

    Raises:
        Rejected: ``field_unknown``, ``field_missing``, ``field_type``, ``field_value``.
    """
    unknown = sorted(body.keys() - _FIELDS.keys())
    if unknown:
        raise Rejected("field_unknown", f"not a field of a verification{hint(unknown[0], _FIELDS)}", field=unknown[0])
    left, right, hold = (_projection(body, name) for name in ("left", "right", "hold"))
    if left is None or right is None:
        missing = "left" if left is None else "right"
        raise Rejected("field_missing", f"{missing} names a projection", field=missing)
    if left == right:
        raise Rejected("field_value", "a projection is the same as itself", field="right")
    if hold not in {None, left, right}:
        raise Rejected("field_value", f"hold is {left} or {right}", field="hold")
    aspects = body.get("aspects", Aspects.ALL.value)
    if not isinstance(aspects, str):
        raise Rejected("field_type", "aspects is a text", field="aspects")
    if aspects not in set(TABLES):
        raise Rejected("field_value", f"aspects is {' or '.join(TABLES)}{hint(aspects, list(TABLES))}", field="aspects")
    wait_s = body.get("wait_s", WAIT_S)
    if type(wait_s) is not int or not 1 <= wait_s <= WAIT_S_MAX:
        raise Rejected("field_type", f"wait_s is a number from 1 to {WAIT_S_MAX}", field="wait_s")
    return VerifyWanted(left, right, Aspects(aspects), hold), float(wait_s)


def _projection(body: Mapping[str, Any], name: str) -> str | None:
    said = body.get(name)
    if said is None:
        return None
    if not isinstance(said, str):
        raise Rejected("field_type", f"{name} is a text", field=name)
    if _PROJECTION.fullmatch(said) is None:
        raise Rejected("field_value", f"{name} is p and a number, like p2", field=name)
    return said
