"""What waits, as a page and as JSON: pairs, why each waits, since when and until when."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from fastapi import FastAPI, Response
from starlette.responses import HTMLResponse

from chronofact.adjudicator.judging import REVIEW
from chronofact.adjudicator.ports import Asker
from chronofact.adjudicator.sweeping import Open, Picture
from chronofact.contracts.pending import UNTOLD
from chronofact.domain.interval import format_instant
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.http import json_response
from chronofact.runtime.openapi import TEXT, answers, many, nullable, shape

ROUTE: Final = "/v1/pending"
TEXTS_MAX: Final = 2_000
"""Looked up for one page."""
_STYLE: Final = (
    "body{font:14px/1.5 system-ui,sans-serif;margin:2rem;max-width:90rem}table{border-collapse:collapse}"
    "td,th{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd}code{font-size:12px}"
)
_NUMBER: Final = {"type": "integer"}
_COUNTS: Final = {"type": "object", "additionalProperties": _NUMBER}
_PAIR: Final = shape({"other_version_id": TEXT, "reason": TEXT, "other_text": nullable(TEXT)})
_MEMORY: Final = shape(
    {
        "tenant_id": TEXT,
        "fact_id": TEXT,
        "version_id": TEXT,
        "text": nullable(TEXT),
        "pending": _NUMBER,
        "beyond": _NUMBER,
        "pairs": many(_PAIR),
        "since": TEXT,
        "calls": _NUMBER,
        "tries_in_vain": _NUMBER,
        "next_try_at": nullable(TEXT),
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


class Told(NamedTuple):
    """What a page is made of; ``texts`` by version, ``calls`` likewise."""

    picture: Picture
    asker: Asker | None
    today: Today
    texts: Mapping[bytes, str]
    calls: Mapping[bytes, int]


class Texts(Protocol):
    """How memories begin."""

    async def texts(self, projection: str, wanted: Sequence[tuple[bytes, bytes]]) -> list[str | None]: ...


class CallCounts(Protocol):
    """How often a model was asked about each memory."""

    async def calls(self, version_ids: Sequence[bytes]) -> Mapping[bytes, int]: ...


async def looked_up(
    picture: Picture, counts: CallCounts, texts: Texts | None
) -> tuple[Mapping[bytes, str], Mapping[bytes, int]]:
    """Texts and calls of what is listed; none while Postgres is away."""
    found: dict[bytes, str] = {}
    try:
        calls = await counts.calls([one.ref.version_id for one in picture.listed])
        for projection in {one.projection for one in picture.listed} if texts is not None else ():
            wanted = [pair for one in picture.listed if one.projection == projection for pair in _members(one)]
            told = await texts.texts(projection, wanted[:TEXTS_MAX]) if texts is not None else []
            found |= {version: text for (_, version), text in zip(wanted, told, strict=False) if text is not None}
    except (Transient, Unfit):
        return {}, {}
    return found, calls


def _members(one: Open) -> list[tuple[bytes, bytes]]:
    return [(one.ref.fact_id, one.ref.version_id), *((one.ref.fact_id, pair.other) for pair in one.named)]


def add_pending(app: FastAPI, look: Callable[[], Awaitable[Told]]) -> None:
    """Adds ``GET /v1/pending``, and the same as a page at ``/``; neither takes a credential, as /metrics takes none."""

    @app.get(
        ROUTE,
        tags=["pending"],
        summary="Pairs that nobody has decided: how many, why, and the first of their memories",
        responses=answers({200: "What waits, as last looked at."}, {200: _PENDING}),
    )
    async def pending() -> Response:
        return json_response(told_of(await look()))

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return HTMLResponse(page_of(told_of(await look())))


def told_of(told: Told) -> dict[str, Any]:
    """The JSON."""
    picture, asker = told.picture, told.asker
    why_not = "model_not_configured" if asker is None else asker.silent_why
    return {
        "seen_at": _instant(picture.seen_at),
        "pairs": dict(sorted((reason, number) for reason, number in picture.pairs.items() if number)),
        "memories": picture.memories,
        "model": {
            "asks": why_not is None,
            "why_not": why_not,
            "asks_in_s": 0.0 if asker is None else round(asker.opens_in_s, 1),
        },
        "today": told.today._asdict(),
        "listed": [_memory(one, told) for one in picture.listed],
    }


def _memory(one: Open, told: Told) -> dict[str, Any]:
    return {
        "tenant_id": str(UUID(bytes=one.ref.tenant_id)),
        "fact_id": str(UUID(bytes=one.ref.fact_id)),
        "version_id": str(UUID(bytes=one.ref.version_id)),
        "text": told.texts.get(one.ref.version_id),
        "pending": one.pending,
        "beyond": one.beyond,
        "pairs": [
            {
                "other_version_id": str(UUID(bytes=pair.other)),
                "reason": pair.reason,
                "other_text": told.texts.get(pair.other),
            }
            for pair in one.named
        ],
        "since": format_instant(one.pending_since),
        "calls": told.calls.get(one.ref.version_id, 0),
        "tries_in_vain": one.tries,
        "next_try_at": _instant(one.next_try_at),
        "projection": one.projection,
    }


def _instant(at: int | None) -> str | None:
    return None if at is None else format_instant(at)


def page_of(told: dict[str, Any]) -> str:
    """The page; it asks nothing of the Internet and runs nothing in the browser."""
    model, today = told["model"], told["today"]
    state = "the model is asked" if model["asks"] else f"no model is asked: {model['why_not']}"
    if model["asks_in_s"]:
        state += f", again in {model['asks_in_s']:.0f} s"
    reasons = _table(("reason", "pairs"), [(reason, str(number)) for reason, number in told["pairs"].items()])
    heads = ("memory", "held against", "why it waits", "since", "calls", "next try")
    listed = _table(heads, [line for one in told["listed"] for line in _lines(one)])
    count = f"{_many(sum(told['pairs'].values()), 'pair')} of {_many(told['memories'], 'memory', 'memories')}"
    waits = "waits" if sum(told["pairs"].values()) == 1 else "wait"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="10">'
        f"<title>Chronofact adjudicator</title><style>{_STYLE}</style><h1>Pairs that nobody has decided</h1>"
        f"<p>{count} {waits}, as of {escape(told['seen_at'] or 'not yet')}. "
        f"Now {format_instant(int(datetime.now(UTC).timestamp()) * 1_000_000)}; {escape(state)}.</p>"
        f"<p>Today {today['calls']} of {_many(today['calls_max'], 'call')}, "
        f"{today['tokens']} of {_many(today['tokens_max'], 'token')}.</p>"
        f"{reasons}<h2>Pairs</h2>{listed}"
        f"<p>What each reason means, and how a person decides: docs/operations/adjudicator.md.</p></html>"
    )


def _lines(memory: dict[str, Any]) -> list[tuple[str, ...]]:
    """One a pair; the first tells of the memory, too."""
    when = memory["next_try_at"] or ("a person decides" if _is_for_a_person(memory) else "no model is asked")
    calls, first = str(memory["calls"]), _named(memory["version_id"], memory["text"])
    lines: list[tuple[str, ...]] = [
        (first, _named(pair["other_version_id"], pair["other_text"]), pair["reason"], memory["since"], calls, when)
        for pair in memory["pairs"]
    ]
    untold = memory["pending"] - len(memory["pairs"])
    for number, why in ((untold, UNTOLD), (memory["beyond"], "beyond")):
        if number > 0:
            lines.append(
                (first, f"{_many(number, 'further memory', 'further memories')}", why, memory["since"], "", "")
            )
    return lines


def _is_for_a_person(memory: dict[str, Any]) -> bool:
    return any(pair["reason"] == REVIEW for pair in memory["pairs"])


def _named(version_id: str, text: str | None) -> str:
    return version_id if text is None else f"{text} ({version_id})"


def _many(number: int, one: str, several: str = "") -> str:
    return f"{number} {one}" if number == 1 else f"{number} {several or one + 's'}"


def _table(heads: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    if not lines:
        return "<p>None.</p>"
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    body = "".join(f"<tr>{''.join(f'<td><code>{escape(one)}</code></td>' for one in line)}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>"
