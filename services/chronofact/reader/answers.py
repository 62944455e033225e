"""Answers as callers see them (api.md, Reader)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import orjson

from chronofact.contracts.reading import Claim, Found, WantedClaim
from chronofact.reader.questions import Slot

KINDS: Final = ("unknown", "value", "conflict", "values")
REASONS: Final = (
    "",
    "excluded",
    "ended",
    "superseded",
    "not_yet_valid",
    "revoked",
    "proposed_only",
    "never_recorded",
    "not_yet_known",
)
CLAIMS_MAX: Final = 1_000
"""Versions listed in one answer; ``count`` tells how many there are."""
EDGES_MAX: Final = 1_000

Body = dict[str, Any]


def fact_body(slot: Slot, fact_id: str, label: str | None) -> Body:
    """The slot that an answer is about."""
    return {"fact_id": fact_id, "subject": label or slot.subject, "scope": str(slot.scope), "key": slot.key}


def answer_body(found: Found, claims: Sequence[Claim]) -> Body:
    """What an answer says; the fact and the instants are the caller's to add."""
    during = (found.valid_from, found.valid_to)
    match found.kind:
        case None:
            return {"kind": "unknown", "reason": "never_recorded", "valid_during": (None, None)}
        case 0:
            return {"kind": "unknown", "reason": REASONS[found.reason or 0], "valid_during": during}
        case 1:
            return {
                "kind": "value",
                "value": orjson.Fragment(found.value or b"null"),
                "version_id": found.version_id,
                "agreeing": found.agreeing or [found.version_id],
                "valid_during": during,
                "recorded_at": found.recorded_at,
            }
        case 2:
            versions = sorted(claims, key=_by_id)
            return {
                "kind": "conflict",
                "versions": [claim_body(one) for one in versions],
                "edges": open_edges(versions),
                "valid_during": during,
                **_count(found, versions),
            }
        case _:
            values = sorted(claims, key=_by_id)
            return {
                "kind": "values",
                "values": [claim_body(one) for one in values],
                "valid_during": during,
                **_count(found, values),
            }


def claim_body(claim: Claim) -> Body:
    """One version behind an answer."""
    return {
        "version_id": claim.version_id,
        "value": orjson.Fragment(claim.value),
        "valid_during": (claim.valid_from, claim.valid_to),
        "source_id": claim.source_id,
        "recorded_at": claim.recorded_at,
    }


def open_edges(versions: Iterable[Claim]) -> list[Body]:
    """Versions that are eligible together and differ are in conflict, each pair (semantics §3)."""
    edges: list[Body] = []
    for left, right in combinations(versions, 2):
        if left.value_hash != right.value_hash:
            edges.append({"left": left.version_id, "right": right.version_id, "relation": "OPEN"})
            if len(edges) == EDGES_MAX:
                break
    return edges


def wanted_claims(at: int, found: Found, system_as_of: int | None) -> list[WantedClaim]:
    """The versions that an answer lists besides its winner."""
    if found.fact_no is None or found.kind not in {2, 3}:
        return []
    numbers = (found.versions or [])[:CLAIMS_MAX]
    return [WantedClaim(at, found.fact_no, number, system_as_of) for number in numbers]


def by_answer(claims: Iterable[Claim]) -> Mapping[int, list[Claim]]:
    """Claims by the answer that they belong to."""
    grouped: dict[int, list[Claim]] = {}
    for claim in claims:
        grouped.setdefault(claim.at, []).append(claim)
    return grouped


def _count(found: Found, listed: Sequence[Claim]) -> Body:
    """How many there are, where not all are listed."""
    count = len(found.versions or [])
    return {"count": count} if count > len(listed) else {}


def _by_id(claim: Claim) -> str:
    return claim.version_id
