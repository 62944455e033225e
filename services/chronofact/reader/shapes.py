"""The shapes of the reader's answers, for /openapi.json; the tests hold every answer to them."""

from __future__ import annotations

from typing import Final

from chronofact.contracts.reading import KINDS
from chronofact.reader.answers import REASONS
from chronofact.runtime.openapi import (
    ANY,
    COUNT,
    FLAG,
    ID,
    INSTANT,
    TEXT,
    Schema,
    many,
    nullable,
    shape,
    words,
)

_DURING: Final[Schema] = {"type": "array", "items": nullable(INSTANT), "minItems": 2, "maxItems": 2}
_FRESHNESS: Final = shape(
    {
        "projection": TEXT,
        "rule": COUNT,
        "position": nullable(TEXT),
        "lag_events": nullable(COUNT),
        "lag_s": {"type": "number", "minimum": 0},
        "stale": FLAG,
    },
    tail_events=COUNT,
    because=TEXT,
    held=COUNT,
)
_FACT: Final = shape({"fact_id": ID, "subject": TEXT, "scope": TEXT, "key": TEXT})
_CLAIM: Final = shape(
    {"version_id": ID, "value": ANY, "valid_during": _DURING, "source_id": TEXT, "recorded_at": INSTANT}
)
_REASON: Final = words(*filter(None, REASONS))
_OPEN_EDGE: Final = shape({"left": ID, "right": ID, "relation": words("OPEN")})
_ABOUT: Final = {"valid_during": _DURING, "fact": _FACT, "valid_at": INSTANT, "as_of": nullable(INSTANT)}


def _answer() -> Schema:
    about = {**_ABOUT, "freshness": _FRESHNESS}
    value = {"value": ANY, "version_id": ID, "agreeing": many(ID), "recorded_at": INSTANT}
    return {
        "oneOf": [
            shape({"kind": words("value"), **value, **about}),
            shape({"kind": words("values"), "values": many(_CLAIM), **about}, count=COUNT),
            shape(
                {"kind": words("conflict"), "versions": many(_CLAIM), "edges": many(_OPEN_EDGE), **about}, count=COUNT
            ),
            shape({"kind": words("unknown"), "reason": _REASON, **about}),
        ]
    }


def _page(name: str, one: Schema, **more: Schema) -> Schema:
    return shape({name: many(one), "cursor": nullable(TEXT), "freshness": _FRESHNESS, **more})


_EVENT: Final = shape(
    {
        "event_id": ID,
        "event_seq": COUNT,
        "recorded_at": INSTANT,
        "event_type": TEXT,
        "version_ids": many(ID),
        "payload": {"type": "object"},
        "payload_hash": TEXT,
        "partition": COUNT,
        "offset": COUNT,
    }
)
_VERSION: Final = shape(
    {
        "version_id": ID,
        "value": ANY,
        "value_hash": TEXT,
        "valid_during": _DURING,
        "recorded_at": INSTANT,
        "event_seq": COUNT,
        "source_id": TEXT,
        "source_hash": TEXT,
        "lifecycle": words("PROPOSED", "ACTIVE", "SUPERSEDED", "REVOKED"),
        "confidence": nullable({"type": "number"}),
        "supersedes_id": nullable(ID),
        "superseded_by_id": nullable(ID),
        "merged_into_id": nullable(ID),
    }
)
_RECTANGLE: Final = shape({"kind": words(*KINDS), "valid_during": _DURING, "known_during": _DURING}, count=COUNT)
_CONFLICT: Final = shape(
    {
        "relation": words("OPEN", "RESOLVED"),
        "fact": _FACT,
        "left": _CLAIM,
        "right": _CLAIM,
        "recorded_at": INSTANT,
        "age_s": {"type": "number"},
        "open_in_fact": COUNT,
        "settle": {"type": "object"},
        "settle_command": TEXT,
    }
)
_CONTEXT: Final = shape(
    {
        "subject": TEXT,
        "scopes": many(TEXT),
        "settled": many(shape({"key": TEXT, "scope": TEXT, "value": ANY, "valid_during": _DURING, "fact_id": ID})),
        "text": TEXT,
        "budget": shape({"unit": words("characters"), "limit": COUNT, "used": COUNT}),
        "left_out": COUNT,
        "unchecked_count": COUNT,
        "questions": many(shape({"kind": words("conflict", "review", "relation", "proposal"), "ask": TEXT})),
        "questions_count": shape({"conflict": COUNT, "review": COUNT, "relation": COUNT, "proposal": COUNT}),
        "cursor": nullable(TEXT),
        "valid_at": INSTANT,
        "as_of": nullable(INSTANT),
        "freshness": _FRESHNESS,
    }
)
_PLACE: Final = nullable(COUNT)
_MEMORY: Final = shape(
    {
        "version_id": ID,
        "text": TEXT,
        "category": TEXT,
        "fact": _FACT,
        "valid_during": _DURING,
        "valid_from_known": FLAG,
        "recorded_at": INSTANT,
        "source_id": TEXT,
        "confidence": nullable({"type": "number"}),
        "standing": words("eligible", "superseded", "merged"),
        "superseded_by": nullable(ID),
        "merged_into": nullable(ID),
        "pending_review": FLAG,
        "pending_pairs": FLAG,
        "checked": FLAG,
    },
    score={"type": "number"},
    cosine=nullable({"type": "number"}),
    places=shape({"words": _PLACE, "nearness": _PLACE, "kind": _PLACE}),
)
_MEMORIES: Final = shape(
    {
        "memories": many(_MEMORY),
        "searched": nullable(shape({"words": FLAG, "nearness": FLAG}, because=TEXT)),
        "left_out": shape({}, superseded=COUNT, merged=COUNT, pending_review=COUNT, pending_pairs=COUNT),
        "cursor": nullable(TEXT),
        "valid_at": INSTANT,
        "as_of": nullable(INSTANT),
        "freshness": _FRESHNESS,
    }
)
_RELATION: Final = shape(
    {
        "left": ID,
        "right": ID,
        "relation": words("supersedes", "contradicts", "near_duplicate", "unrelated"),
        "newer": nullable(ID),
        "decided_by": words("rule", "model", "person"),
        "reason": nullable(TEXT),
        "llm_call_made": FLAG,
        "model": nullable(TEXT),
        "decided_at": INSTANT,
        "event_id": ID,
        "left_text": nullable(TEXT),
        "right_text": nullable(TEXT),
        "left_valid_from": nullable(INSTANT),
        "right_valid_from": nullable(INSTANT),
        "fact": _FACT,
        "ended": many(shape({"key": TEXT, "version_id": ID, "event_id": ID})),
    }
)
_PENDING: Final = shape(
    {
        "left": ID,
        "right": nullable(ID),
        "reason": TEXT,
        "since": INSTANT,
        "age_s": {"type": "number"},
        "left_text": nullable(TEXT),
        "right_text": nullable(TEXT),
        "left_valid_from": nullable(INSTANT),
        "right_valid_from": nullable(INSTANT),
        "fact_id": ID,
        "fact": _FACT,
        "decide_command": nullable(TEXT),
    }
)
_EXPLANATION: Final = shape(
    {
        "answer": _answer(),
        "sentences": many(TEXT),
        "versions": many(shape({"version_id": ID, "value": ANY, "standing": TEXT, "valid_during": _DURING})),
        "versions_count": COUNT,
        "decided_by": many(ID),
        "events": many(shape({"event_id": ID, "event_seq": COUNT, "event_type": TEXT, "recorded_at": INSTANT})),
        "events_count": COUNT,
        "left_out": shape({"events_count": COUNT, "versions_count": COUNT}),
        "fact": _FACT,
        "valid_at": INSTANT,
        "as_of": nullable(INSTANT),
        "freshness": _FRESHNESS,
    }
)

SHAPES: Final[dict[tuple[str, str], Schema]] = {
    ("GET", "/v1/resolve"): _answer(),
    ("POST", "/v1/resolve"): shape({"answers": many(_answer()), "freshness": _FRESHNESS}),
    ("GET", "/v1/explain"): _EXPLANATION,
    ("GET", "/v1/facts"): _page("facts", _answer()),
    ("GET", "/v1/facts/{fact_id}/events"): _page("events", _EVENT, fact=_FACT),
    ("GET", "/v1/facts/{fact_id}/versions"): _page("versions", _VERSION, fact=_FACT),
    ("GET", "/v1/facts/{fact_id}/timeline"): _page("timeline", _RECTANGLE, fact=_FACT),
    ("GET", "/v1/conflicts"): _page("conflicts", _CONFLICT),
    ("GET", "/v1/context"): _CONTEXT,
    ("GET", "/v1/memories"): _MEMORIES,
    ("GET", "/v1/relations"): _page("relations", _RELATION, pending=many(_PENDING), checked=FLAG, fact=nullable(_FACT)),
}
"""By method and path."""
