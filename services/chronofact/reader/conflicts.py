"""Conflicts as work: both sides of each, how old it is, and the exact call that settles it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import orjson
from fastapi import Request

from chronofact.contracts.reading import Edge, EdgesWanted, Side
from chronofact.domain.errors import Rejected
from chronofact.reader.answers import Body
from chronofact.reader.cursors import Cursors, Place, instant, uuid
from chronofact.reader.freshness import with_held
from chronofact.reader.held import Covered, parked_among
from chronofact.reader.lists import freshness_of_page, head_body, held_of
from chronofact.reader.questions import Asking, fact_id_in, id_in, instant_of, key_checked
from chronofact.reader.requests import limit_in, parameters, wait_in
from chronofact.reader.service import Reader

RELATIONS: Final = ("OPEN", "RESOLVED")
_PARAMETERS: Final = frozenset({"relation", "subject", "key", "fact_id", "version_id", "cursor", "limit"})


class Conflicts:
    """``GET /v1/conflicts``."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def listed(self, request: Request, asking: Asking) -> Body:
        """A page of conflict edges, oldest first: those that stand since before the first page was read."""
        found = parameters(request.query_params, _PARAMETERS)
        relation = found.get("relation")
        if relation is not None and relation not in RELATIONS:
            raise Rejected("parameter_malformed", "relation is OPEN or RESOLVED", field="relation")
        key = found.get("key")
        if key is not None:
            key_checked(key)
        cursors = Cursors("/v1/conflicts", asking.tenant_id, found.items())
        begun = cursors.place(found.get("cursor"), instant, uuid, uuid, uuid)
        limit, wait = limit_in(found), wait_in(found)
        wanted = EdgesWanted(
            tenant_id=asking.tenant_id,
            relation=relation,
            subject_id=asking.subject_id(found["subject"]) if "subject" in found else None,
            key=key,
            fact_id=fact_id_in(found["fact_id"]) if "fact_id" in found else None,
            version_id=id_in(found["version_id"], "version_id") if "version_id" in found else None,
            scopes=asking.scopes(),
            after=_after(begun),
            limit=limit,
            next_offsets=None if begun is None else begun.next_offsets(),
        )
        async with self._reader.folding.reading(asking.tenant_id, None, wait) as reading:
            snapshot = reading.snapshot
            freshness = freshness_of_page(self._reader, reading, begun, wait)
            edges = await snapshot.edges(replace(wanted, limit=limit + 1))
            held = await held_of(snapshot, [UUID(edge.fact_id).bytes for edge in edges])
            lacking = await parked_among(snapshot, _covered(wanted))
            cut = snapshot.standing.position if begun is None else begun.cut
        page = edges[:limit]
        place = Place(_key(page[-1]), cut=cut) if len(edges) > limit else None
        bodies = [edge_body(edge, held.get(edge.fact_id, 0)) for edge in page]
        told = with_held(freshness, lacking.messages)
        return {"conflicts": bodies, "cursor": place and cursors.spell(place), "freshness": told}


def _covered(wanted: EdgesWanted) -> Covered:
    return Covered(wanted.tenant_id, wanted.subject_id, key=wanted.key, scopes=wanted.scopes, fact_id=wanted.fact_id)


def _after(begun: Place | None) -> tuple[int, UUID, UUID, UUID] | None:
    if begun is None:
        return None
    recorded_at, *ids = begun.key
    fact_id, left, right = map(UUID, ids)
    return recorded_at, fact_id, left, right


def _key(edge: Edge) -> list[Any]:
    return [instant_of(edge.recorded_at), edge.fact_id, edge.left.version_id, edge.right.version_id]


def edge_body(edge: Edge, held: int = 0) -> Body:
    """One edge; ``settle`` lacks what only the one who decides can say, and undoes an earlier decision too."""
    fact = head_body(edge.head, edge.fact_id)
    left, right = edge.left.version_id, edge.right.version_id
    command = settle_command(edge.fact_id, left, right)
    body = {
        "relation": edge.relation,
        "fact": fact,
        "left": _side_body(edge.left),
        "right": _side_body(edge.right),
        "recorded_at": edge.recorded_at,
        "age_s": round(edge.age_s, 3),
        "open_in_fact": edge.head.conflicts_open,
        "settle": settle_body(edge.head.subject_id, fact, left, right),
        "settle_command": command if edge.relation == "OPEN" else f"{command} --again",
    }
    if edge.pending is not None:
        body["pending_review"] = edge.pending
    if edge.decision is not None:
        body["decision"] = edge.decision._asdict()
    return {**body, "held": held} if held else body


def settle_body(subject: str, fact: Body, left: str, right: str) -> Body:
    """The command for the writer; ``keep`` and ``decided_at`` are for the one who decides to say."""
    return {
        "type": "resolve_conflict",
        "subject": subject,
        "scope": fact["scope"],
        "key": fact["key"],
        "left_version_id": left,
        "right_version_id": right,
        "keep": None,
        "decided_at": None,
    }


def settle_command(fact_id: str, left: str, right: str) -> str:
    """The same on the command line, which asks what to keep; ids alone: nothing in it means anything to a shell."""
    return f"chronofact conflicts settle --fact {fact_id} --left {left} --right {right}"


def decide_command(left: str, right: str) -> str:
    """What asks, on the command line, how two text memories relate."""
    return f"chronofact decide {left} {right}"


def _side_body(side: Side) -> Body:
    return {
        "version_id": side.version_id,
        "value": orjson.Fragment(side.value),
        "valid_during": (side.valid_from, side.valid_to),
        "source_id": side.source_id,
        "recorded_at": side.recorded_at,
    }
