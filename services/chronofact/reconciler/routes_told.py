"""Routes, their changes and what became of a switch, as callers see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from chronofact.contracts.routing import Refusal, Route, RouteChange, Routed
from chronofact.domain.interval import format_instant, instant_of

CHANGES_MAX: Final = 1_000
"""Changed lines that one answer lists."""


def routed_body(routed: Routed) -> dict[str, Any]:
    """What became of a switch or a rollback; ``tenants`` counts changed lines, that for all others among them."""
    return {
        "tenants": len(routed.moves),
        "projection": routed.projection,
        "changes": [
            {"tenant": _id(one.tenant_id), "from": one.from_projection, "to": one.to_projection}
            for one in routed.moves[:CHANGES_MAX]
        ],
        "unchanged": len(routed.unchanged),
        "nothing_to_undo": len(routed.stay),
        "elsewhere": dict(routed.elsewhere),
        "overridden": [one.code for one in routed.overridden],
        "seconds": round(routed.seconds, 4),
    }


def refusal_body(refusal: Refusal) -> dict[str, Any]:
    """One reason why nothing was changed."""
    return {"code": refusal.code, "message": refusal.message, "can_be_forced": refusal.can_be_forced}


def route_body(route: Route) -> dict[str, Any]:
    """One line; ``tenant`` null is the one for all without a line of their own."""
    return {
        "tenant": _id(route.tenant_id),
        "projection": route.projection,
        "rule": route.rule,
        "state": route.state,
        "change": route.number,
        "kind": route.kind,
        "forced": route.is_forced,
        "reason": route.reason,
        "by": route.changed_by,
        "changed_at": _at(route.changed_at),
    }


def change_body(change: RouteChange) -> dict[str, Any]:
    """One kept change; ``undoes`` is the number of the switch that a rollback took back."""
    return {
        "number": change.number,
        "tenant": _id(change.tenant_id),
        "from": change.from_projection,
        "to": change.to_projection,
        "kind": change.kind,
        "undoes": change.undoes,
        "forced": change.is_forced,
        "overridden": list(change.overridden),
        "reason": change.reason,
        "by": change.changed_by,
        "at": _at(change.changed_at),
    }


def _id(tenant_id: object) -> str | None:
    return None if tenant_id is None else str(tenant_id)


def _at(at: datetime | None) -> str | None:
    return None if at is None else format_instant(instant_of(at))
