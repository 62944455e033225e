"""What waits, as a page and as JSON: ids, reasons and ages, never a text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import Any, Final, NamedTuple
from uuid import UUID

from fastapi import FastAPI, Response
from starlette.responses import HTMLResponse

from chronofact.adjudicator.ports import Asker
from chronofact.adjudicator.sweeping import Open, Picture
from chronofact.domain.interval import format_instant
from chronofact.runtime.http import json_response
from chronofact.runtime.openapi import TEXT, answers, many, nullable, shape

ROUTE: Final = "/v1/pending"
_STYLE: Final = (
    "body{font:14px/1.5 system-ui,sans-serif;margin:2rem;max-width:70rem}table{border-collapse:collapse}"
    "td,th{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd}code{font-size:12px}"
)
_NUMBER: Final = {"type": "integer"}
_COUNTS: Final = {"type": "object", "additionalProperties": _NUMBER}
_MEMORY: Final = shape(
    {
        "tenant_id": TEXT,
        "fact_id": TEXT,
        "version_id": TEXT,
        "pending": _NUMBER,
        "reasons": many(TEXT),
        "since": TEXT,
        "projection": TEXT,
    }
)
_PENDING: Final = shape(
    {
        "seen_at": nullable(TEXT),
        "pairs": _COUNTS,
        "memories": _NUMBER,
        "model": shape({"asks": {"type": "boolean"}, "why_not": nullable(TEXT), "asks_in_s": {"type": "number"}}),
        "today": shape({"calls": _NUMBER, "calls_max": _NUMBER, "tokens": _NUMBER, "tokens_max": _NUMBER}),
        "listed": many(_MEMORY),
    }
)


class Today(NamedTuple):
    """What asking has cost, and may cost."""

    calls: int
    calls_max: int
    tokens: int
    tokens_max: int


def add_pending(
    app: FastAPI, *, picture: Callable[[], Picture], asker: Asker | None, today: Callable[[], Today]
) -> None:
    """Adds ``GET /v1/pending``, and the same as a page at ``/``; neither takes a credential, as /metrics takes none."""

    @app.get(
        ROUTE,
        tags=["pending"],
        summary="Pairs that nobody has decided: how many, why, and the first of their memories",
        responses=answers({200: "What waits, as last looked at."}, {200: _PENDING}),
    )
    async def pending() -> Response:
        return json_response(told_of(picture(), asker, today()))

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return HTMLResponse(page_of(told_of(picture(), asker, today())))


def told_of(picture: Picture, asker: Asker | None, today: Today) -> dict[str, Any]:
    """The JSON."""
    why_not = "model_not_configured" if asker is None else asker.silent_why
    return {
        "seen_at": None if picture.seen_at is None else format_instant(picture.seen_at),
        "pairs": dict(sorted((reason, number) for reason, number in picture.pairs.items() if number)),
        "memories": picture.memories,
        "model": {
            "asks": why_not is None,
            "why_not": why_not,
            "asks_in_s": 0.0 if asker is None else round(asker.opens_in_s, 1),
        },
        "today": today._asdict(),
        "listed": [_memory(one) for one in picture.listed],
    }


def _memory(one: Open) -> dict[str, Any]:
    return {
        "tenant_id": str(UUID(bytes=one.ref.tenant_id)),
        "fact_id": str(UUID(bytes=one.ref.fact_id)),
        "version_id": str(UUID(bytes=one.ref.version_id)),
        "pending": one.pending,
        "reasons": list(one.reasons),
        "since": format_instant(one.pending_since),
        "projection": one.projection,
    }


def page_of(told: dict[str, Any]) -> str:
    """The page; it asks nothing of the Internet and runs nothing in the browser."""
    model, today = told["model"], told["today"]
    state = "the model is asked" if model["asks"] else f"no model is asked: {model['why_not']}"
    if model["asks_in_s"]:
        state += f", again in {model['asks_in_s']:.0f} s"
    pairs = _table(("reason", "pairs"), [(reason, str(number)) for reason, number in told["pairs"].items()])
    listed = _table(
        ("version", "fact", "tenant", "pairs", "why", "since"),
        [
            (
                one["version_id"],
                one["fact_id"],
                one["tenant_id"],
                str(one["pending"]),
                ", ".join(one["reasons"]),
                one["since"],
            )
            for one in told["listed"]
        ],
    )
    seen = told["seen_at"] or "not yet"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="10">'
        f"<title>Chronofact adjudicator</title><style>{_STYLE}</style><h1>Pairs that nobody has decided</h1>"
        f"<p>{sum(told['pairs'].values())} pairs of {told['memories']} memories, last looked at: {escape(seen)}. "
        f"Now {format_instant(int(datetime.now(UTC).timestamp()) * 1_000_000)}; {escape(state)}.</p>"
        f"<p>Today {today['calls']} of {today['calls_max']} calls, {today['tokens']} of {today['tokens_max']} tokens.</p>"
        f"{pairs}<h2>Memories</h2>{listed}"
        f"<p>What each reason means, and how a person decides: docs/operations/adjudicator.md.</p></html>"
    )


def _table(heads: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    if not lines:
        return "<p>None.</p>"
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = "".join(f"<tr>{''.join(f'<td><code>{escape(one)}</code></td>' for one in line)}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"
