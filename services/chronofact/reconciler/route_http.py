"""``/v1/routes``: where tenants' reads go, switched and taken back over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from fastapi import FastAPI, Request, Response

from chronofact.contracts.error_codes import status_of
from chronofact.contracts.meant import hint
from chronofact.contracts.routing import RouteRefused, RouteWanted
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import is_uuid, tenant_id_of
from chronofact.postgres.route_store import RouteStore
from chronofact.reconciler.paging import PAGE, Page, limit_of, newest_first
from chronofact.reconciler.requests import Operating, body_of, only
from chronofact.reconciler.routes_told import change_body, refusal_body, route_body, routed_body
from chronofact.reconciler.routing import Router
from chronofact.runtime.http import error_body, json_response
from chronofact.runtime.openapi import COUNT, FLAG, ID, INSTANT, TEXT, Schema, many, nullable, shape, words

TENANT_CHARS_MAX: Final = 256
TEXT_CHARS_MAX: Final = 1_000
_BY: Final = "http"
_FIELDS: Final[Mapping[str, Schema]] = {
    "tenant": {"type": "string", "description": "One tenant, a UUID or any other string."},
    "tenants": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "all": {"type": "boolean", "description": "All without a line of their own, and all whose line names the same."},
    "projection": {"type": "string", "description": "Where their reads go from now on."},
    "rollback": {"type": "boolean", "description": "Instead: take their last switch back."},
    "force": {"type": "boolean", "default": False, "description": "Whatever speaks against it; needs a reason."},
    "reason": {"type": "string", "description": "Why; it is kept."},
    "by": {"type": "string", "description": "Who; it is kept."},
}
_WANTED: Final = {"type": "object", "additionalProperties": False, "properties": _FIELDS}
_ROUTED: Final = shape(
    {
        "tenants": COUNT,
        "projection": nullable(TEXT),
        "changes": many(shape({"tenant": nullable(ID), "from": TEXT, "to": TEXT})),
        "unchanged": COUNT,
        "nothing_to_undo": COUNT,
        "elsewhere": {"type": "object", "additionalProperties": COUNT},
        "overridden": many(TEXT),
        "seconds": {"type": "number"},
    }
)
_ROUTE: Final = shape(
    {
        "tenant": nullable(ID),
        "projection": TEXT,
        "rule": COUNT,
        "state": TEXT,
        "change": nullable(COUNT),
        "kind": nullable(words("switch", "rollback")),
        "forced": nullable(FLAG),
        "reason": nullable(TEXT),
        "by": nullable(TEXT),
        "changed_at": nullable(INSTANT),
    }
)
_CHANGE: Final = shape(
    {
        "number": COUNT,
        "tenant": nullable(ID),
        "from": TEXT,
        "to": TEXT,
        "kind": words("switch", "rollback"),
        "undoes": nullable(COUNT),
        "forced": FLAG,
        "overridden": many(TEXT),
        "reason": nullable(TEXT),
        "by": TEXT,
        "at": INSTANT,
    }
)


class RouteRoutes:
    """What each call does."""

    def __init__(self, store: RouteStore, *, lag_events_max: int) -> None:
        self._store = store
        self._router = Router(store, lag_events_max=lag_events_max)

    async def change(self, request: Request) -> Response:
        """``POST /v1/routes``."""
        only(request)
        wanted = wanted_of(await body_of(request))
        try:
            routed = await asyncio.to_thread(self._router.route, wanted)
        except RouteRefused as refused:
            first = refused.refusals[0]
            body = {
                "error": error_body(Rejected(first.code, first.message)),
                "refusals": [refusal_body(one) for one in refused.refusals],
            }
            return json_response(body, status=status_of(first.code))
        return json_response(routed_body(routed))

    async def listed(self, request: Request) -> Response:
        """``GET /v1/routes``."""
        page = Page(limit_of(request))
        after = request.query_params.get("cursor")
        if after is not None and not is_uuid(after):
            raise Rejected("cursor_malformed", "not a cursor that this call gave", field="cursor")
        tenant_id = None if after is None else UUID(after)
        found = await asyncio.to_thread(self._store.routes, after=tenant_id, limit=page.limit)
        return json_response(page.of("routes", found, told=route_body, cursor=lambda one: one.tenant_id))

    async def changes(self, request: Request) -> Response:
        """``GET /v1/routes/changes``."""
        page = newest_first(request)
        found = await asyncio.to_thread(self._store.changes, before=page.cursor, limit=page.limit)
        return json_response(page.of("changes", found, told=change_body, cursor=lambda one: one.number))


def add_route_routes(app: FastAPI, operating: Operating, routes: RouteRoutes) -> None:
    """Every route with its description."""
    body = {"required": True, "content": {"application/json": {"schema": _WANTED}}}
    operating.add(
        app, ("POST", "/v1/routes"), routes.change,
        summary="Have tenants' reads go to another projection, or back", tag="routes", shape=_ROUTED,
        extra={"requestBody": body},
        meanings={
            200: "Done, in one transaction.",
            404: "There is no such projection.",
            409: "Something speaks against it: `refusals` names all of it, and what can be forced.",
            413: "The body is too large.",
            422: "A field is not as it must be.",
        },
    )  # fmt: skip
    operating.add(
        app, ("GET", "/v1/routes"), routes.listed,
        summary="Where reads go, the line for all tenants without one first", tag="routes", extra={"parameters": PAGE},
        meanings={200: "As it stands."}, shape=shape({"routes": many(_ROUTE), "cursor": nullable(TEXT)}),
    )  # fmt: skip
    operating.add(
        app, ("GET", "/v1/routes/changes"), routes.changes,
        summary="What was changed of that, newest first", tag="routes", extra={"parameters": PAGE},
        meanings={200: "As it stands."}, shape=shape({"changes": many(_CHANGE), "cursor": nullable(TEXT)}),
    )  # fmt: skip


def wanted_of(body: Mapping[str, Any]) -> RouteWanted:
    """What a body asks for.

    Raises:
        Rejected: ``field_unknown``, ``field_type``, ``field_missing``, ``field_value``, ``field_too_long``.
    """
    unknown = sorted(body.keys() - _FIELDS.keys())
    if unknown:
        raise Rejected("field_unknown", f"not a field of a route{hint(unknown[0], _FIELDS)}", field=unknown[0])
    for name in ("tenant", "projection", "reason", "by"):
        _check_text(body.get(name), name)
    for name in ("all", "rollback", "force"):
        if not isinstance(body.get(name, False), bool):
            raise Rejected("field_type", f"{name} is true or false", field=name)
    tenants = _tenants(body)
    everyone = bool(body.get("all"))
    if bool(tenants) == everyone:
        raise Rejected("field_missing", "say which: tenant, tenants, or all", field="tenant")
    if bool(body.get("rollback")) == (body.get("projection") is not None):
        raise Rejected("field_missing", "say where to: projection, or rollback", field="projection")
    if body.get("rollback") and body.get("force"):
        raise Rejected("field_value", "a rollback can't be forced; a switch can", field="force")
    return RouteWanted(
        list(dict.fromkeys(map(tenant_id_of, tenants))),
        everyone=everyone,
        changed_by=body.get("by") or _BY,
        to_projection=body.get("projection"),
        is_forced=bool(body.get("force")),
        reason=body.get("reason"),
    )


def _tenants(body: Mapping[str, Any]) -> list[str]:
    several = body.get("tenants")
    if several is not None and not (isinstance(several, list) and all(isinstance(one, str) for one in several)):
        raise Rejected("field_type", "tenants is an array of texts", field="tenants")
    found = [*(() if body.get("tenant") is None else (body["tenant"],)), *(several or ())]
    if not all(0 < len(one) <= TENANT_CHARS_MAX for one in found):
        raise Rejected("field_value", f"a tenant has 1 to {TENANT_CHARS_MAX} characters", field="tenants")
    return found


def _check_text(said: object, name: str) -> None:
    if said is None:
        return
    if not isinstance(said, str):
        raise Rejected("field_type", f"{name} is a text", field=name)
    if "\x00" in said:
        raise Rejected("nul_character", f"{name} has the character U+0000", field=name)
    if len(said) > TEXT_CHARS_MAX:
        raise Rejected("field_too_long", f"{name} has at most {TEXT_CHARS_MAX} characters", field=name)
