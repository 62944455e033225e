"""``GET /v1/relations``: what was decided of pairs of text memories, and what still waits; of a new memory after a wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from fastapi import Request

from chronofact.contracts.memories import (
    MEMORY_PREFIX,
    VERDICTS,
    MemoryPlace,
    RelationLine,
    RelationsWanted,
    UndecidedLine,
)
from chronofact.domain.errors import Rejected
from chronofact.reader.answers import Body
from chronofact.reader.conflicts import decide_command
from chronofact.reader.cursors import Cursors, Place, uuid
from chronofact.reader.folding import Reading
from chronofact.reader.freshness import with_held
from chronofact.reader.held import Covered, parked_among
from chronofact.reader.lists import freshness_of_page
from chronofact.reader.ports import Snapshot
from chronofact.reader.questions import Asking, Wait, id_in
from chronofact.reader.requests import limit_in, parameters, wait_in
from chronofact.reader.service import Reader

FIRST_PAUSE_S: Final = 0.01
PAUSE_MAX_S: Final = 0.2
_PARAMETERS: Final = frozenset({"version_id", "subject", "relation", "cursor", "limit"})
_NIL: Final = UUID(int=0)


class Looked(NamedTuple):
    """One look: what was decided, what waits, and whether all that was asked about has been checked."""

    relations: list[RelationLine]
    undecided: list[UndecidedLine]
    checked: bool
    place: MemoryPlace | None = None
    """Where the one memory that was asked about is, where anything was said of it."""


class Relations:
    """Lists relations, and waits for those of a memory."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def listed(self, request: Request, asking: Asking) -> Body:
        """A page by fact and pair; what is pending comes with each."""
        found = parameters(request.query_params, _PARAMETERS)
        cursors = Cursors("/v1/relations", asking.tenant_id, found.items())
        begun = cursors.place(found.get("cursor"), uuid, uuid, uuid)
        wanted, wait = _wanted(asking, found, begun), wait_in(found)
        until = time.monotonic() + wait.wait_ms / 1_000
        pause_s = FIRST_PAUSE_S
        while True:
            async with self._reader.folding.reading(asking.tenant_id, None, wait) as reading:
                looked = await _look(reading.snapshot, asking, wanted)
                left_s = until - time.monotonic()
                if looked.checked or wanted.version_id is None or left_s <= 0:
                    return await self._page(reading, cursors, wanted, looked, begun, wait)
            await asyncio.sleep(min(pause_s, left_s))
            pause_s = min(2 * pause_s, PAUSE_MAX_S)
            wait = replace(wait, wait_ms=max(0, int(1_000 * (until - time.monotonic()))))

    async def _page(
        self,
        reading: Reading,
        cursors: Cursors,
        wanted: RelationsWanted,
        looked: Looked,
        begun: Place | None,
        wait: Wait,
    ) -> Body:
        page = looked.relations[: wanted.limit]
        cut = reading.snapshot.standing.position if begun is None else begun.cut
        is_last = len(looked.relations) <= wanted.limit
        place = None if is_last else Place([page[-1].fact_id, page[-1].left, page[-1].right], cut=cut)
        lacking = await parked_among(reading.snapshot, _covered(wanted, looked.place))
        return {
            "relations": [relation_body(one) for one in page],
            "pending": [pending_body(one) for one in looked.undecided],
            "checked": looked.checked,
            "fact": None if looked.place is None else _fact_body(looked.place),
            "cursor": place and cursors.spell(place),
            "freshness": with_held(freshness_of_page(self._reader, reading, begun, wait), lacking.messages),
        }


async def _look(snapshot: Snapshot, asking: Asking, wanted: RelationsWanted) -> Looked:
    fact_nos: list[int] = []
    checked, place = False, None
    if wanted.version_id is not None:
        places = await snapshot.memory_places(asking.tenant_id, wanted.version_id)
        mine = [one for one in places if asking.covers(one.scope_kind, one.scope_key)]
        if not mine:
            return Looked([], [], checked=False)
        fact_nos, checked = [one.fact_no for one in mine], any(one.is_checked for one in mine)
        place = mine[0]
    relations = await snapshot.relations(replace(wanted, limit=wanted.limit + 1), fact_nos)
    undecided = await snapshot.undecided(wanted, fact_nos)
    if wanted.version_id is None:
        checked = not await snapshot.has_unchecked(wanted)
    return Looked(relations, undecided, checked, place)


def _wanted(asking: Asking, found: Mapping[str, str], begun: Place | None) -> RelationsWanted:
    if "version_id" not in found and "subject" not in found:
        raise Rejected("parameter_missing", "this call needs the parameter version_id or subject", field="version_id")
    relation = found.get("relation")
    if relation is not None and relation not in VERDICTS:
        raise Rejected("parameter_malformed", f"relation is one of {', '.join(VERDICTS)}", field="relation")
    return RelationsWanted(
        tenant_id=asking.tenant_id,
        version_id=id_in(found["version_id"], "version_id") if "version_id" in found else None,
        subject_id=asking.subject_id(found["subject"]) if "subject" in found else None,
        relation=relation,
        scopes=asking.scopes(),
        after=(_NIL, _NIL, _NIL) if begun is None else [UUID(one) for one in begun.key],
        limit=limit_in(found),
        next_offsets=None if begun is None else begun.next_offsets(),
    )


def _covered(wanted: RelationsWanted, place: MemoryPlace | None) -> Covered:
    prefix, scopes = MEMORY_PREFIX, wanted.scopes
    fact_id = None if place is None else UUID(place.fact_id).bytes
    return Covered(wanted.tenant_id, wanted.subject_id, prefix=prefix, scopes=scopes, fact_id=fact_id)


def relation_body(one: RelationLine) -> Body:
    """A relation; the texts are their beginnings."""
    return {
        "left": one.left,
        "right": one.right,
        "relation": one.relation,
        "newer": one.newer,
        "decided_by": one.decided_by,
        "reason": one.reason,
        "llm_call_made": one.llm_call_made,
        "model": one.model,
        "decided_at": one.decided_at,
        "event_id": one.event_id,
        "left_text": one.left_text,
        "right_text": one.right_text,
        "left_valid_from": one.left_valid_from,
        "right_valid_from": one.right_valid_from,
        "fact": _fact_body(one),
        "ended": orjson.Fragment(one.ended or b"[]"),
    }


def pending_body(one: UndecidedLine) -> Body:
    """A pair that waits, with what a person needs to decide it."""
    return {
        "left": one.left,
        "right": one.right,
        "reason": one.reason,
        "since": one.since,
        "age_s": round(one.age_s, 3),
        "left_text": one.left_text,
        "right_text": one.right_text,
        "left_valid_from": one.left_valid_from,
        "right_valid_from": one.right_valid_from,
        "fact_id": one.fact_id,
        "fact": _fact_body(one),
        "decide_command": None if one.right is None else decide_command(one.left, one.right),
    }


def _fact_body(one: RelationLine | UndecidedLine | MemoryPlace) -> Body:
    return {
        "fact_id": one.fact_id,
        "subject": one.subject_label or one.subject_id,
        "scope": f"{one.scope_kind}:{one.scope_key}",
        "key": one.fact_key,
    }
