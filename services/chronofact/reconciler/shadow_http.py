"""``GET /v1/shadow/{projection}``: what the newest comparison of a projection with another one has found."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from uuid import UUID

from fastapi import FastAPI, Request, Response

from chronofact.contracts.meant import hint
from chronofact.contracts.shadow import Sort
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import tenant_id_of
from chronofact.reconciler.requests import Operating, in_path, number_of, only
from chronofact.reconciler.shadow_ports import Shadows
from chronofact.reconciler.shadow_told import report_body
from chronofact.runtime.http import json_response
from chronofact.runtime.openapi import ANY, COUNT, INSTANT, TEXT, many, nullable, shape

SAMPLES_MAX: Final = 1_000
_CLASSES: Final = shape({sort.value: ANY for sort in Sort})
_REPORT: Final = shape(
    {
        "projection": TEXT,
        "against": TEXT,
        "state": TEXT,
        "started_at": INSTANT,
        "until": INSTANT,
        "last_compared_at": nullable(INSTANT),
        "facts": COUNT,
        "facts_in_flight": COUNT,
        "differences": COUNT,
        "unknown": COUNT,
        "classes": _CLASSES,
        "tenants": many(shape({"tenant": TEXT, "classes": _CLASSES})),
        "samples": many(shape({"class": TEXT, "reason": TEXT, "fact": ANY, "old": ANY, "new": ANY})),
    }
)


class ShadowRoutes:
    """What the call does."""

    def __init__(self, shadows: Shadows) -> None:
        self._shadows = shadows

    async def report(self, request: Request) -> Response:
        """``GET /v1/shadow/{projection}``."""
        only(request, "tenant", "class", "samples")
        samples = number_of(request, "samples", 20, 0, SAMPLES_MAX)
        sort, tenant_id = sort_of(request.query_params.get("class")), _tenant(request.query_params.get("tenant"))
        found = await asyncio.to_thread(self._shadows.newest, str(request.path_params["projection"])[:64])
        if not found:
            raise Rejected("not_found", "no projection of this name has been compared", field="projection")
        report = await asyncio.to_thread(
            self._shadows.report, found[0], tenant_id=tenant_id, sort=sort, samples=samples
        )
        return json_response(report_body(report))


def add_shadow_routes(app: FastAPI, operating: Operating, routes: ShadowRoutes) -> None:
    """The route with its description."""
    wanted: list[dict[str, Any]] = [
        _parameter("tenant", {"type": "string"}),
        _parameter("class", {"type": "string", "enum": [sort.value for sort in Sort]}),
        _parameter("samples", {"type": "integer", "minimum": 0, "maximum": SAMPLES_MAX, "default": 20}),
    ]
    operating.add(
        app,
        ("GET", "/v1/shadow/{projection}"),
        routes.report,
        summary="What a comparison with another projection found, by class",
        tag="shadow",
        meanings={200: "As it stands.", 404: "No projection of this name has been compared."},
        shape=_REPORT,
        extra={"parameters": [in_path("projection"), *wanted]},
    )


def sort_of(text: str | None) -> Sort | None:
    """The class that a text names.

    Raises:
        Rejected: ``parameter_malformed``.
    """
    if text is None:
        return None
    known = [sort.value for sort in Sort]
    if text not in known:
        message = f"class is one of {', '.join(known)}{hint(text, known)}"
        raise Rejected("parameter_malformed", message, field="class")
    return Sort(text)


def _tenant(text: str | None) -> UUID | None:
    if text is None:
        return None
    if not text or "\x00" in text or len(text) > 512:
        raise Rejected("parameter_malformed", "tenant is a UUID or any other text", field="tenant")
    return tenant_id_of(text)


def _parameter(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}
