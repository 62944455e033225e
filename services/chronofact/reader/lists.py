"""Reads that page: a subject's facts, one fact's history, conflicts to settle."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import orjson

from chronofact.contracts.reading import (
    Edge,
    EdgesWanted,
    FactHead,
    FactsWanted,
    ListedFact,
    Rectangle,
    Side,
    Standing,
    VersionLine,
)
from chronofact.contracts.reading import EventLine as Line
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.answers import CLAIMS_MAX, KINDS, REASONS, Body, answer_body, by_answer, wanted_claims
from chronofact.reader.ports import Snapshot
from chronofact.reader.questions import Asking, Wait
from chronofact.reader.service import Reader

LIMIT: Final = 100
LIMIT_MAX: Final = 1_000
TIMELINE_LANES_MAX: Final = 500
"""Versions side by side whose timeline is drawn: its lines name them all, so it grows with their square."""
_CURSOR_CHARS_MAX: Final = 4_096
NIL: Final = UUID(int=0)


class Lists:
    """Every read that gives a page; ``cursor`` None is the end."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def facts(self, wanted: FactsWanted, subject: str, wait: Wait) -> Body:
        """A subject's facts with their answers, by scope and key."""
        await self._reader.waiting.until_passed(wanted.tenant_id, wait)
        async with self._reader.projections.snapshot(wanted.tenant_id) as snapshot:
            listed = await snapshot.facts(replace(wanted, limit=wanted.limit + 1))
            page = listed[: wanted.limit]
            claims = [one for at, fact in enumerate(page) for one in wanted_claims(at, fact.found, wanted.system_as_of)]
            behind = by_answer(await snapshot.claims(claims)) if claims else {}
            freshness = self._freshness(wanted.tenant_id, snapshot.standing, wait)
            held = await self._held(snapshot, [UUID(fact.fact_id).bytes for fact in page])
        shared = orjson.Fragment(orjson.dumps(freshness))
        bodies = []
        for at, fact in enumerate(page):
            body = _listed_body(fact, subject, answer_body(fact.found, behind.get(at, ())), wanted)
            parked = held.get(fact.fact_id, 0)
            body["freshness"] = {**freshness, "stale": True, "held": parked} if parked else shared
            bodies.append(body)
        last = page[-1] if len(listed) > len(page) else None
        cursor = None if last is None else cursor_of([last.scope_kind, last.scope_key, last.fact_key])
        return {"facts": bodies, "cursor": cursor, "freshness": freshness}

    async def events(self, asking: Asking, fact_id: bytes, wait: Wait, *, after: int, limit: int) -> Body:
        """A fact's events by ``event_seq``."""
        return await self._history(asking, fact_id, wait, "events", after, limit)

    async def versions(self, asking: Asking, fact_id: bytes, wait: Wait, *, after: int, limit: int) -> Body:
        """A fact's versions with their labels, in order of first assertion."""
        return await self._history(asking, fact_id, wait, "versions", after, limit)

    async def timeline(self, asking: Asking, fact_id: bytes, wait: Wait, *, after: int, limit: int) -> Body:
        """A fact's answers over both clocks."""
        return await self._history(asking, fact_id, wait, "timeline", after, limit)

    async def _history(self, asking: Asking, fact_id: bytes, wait: Wait, what: str, after: int, limit: int) -> Body:
        await self._reader.waiting.until_passed(asking.tenant_id, wait)
        async with self._reader.projections.snapshot(asking.tenant_id) as snapshot:
            head = await snapshot.fact(asking.tenant_id, fact_id)
            if head is None or not asking.covers(head.scope_kind, head.scope_key):
                raise Rejected("not_found", "no event of such a fact is known here", field="fact_id")
            page, cursor = await _page(snapshot, head, what, after, limit)
            freshness = self._freshness(asking.tenant_id, snapshot.standing, wait)
            held = await self._held(snapshot, [fact_id])
        if held:
            freshness = {**freshness, "stale": True, "held": sum(held.values())}
        return {
            "fact": _head_body(head, str(UUID(bytes=fact_id))),
            what: page,
            "cursor": cursor,
            "freshness": freshness,
        }

    async def conflicts(self, wanted: EdgesWanted, wait: Wait) -> Body:
        """Conflict edges with both sides, their age, and the command that settles one."""
        await self._reader.waiting.until_passed(wanted.tenant_id, wait)
        async with self._reader.projections.snapshot(wanted.tenant_id) as snapshot:
            edges = await snapshot.edges(replace(wanted, limit=wanted.limit + 1))
            freshness = self._freshness(wanted.tenant_id, snapshot.standing, wait)
        page = edges[: wanted.limit]
        last = page[-1] if len(edges) > len(page) else None
        cursor = None if last is None else cursor_of([last.fact_no, last.left.version_id, last.right.version_id])
        return {"conflicts": [_edge_body(edge) for edge in page], "cursor": cursor, "freshness": freshness}

    def _freshness(self, tenant_id: UUID, standing: Standing, wait: Wait) -> Body:
        return self._reader.freshness(tenant_id, standing, wait)

    @staticmethod
    async def _held(snapshot: Snapshot, fact_ids: Sequence[bytes]) -> Mapping[str, int]:
        return await snapshot.held(fact_ids) if snapshot.standing.holds else {}


async def _page(snapshot: Snapshot, head: FactHead, what: str, after: int, limit: int) -> tuple[list[Body], str | None]:
    if what == "events":
        events = await snapshot.events(head.fact_no, after=after, limit=limit + 1)
        cursor = cursor_of([events[limit - 1].event_seq]) if len(events) > limit else None
        return [_event_body(one) for one in events[:limit]], cursor
    if what == "versions":
        versions = await snapshot.versions(head.fact_no, after=after, limit=limit + 1)
        cursor = cursor_of([versions[limit - 1].version_no]) if len(versions) > limit else None
        return [_version_body(one) for one in versions[:limit]], cursor
    if head.lane_mode and head.versions > TIMELINE_LANES_MAX:
        raise Rejected(
            "timeline_too_large",
            f"a timeline of more than {TIMELINE_LANES_MAX} versions side by side is not drawn; ask at instants",
            field="fact_id",
        )
    rectangles = await snapshot.timeline(head.fact_no, after=after, limit=limit + 1)
    cursor = cursor_of([after + limit]) if len(rectangles) > limit else None
    numbers = {number for one in rectangles for number in one.versions[:CLAIMS_MAX]}
    said = await snapshot.claims_of(head.fact_no, sorted(numbers))
    return [_rectangle_body(one, said) for one in rectangles[:limit]], cursor


def cursor_of(key: list[Any]) -> str:
    """An opaque place to go on from."""
    return urlsafe_b64encode(orjson.dumps(key)).rstrip(b"=").decode()


def key_of(cursor: str, *kinds: type) -> list[Any]:
    """What a cursor holds.

    Raises:
        Rejected: ``parameter_malformed``.
    """
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        found = orjson.loads(raw) if len(cursor) <= _CURSOR_CHARS_MAX else None
    except ValueError:
        found = None
    if (
        not isinstance(found, list)
        or len(found) != len(kinds)
        or not all(type(one) is kind for one, kind in zip(found, kinds, strict=True))
        or any(isinstance(one, str) and "\x00" in one for one in found)
        or any(isinstance(one, int) and not 0 <= one < 2**63 for one in found)
    ):
        raise Rejected("parameter_malformed", "not a cursor that this call gave", field="cursor")
    return found


def _listed_body(fact: ListedFact, subject: str, body: Body, wanted: FactsWanted) -> Body:
    body["fact"] = {
        "fact_id": fact.fact_id,
        "subject": fact.found.subject_label or subject,
        "scope": f"{fact.scope_kind}:{fact.scope_key}",
        "key": fact.fact_key,
    }
    body["valid_at"] = format_instant(wanted.valid_at)
    body["as_of"] = format_bound(wanted.system_as_of)
    return body


def _head_body(head: FactHead, fact_id: str) -> Body:
    return {
        "fact_id": fact_id,
        "subject": head.subject_label or head.subject_id,
        "scope": f"{head.scope_kind}:{head.scope_key}",
        "key": head.fact_key,
    }


def _event_body(line: Line) -> Body:
    return {
        "event_id": line.event_id,
        "event_seq": line.event_seq,
        "recorded_at": line.recorded_at,
        "event_type": line.event_type,
        "version_ids": line.version_ids,
        "payload": orjson.Fragment(line.payload),
        "payload_hash": line.payload_hash,
        "partition": line.partition,
        "offset": line.offset,
    }


def _version_body(line: VersionLine) -> Body:
    return {
        "version_id": line.version_id,
        "value": orjson.Fragment(line.value),
        "value_hash": line.value_hash,
        "valid_during": (line.valid_from, line.valid_to),
        "recorded_at": line.recorded_at,
        "event_seq": line.event_seq,
        "source_id": line.source_id,
        "source_hash": line.source_hash,
        "lifecycle": line.lifecycle,
        "confidence": line.confidence,
        "supersedes_id": line.supersedes_id,
        "superseded_by_id": line.superseded_by_id,
        "merged_into_id": line.merged_into_id,
    }


def _rectangle_body(one: Rectangle, said: Mapping[int, tuple[str, bytes]]) -> Body:
    body: Body = {
        "kind": KINDS[one.kind],
        "valid_during": (one.valid_from, one.valid_to),
        "known_during": (one.known_from, one.known_to),
    }
    claims = [
        {"version_id": said[number][0], "value": orjson.Fragment(said[number][1])}
        for number in one.versions[:CLAIMS_MAX]
    ]
    claims.sort(key=lambda claim: str(claim["version_id"]))
    if len(one.versions) > len(claims):
        body["count"] = len(one.versions)
    match one.kind:
        case 0:
            return {**body, "reason": REASONS[one.reason or 0]}
        case 1:
            agreeing = [claim["version_id"] for claim in claims]
            return {**body, "value": claims[0]["value"], "agreeing": agreeing}
        case 2:
            return {**body, "versions": claims}
        case _:
            return {**body, "values": claims}


def _edge_body(edge: Edge) -> Body:
    fact = _head_body(edge.head, edge.fact_id)
    settle = {
        "type": "resolve_conflict",
        "subject": edge.head.subject_id,
        "scope": fact["scope"],
        "key": fact["key"],
        "left_version_id": edge.left.version_id,
        "right_version_id": edge.right.version_id,
        "keep": None,
        "decided_at": None,
    }
    return {
        "relation": edge.relation,
        "fact": fact,
        "left": _side_body(edge.left),
        "right": _side_body(edge.right),
        "recorded_at": edge.recorded_at,
        "age_s": round(edge.age_s, 3),
        "open_in_fact": edge.head.conflicts_open,
        "settle": settle if edge.relation == "OPEN" else None,
    }


def _side_body(side: Side) -> Body:
    return {
        "version_id": side.version_id,
        "value": orjson.Fragment(side.value),
        "valid_during": (side.valid_from, side.valid_to),
        "source_id": side.source_id,
        "recorded_at": side.recorded_at,
    }
