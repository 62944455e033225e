"""Answers as callers see them (api.md, Reader)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final, NamedTuple

import orjson

from chronofact.contracts.context import AsKnown, Contradiction
from chronofact.contracts.reading import Claim, Found, WantedClaim
from chronofact.reader.ports import Snapshot
from chronofact.reader.questions import Slot

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


class Behind(NamedTuple):
    """The versions that an answer lists besides its winner, and those of its fact that contradict each other."""

    claims: Sequence[Claim] = ()
    contradictions: Sequence[Contradiction] = ()


NOTHING: Final = Behind()


def fact_body(slot: Slot, fact_id: str, label: str | None) -> Body:
    """The slot that an answer is about."""
    return {"fact_id": fact_id, "subject": label or slot.subject, "scope": str(slot.scope), "key": slot.key}


def answer_body(found: Found, behind: Behind) -> Body:
    """What an answer says; the fact and the instants are the caller's to add."""
    claims, contradictions = sorted(behind.claims, key=_by_id), behind.contradictions
    during = (found.valid_from, found.valid_to)
    match found.kind:
        case None:
            return {"kind": "unknown", "reason": "never_recorded", "valid_during": (None, None)}
        case 0:
            return {"kind": "unknown", "reason": REASONS[found.reason or 0], "valid_during": during}
        case 1:
            agreeing: list[Any] = list(found.agreeing or (found.version_id,))
            versions = len(found.versions or ())
            return {
                "kind": "value",
                "value": orjson.Fragment(found.value or b"null"),
                "version_id": found.version_id,
                "agreeing": agreeing,
                **({"agreeing_count": versions} if versions > len(agreeing) else {}),
                "valid_during": during,
                "recorded_at": found.recorded_at,
            }
        case 2:
            return {
                "kind": "conflict",
                "versions": _claim_bodies(claims, contradictions),
                **_edges(claims, contradictions),
                "valid_during": during,
                **_count(found, claims),
            }
        case _:
            return {
                "kind": "values",
                "values": _claim_bodies(claims, contradictions),
                **(_edges(claims, contradictions, differing=False) if contradictions else {}),
                "valid_during": during,
                **_count(found, claims),
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


def _claim_bodies(claims: Sequence[Claim], contradictions: Sequence[Contradiction]) -> list[Body]:
    """Every claim; one under review says so."""
    pending = {one.pending for one in contradictions}
    return [
        {**claim_body(one), "pending_review": True} if one.version_id in pending else claim_body(one) for one in claims
    ]


def _edges(claims: Sequence[Claim], contradictions: Sequence[Contradiction], *, differing: bool = True) -> Body:
    """The OPEN edges among claims, by id: pairs that differ, and pairs that a verdict says contradict (semantics §3)."""
    listed = {claim.version_id: claim.value_key for claim in claims}
    by_verdict = [
        (one.left, one.right)
        for one in contradictions
        if one.left in listed and one.right in listed and not (differing and listed[one.left] != listed[one.right])
    ]
    pairs = [*islice(open_pairs(claims), EDGES_MAX), *by_verdict] if differing else by_verdict
    count = len(by_verdict) + (open_pairs_count(claims) if differing else 0)
    edges = [{"left": left, "right": right, "relation": "OPEN"} for left, right in sorted(pairs)[:EDGES_MAX]]
    return {"edges": edges, **({"edges_count": count} if count > len(edges) else {})}


def open_pairs(claims: Iterable[Claim]) -> Iterator[tuple[str, str]]:
    """Versions that are eligible together and differ are in conflict, each pair (semantics §3)."""
    for left, right in combinations(claims, 2):
        if left.value_key != right.value_key:
            yield left.version_id, right.version_id


def open_pairs_count(claims: Sequence[Claim]) -> int:
    """How many pairs differ."""
    same = Counter(claim.value_key for claim in claims).values()
    return (len(claims) ** 2 - sum(one * one for one in same)) // 2


async def behind_answers(snapshot: Snapshot, wanted: Sequence[WantedClaim]) -> Mapping[int, Behind]:
    """What lies behind answers, by their number."""
    if not wanted:
        return {}
    asked = {one.at: AsKnown(one.at, one.fact_no, one.system_as_of) for one in wanted}
    claims, contradictions = defaultdict(list), defaultdict(list)
    for claim in await snapshot.claims(wanted):
        claims[claim.at].append(claim)
    for pair in await snapshot.contradictions(list(asked.values())):
        contradictions[pair.at].append(pair)
    return {at: Behind(claims.get(at, ()), contradictions.get(at, ())) for at in asked}


def wanted_claims(at: int, found: Found, system_as_of: int | None) -> list[WantedClaim]:
    """The versions that an answer lists besides its winner."""
    if found.fact_no is None or found.kind not in {2, 3}:
        return []
    numbers = (found.versions or [])[:CLAIMS_MAX]
    return [WantedClaim(at, found.fact_no, number, system_as_of) for number in numbers]


def _count(found: Found, listed: Sequence[Claim]) -> Body:
    """How many there are, where not all are listed."""
    count = len(found.versions or [])
    return {"count": count} if count > len(listed) else {}


def _by_id(claim: Claim) -> str:
    return claim.version_id
