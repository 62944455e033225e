"""What nobody may answer but a person: conflicts, reviews and proposals, each with what to ask and the calls that settle it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import orjson

from chronofact.contracts.context import ChainFact, Contradiction, Proposal, Undecided
from chronofact.contracts.memories import VERDICTS
from chronofact.domain.inert import inert
from chronofact.reader.answers import Body, claim_body, open_pairs, open_pairs_count
from chronofact.reader.conflicts import decide_command, settle_body, settle_command
from chronofact.reader.prompt import scope_told, short
from chronofact.reader.settled import CONFLICT, Answering

QUESTIONS_MAX: Final = 20
"""Of each kind; ``questions_count`` tells how many there are."""
SIDES_MAX: Final = 10
SETTLE: Final = "POST /v1/events"


class Asked:
    """Questions about one subject."""

    def __init__(self, subject: str) -> None:
        self._subject = subject

    def conflict(self, one: Answering) -> Body:
        """Values of a single-valued fact that differ and all hold."""
        fact = self._fact(one.fact, one.scope)
        sides = sorted(one.claims, key=lambda claim: claim.version_id)
        values = dict.fromkeys(_told(claim.value) for claim in sides)
        pairs = list(islice(open_pairs(sides), SIDES_MAX))
        count = len(one.fact.found.versions or ())
        body = {
            "kind": "conflict",
            "fact": fact,
            "ask": f"Which holds for {_about(fact)}: {_or(values)}?",
            "sides": [claim_body(claim) for claim in sides[:SIDES_MAX]],
            "valid_during": one.during,
            "settle": [self._decision(fact, *pair) for pair in pairs],
            "settle_command": settle_command(one.fact.fact_id, *pairs[0]) if pairs else None,
            "settle_count": open_pairs_count(sides),
        }
        if count > SIDES_MAX:
            body["sides_count"] = count
        return _held(body, one.held)

    def review(self, one: Answering, pair: Contradiction) -> Body:
        """A version that contradicts one of a higher confidence."""
        fact = self._fact(one.fact, one.scope)
        sides = {
            pair.left: (pair.left_value, pair.left_source_id),
            pair.right: (pair.right_value, pair.right_source_id),
        }
        other = pair.left if pair.pending == pair.right else pair.right
        pending_value, other_value = _told(sides[pair.pending][0]), _told(sides[other][0])
        body = {
            "kind": "review",
            "fact": fact,
            "ask": f"Does {pending_value} hold for {_about(fact)}, against {other_value}?",
            "sides": [_side(version_id, *sides[version_id]) for version_id in (pair.left, pair.right)],
            "pending_review": pair.pending,
            "settle": [self._decision(fact, pair.left, pair.right)],
            "settle_command": settle_command(one.fact.fact_id, pair.left, pair.right),
        }
        return _held(body, one.held)

    def relation(self, one: Answering, pair: Undecided) -> Body:
        """A memory whose relation to another nobody has decided yet."""
        fact = self._fact(one.fact, one.scope)
        said, sides = _told(pair.value), [_side(pair.version_id, pair.value, pair.source_id)]
        ask = f"How does {said} relate to the other memories of {_about(fact)}?"
        settle: list[Body] = []
        command = None
        if pair.other_id is not None and pair.other_value is not None:
            sides.append(_side(pair.other_id, pair.other_value, pair.other_source_id or ""))
            ask = f"Does {said} replace, contradict or repeat {_told(pair.other_value)} in {_about(fact)}?"
            left, right = sorted((pair.version_id, pair.other_id))
            settle.append(self._verdict(fact, left, right))
            command = decide_command(left, right)
        body = {
            "kind": "relation",
            "fact": fact,
            "ask": ask,
            "sides": sides,
            "pending_pair": pair.version_id,
            "reason": pair.reason,
            "settle": settle,
            "settle_command": command,
        }
        return _held(body, one.held)

    def proposal(self, fact_of: ChainFact, scope: str, said: Proposal) -> Body:
        """A version that waits for its activation."""
        fact = self._fact(fact_of, scope)
        about = {"subject": self._subject, "scope": scope, "key": fact_of.fact_key, "version_id": said.version_id}
        return {
            "kind": "proposal",
            "fact": fact,
            "ask": f"Should {_told(said.value)} be admitted for {_about(fact)}?",
            "sides": [
                {
                    **_side(said.version_id, said.value, said.source_id),
                    "valid_during": (said.valid_from, said.valid_to),
                    "recorded_at": said.recorded_at,
                }
            ],
            "settle": [
                {"means": "admit it", "call": SETTLE, "command": {"type": "activate", **about}},
                {"means": "refuse it, for good", "call": SETTLE, "command": {"type": "revoke", **about}},
            ],
            "settle_command": None,
        }

    def _fact(self, fact: ChainFact, scope: str) -> Body:
        return {"fact_id": fact.fact_id, "subject": self._subject, "scope": scope, "key": fact.fact_key}

    def _verdict(self, fact: Body, left: str, right: str) -> Body:
        means = f"relation is {', '.join(VERDICTS)}; newer_version_id belongs to supersedes, and decided_at is when that was decided"
        command = {
            "type": "declare_relation",
            "subject": self._subject,
            "scope": fact["scope"],
            "key": fact["key"],
            "left_version_id": left,
            "right_version_id": right,
            "relation": None,
            "newer_version_id": None,
            "decided_by": "person",
            "decided_at": None,
        }
        return {"means": means, "call": SETTLE, "command": command}

    def _decision(self, fact: Body, left: str, right: str) -> Body:
        means = "keep one of the two, or null for neither; decided_at is when that was decided"
        return {"means": means, "call": SETTLE, "command": settle_body(self._subject, fact, left, right)}


def conflicts_and_reviews(asked: Asked, answering: Sequence[Answering]) -> tuple[list[Body], dict[str, int]]:
    """The first of each kind, and how many there are."""
    torn = [one for one in answering if one.fact.found.kind == CONFLICT]
    reviews = [(one, pair) for one in answering for pair in _reviews(one)]
    bodies = [asked.conflict(one) for one in torn[:QUESTIONS_MAX]]
    bodies += [asked.review(one, pair) for one, pair in reviews[:QUESTIONS_MAX]]
    undecided = [(one, pair) for one in answering for pair in _undecided(one)]
    bodies += [asked.relation(one, pair) for one, pair in undecided[:QUESTIONS_MAX]]
    return bodies, {"conflict": len(torn), "review": len(reviews), "relation": len(undecided)}


def _reviews(one: Answering) -> Iterator[Contradiction]:
    """Of an answer without a conflict: the pairs whose weaker side holds."""
    if one.fact.found.kind != CONFLICT:
        holding = {claim.version_id for claim in one.claims}
        yield from (pair for pair in one.contradictions if pair.pending in holding)


def _undecided(one: Answering) -> Iterator[Undecided]:
    """Pairs of memories that hold."""
    holding = {claim.version_id for claim in one.claims}
    yield from (pair for pair in one.undecided if pair.version_id in holding)


def _side(version_id: str, value: bytes, source_id: str) -> Body:
    return {"version_id": version_id, "value": orjson.Fragment(value), "source_id": source_id}


def _about(fact: Body) -> str:
    return f"{fact['key']} in {scope_told(fact['scope'])}"


def _told(value: bytes) -> str:
    return short(inert(value.decode()))


def _or(values: Iterable[str]) -> str:
    listed = list(values)
    shown = listed[:SIDES_MAX]
    more = [f"one of {len(listed) - len(shown)} more"] if len(listed) > len(shown) else []
    return " or ".join([*shown, *more])


def _held(body: dict[str, Any], held: int) -> Body:
    return {**body, "held": held} if held else body
