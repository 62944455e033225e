"""An explanation as callers see it: versions with their standing, the events behind it, what does not count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final
from uuid import UUID

import orjson

from chronofact.domain.events import (
    ConflictResolved,
    FactAsserted,
    FactEnded,
    FactSuperseded,
    RelationDeclared,
)
from chronofact.domain.explained import CoveredBy, EdgeSaid, Explanation, Hop, Ignored, Logged, Stood
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.answers import Body

EVENTS_MAX: Final = 1_000
"""Events described beside the versions; those that decided come first."""
LEFT_OUT_MAX: Final = 100


def explanation_body(explanation: Explanation) -> Body:
    """All but the answer and the sentences."""
    return {
        "versions": [_version(one, explanation) for one in explanation.versions],
        "versions_count": sum(explanation.counts.values()),
        "standings": {stands.value: count for stands, count in sorted(explanation.counts.items())},
        "decided_by": _ids(explanation.decided_by[:EVENTS_MAX]),
        "events": [_event(one) for one in _cited(explanation)],
        "events_count": len(explanation.log) - len(explanation.left_out),
        "ignored": [_ignored(one) for one in explanation.ignored],
        "ignored_count": explanation.ignored_count,
        "left_out": _left_out(explanation),
    }


def _version(one: Stood, explanation: Explanation) -> Body:
    said = one.said
    return {
        "version_id": _id(one.version_id),
        "value": orjson.Fragment(said.value),
        "standing": one.stands.value,
        "valid_during": (format_bound(said.valid.start), format_bound(one.end)),
        "valid_to": format_bound(said.valid.end),
        "source_id": said.source_id,
        "recorded_at": format_instant(explanation.log[one.asserted_by[0]].event.recorded_at),
        "asserted_by": _ids(one.asserted_by),
        "activated_by": _ids(one.activated_by),
        "superseded_by": [_cover(cover) for cover in one.covered_by],
        "cancelled": _ids(one.cancelled),
        "excluded_by": _ids(one.excluded_by),
        "kept_by": _ids(one.kept_by),
        "ended_by": _ids(one.ended_by),
        "revoked_by": _ids(one.revoked_by),
        "merged_into": None if one.merged_into is None else _id(one.merged_into),
        "merged_by": _ids(one.merged_by),
        "pending_review": one.is_pending_review,
        "cut": one.is_cut,
    }


def _cover(cover: CoveredBy) -> Body:
    return {
        "version_id": _id(cover.version_id),
        "path": [_hop(hop) for hop in cover.path],
        "only_way": cover.is_only_way,
    }


def _hop(hop: Hop) -> Body:
    return {"new_version_id": _id(hop.new), "old_version_id": _id(hop.old), "edges": [_edge(one) for one in hop.edges]}


def _edge(edge: EdgeSaid) -> Body:
    return {
        "event_id": None if edge.event_id is None else _id(edge.event_id),
        "automatic": edge.event_id is None,
        "mode": edge.mode,
        "effective_during": (format_bound(edge.effective_from), format_bound(edge.effective_to)),
        "named_version_id": _id(edge.named),
    }


def _ignored(one: Ignored) -> Body:
    return {
        "event_id": _id(one.event_id),
        "why": one.why.value,
        "version_ids": _ids(one.version_ids),
        "by": None if one.by is None else _id(one.by),
        "effective_during": None if one.during is None else tuple(map(format_bound, one.during)),
    }


def _left_out(explanation: Explanation) -> Body:
    late, new = explanation.left_out, explanation.left_out_versions
    return {
        "events_count": len(late),
        "events": [_event(one) for one in late[:LEFT_OUT_MAX]],
        "versions_count": len(new),
        "version_ids": _ids(new[:LEFT_OUT_MAX]),
    }


def _cited(explanation: Explanation) -> Iterable[Logged]:
    """The events that the explanation names, by ``event_seq``; if there are too many, those that decided first."""
    named = dict.fromkeys(explanation.decided_by)
    for one in explanation.versions:
        edges = (edge.event_id for cover in one.covered_by for hop in cover.path for edge in hop.edges)
        named.update(dict.fromkeys(event_id for event_id in edges if event_id is not None))
        for event_ids in (one.asserted_by, one.activated_by, one.excluded_by, one.kept_by, one.ended_by):
            named.update(dict.fromkeys(event_ids))
        named.update(dict.fromkeys((*one.revoked_by, *one.merged_by)))
    for found in explanation.ignored:
        named.update(dict.fromkeys(one for one in (found.event_id, found.by) if one is not None))
    return sorted(explanation.log[one] for one in islice(named, EVENTS_MAX))


def _event(logged: Logged) -> Body:
    event = logged.event
    return {
        "event_id": _id(event.event_id),
        "event_seq": logged.event_seq,
        "event_type": type(event.what).__name__,
        "recorded_at": format_instant(event.recorded_at),
        **_said(event.what),
    }


def _said(what: object) -> Body:
    """What a person asks of a decision, an end or a supersession: when, by whom, why."""
    match what:
        case FactEnded():
            return {"effective_at": format_instant(what.effective_at), "reason": what.reason}
        case FactSuperseded():
            return {"effective_at": format_bound(what.effective_at), "mode": what.mode, "reason": what.reason}
        case ConflictResolved():
            keep = None if what.keep is None else _id(what.keep)
            decided = {"decided_at": format_instant(what.decided_at), "decided_by": what.decided_by}
            return {"keep": keep, **decided, "reason": what.reason}
        case RelationDeclared():
            decided = {"decided_at": format_instant(what.decided_at), "decided_by": what.decided_by.value}
            return {"relation": what.relation.value, **decided, "reason": what.reason}
        case FactAsserted():
            return {"lifecycle": what.lifecycle.value, "succession": what.succession.value}
        case _:
            return {"reason": getattr(what, "reason", None)}


def _id(raw: bytes) -> str:
    return str(UUID(bytes=raw))


def _ids(raw: Sequence[bytes]) -> list[str]:
    return [_id(one) for one in raw]
