"""Reads that page: a subject's facts, and one fact's history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import orjson
from fastapi import Request

from chronofact.contracts.fact_keys import check_prefix
from chronofact.contracts.reading import KINDS, FactHead, FactsWanted, ListedFact, Rectangle, VersionLine
from chronofact.contracts.reading import EventLine as Line
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.answers import (
    CLAIMS_MAX,
    NOTHING,
    REASONS,
    Body,
    answer_body,
    behind_answers,
    wanted_claims,
)
from chronofact.reader.cursors import Cursors, Place, instant, natural, text
from chronofact.reader.folding import Reading
from chronofact.reader.freshness import with_held
from chronofact.reader.held import Covered, not_found, parked_among
from chronofact.reader.ports import Snapshot
from chronofact.reader.questions import Asking, Wait, fact_id_in, instant_of
from chronofact.reader.requests import limit_in, parameters, required, wait_in
from chronofact.reader.service import Reader

TIMELINE_LANES_MAX: Final = 500
"""Versions side by side whose timeline is drawn: its lines name them all, so it grows with their square."""
_FACTS: Final = frozenset({"subject", "scope", "prefix", "valid_at", "as_of", "cursor", "limit"})


class Lists:
    """Every read of facts that gives a page; ``cursor`` None is the end."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def facts(self, request: Request, asking: Asking) -> Body:
        """``GET /v1/facts``: a subject's facts with their answers, by scope and key."""
        found = parameters(request.query_params, _FACTS)
        subject = required(found, "subject")
        cursors = Cursors("/v1/facts", asking.tenant_id, found.items())
        begun = cursors.place(found.get("cursor"), text, text, text)
        scope = asking.scope(found["scope"]) if "scope" in found else None
        wanted = FactsWanted(
            tenant_id=asking.tenant_id,
            subject_id=asking.subject_id(subject),
            scope=None if scope is None else (scope.kind, scope.key),
            prefix=prefix_in(found),
            scopes=asking.scopes(),
            valid_at=valid_at_of(asking, found, begun),
            system_as_of=asking.instant(found.get("as_of"), "as_of"),
            after=("", "", "") if begun is None else (begun.key[0], begun.key[1], begun.key[2]),
            limit=limit_in(found),
            next_offsets=None if begun is None else begun.next_offsets(),
        )
        return await self._facts(wanted, subject, wait_in(found), cursors, begun)

    async def _facts(
        self, wanted: FactsWanted, subject: str, wait: Wait, cursors: Cursors, begun: Place | None
    ) -> Body:
        async with self._reader.folding.reading(wanted.tenant_id, None, wait) as reading:
            snapshot = reading.snapshot
            freshness = freshness_of_page(self._reader, reading, begun, wait)
            listed = await snapshot.facts(replace(wanted, limit=wanted.limit + 1))
            page = listed[: wanted.limit]
            claims = [
                one for at, fact in enumerate(page) for one in wanted_claims(at, fact.found, _known(fact, wanted))
            ]
            behind = await behind_answers(snapshot, claims)
            held = await held_of(snapshot, [UUID(fact.fact_id).bytes for fact in page])
            lacking = await parked_among(snapshot, _covered(wanted))
            cut = snapshot.standing.position if begun is None else begun.cut
        shared = orjson.Fragment(orjson.dumps(freshness))
        bodies = []
        for at, fact in enumerate(page):
            body = _listed_body(fact, subject, answer_body(fact.found, behind.get(at, NOTHING)), wanted)
            parked = held.get(fact.fact_id, 0)
            body["freshness"] = with_held(freshness, parked) if parked else shared
            bodies.append(body)
        last = page[-1] if len(listed) > len(page) else None
        place = None if last is None else Place([last.scope_kind, last.scope_key, last.fact_key], wanted.valid_at, cut)
        return {
            "facts": bodies,
            "cursor": place and cursors.spell(place),
            "freshness": with_held(freshness, lacking.messages),
        }

    async def history(self, request: Request, asking: Asking) -> Body:
        """``GET /v1/facts/{fact_id}/events``, ``/versions`` and ``/timeline``."""
        found = parameters(request.query_params, frozenset({"cursor", "limit"}))
        fact_id = fact_id_in(request.path_params["fact_id"])
        what = request.url.path.rpartition("/")[2]
        cursors = Cursors(f"/v1/facts/{fact_id.hex()}/{what}", asking.tenant_id, ())
        is_drawn = what == "timeline"
        checks = (natural, instant, natural) if is_drawn else (natural,)
        begun = cursors.place(found.get("cursor"), *checks)
        limit, wait = limit_in(found), _after_cut(wait_in(found), begun)
        async with self._reader.folding.reading(asking.tenant_id, [fact_id], wait, slices=is_drawn) as reading:
            head = await reading.snapshot.fact(asking.tenant_id, fact_id)
            if head is None:
                covered = Covered(asking.tenant_id, scopes=asking.scopes(), fact_id=fact_id)
                raise await not_found(reading.snapshot, covered, fact_id)
            if not asking.covers(head.scope_kind, head.scope_key):
                raise Rejected("not_found", "no event of such a fact is known here", field="fact_id")
            page, place = await _PAGES[what](reading.snapshot, head, [] if begun is None else begun.key, limit)
            freshness = await reading.freshness_of([fact_id])
        return {
            "fact": head_body(head, str(UUID(bytes=fact_id))),
            what: page,
            "cursor": place and cursors.spell(Place(place, cut=reading.cut)),
            "freshness": freshness,
        }


def _after_cut(wait: Wait, begun: Place | None) -> Wait:
    """What a page is read after: what the caller names, and what the page before it showed."""
    if begun is None or begun.cut is None:
        return wait
    return replace(wait, after=begun.cut if wait.after is None else wait.after.merge(begun.cut))


def prefix_in(found: Mapping[str, str]) -> str | None:
    """``prefix``.

    Raises:
        Rejected: ``parameter_malformed``.
    """
    prefix = found.get("prefix")
    if prefix is not None:
        check_prefix(prefix)
    return prefix


def valid_at_of(asking: Asking, found: Mapping[str, str], begun: Place | None) -> int:
    """The instant that is asked for: the caller's, that of the first page, or now."""
    valid_at = asking.instant(found.get("valid_at"), "valid_at")
    if valid_at is not None:
        return valid_at
    return asking.now if begun is None or begun.valid_at is None else begun.valid_at


def freshness_of_page(reader: Reader, reading: Reading, begun: Place | None, wait: Wait) -> Body:
    """How fresh a page is: as of the cut that its list was begun at."""
    if begun is None or begun.cut is None:
        return reading.freshness
    try:
        return reader.folding.freshness_at(reading.snapshot.standing, begun.cut, wait)
    except Rejected as error:
        raise Rejected(error.code, error.message, field="cursor") from None


async def held_of(snapshot: Snapshot, fact_ids: Sequence[bytes]) -> Mapping[str, int]:
    """How many messages of those facts are parked."""
    return await snapshot.held(fact_ids) if snapshot.standing.holds else {}


def head_body(head: FactHead, fact_id: str) -> Body:
    """The slot of a fact that is found by its id."""
    return {
        "fact_id": fact_id,
        "subject": head.subject_label or head.subject_id,
        "scope": f"{head.scope_kind}:{head.scope_key}",
        "key": head.fact_key,
    }


async def _events(
    snapshot: Snapshot, head: FactHead, after: Sequence[Any], limit: int
) -> tuple[list[Body], list[Any] | None]:
    events = await snapshot.events(head.fact_no, after=after[0] if after else 0, limit=limit + 1)
    place = [events[limit - 1].event_seq] if len(events) > limit else None
    return [_event_body(one) for one in events[:limit]], place


async def _versions(
    snapshot: Snapshot, head: FactHead, after: Sequence[Any], limit: int
) -> tuple[list[Body], list[Any] | None]:
    versions = await snapshot.versions(head.fact_no, after=after[0] if after else 0, limit=limit + 1)
    place = [versions[limit - 1].version_no] if len(versions) > limit else None
    return [_version_body(one) for one in versions[:limit]], place


async def _timeline(
    snapshot: Snapshot, head: FactHead, after: Sequence[Any], limit: int
) -> tuple[list[Body], list[Any] | None]:
    """All pages are as known when the first was read."""
    if head.lane_mode and head.versions > TIMELINE_LANES_MAX:
        raise Rejected(
            "timeline_too_large",
            f"a timeline of more than {TIMELINE_LANES_MAX} versions side by side is not drawn;"
            " /versions and /events page through them, /v1/resolve answers at any two instants",
            field="fact_id",
        )
    passed, as_of, rule = after or (0, None, snapshot.standing.rule)
    if rule != snapshot.standing.rule:
        told = "the tenant was switched to a projection of another rule since; read the timeline from its first page"
        raise Rejected("cursor_of_other_rule", told, field="cursor")
    rectangles = await snapshot.timeline(head.fact_no, system_as_of=as_of, after=passed, limit=limit + 1)
    place = None
    if len(rectangles) > limit:
        (last,) = await snapshot.events(head.fact_no, after=head.event_seq - 1, limit=1)
        place = [passed + limit, instant_of(last.recorded_at) if as_of is None else as_of, rule]
    numbers = {number for one in rectangles for number in one.versions[:CLAIMS_MAX]}
    said = await snapshot.claims_of(head.fact_no, sorted(numbers))
    return [_rectangle_body(one, said) for one in rectangles[:limit]], place


_PAGES: Final = {"events": _events, "versions": _versions, "timeline": _timeline}


def _covered(wanted: FactsWanted) -> Covered:
    return Covered(
        wanted.tenant_id,
        wanted.subject_id,
        chain=None if wanted.scope is None else (wanted.scope,),
        prefix=wanted.prefix,
        scopes=wanted.scopes,
    )


def _known(fact: ListedFact, wanted: FactsWanted) -> int | None:
    """As known when the fact was answered."""
    return wanted.system_as_of if fact.as_of is None else instant_of(fact.as_of)


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
