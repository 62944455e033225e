"""What may go into a prompt, and what may not: one fact of a chain, told apart by version (semantics §3, §6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import orjson

from chronofact.contracts.context import ChainFact, Contradiction, Undecided
from chronofact.contracts.memories import MEMORY_PREFIX
from chronofact.contracts.reading import Claim
from chronofact.domain.interval import INSTANT_MIN
from chronofact.reader.answers import Body
from chronofact.reader.chains import earlier, later
from chronofact.reader.prompt import line
from chronofact.reader.questions import instant_of

VALUE, CONFLICT, VALUES = 1, 2, 3
SOURCES_MAX: Final = 10

During = tuple[str | None, str | None]


class Answering(NamedTuple):
    """The fact that answers for a key of a chain, with all that is needed to tell what is settled."""

    fact: ChainFact
    scope: str
    cut: During
    """Where no nearer scope answers."""
    claims: Sequence[Claim]
    contradictions: Sequence[Contradiction]
    held: int
    undecided: Sequence[Undecided] = ()
    unchecked: frozenset[str] = frozenset()
    """The text memories that were not held against the others yet."""

    @property
    def during(self) -> During:
        """How long the answer is the same, as far as it is this fact's to give."""
        return self.within(self.fact.found.valid_from, self.fact.found.valid_to)

    def within(self, start: str | None, end: str | None) -> During:
        """A stretch, cut to where no nearer scope answers."""
        return later(start, self.cut[0]), earlier(end, self.cut[1])

    def pending(self) -> set[str]:
        """The versions under review, and the memories of which a pair waits for a verdict."""
        return {pair.pending for pair in self.contradictions} | {pair.version_id for pair in self.undecided}


class Settled(NamedTuple):
    """One value that holds and that nothing speaks against."""

    answering: Answering
    claims: list[Claim]
    """Who says so, the one that starts last first."""
    during: During

    @property
    def is_checked(self) -> bool | None:
        """Whether a text memory was held against the others; None for other keys."""
        if not self.answering.fact.fact_key.startswith(MEMORY_PREFIX):
            return None
        return not any(claim.version_id in self.answering.unchecked for claim in self.claims)

    def rank(self) -> tuple[int, int, str, str]:
        """The order in which a budget is filled: nearest scope, then most recently valid, then key and version."""
        fact, start = self.answering.fact, self.during[0]
        since = INSTANT_MIN if start is None else instant_of(start)
        return fact.place, -since, fact.fact_key, self.claims[0].version_id

    def line(self) -> str:
        """As a line for a prompt."""
        fact, sources = self.answering.fact, self.sources()
        return line(
            fact.fact_key,
            self.answering.scope,
            self.claims[0].value,
            self.during,
            sources,
            sources_count=len(sources),
            is_start_known=self.during[0] is not None or not fact.fact_key.startswith(MEMORY_PREFIX),
        )

    def sources(self) -> list[str]:
        """The different sources."""
        return list(dict.fromkeys(claim.source_id for claim in self.claims))

    def body(self) -> Body:
        """As the answer shows it."""
        fact = self.answering.fact
        body: Body = {
            "key": fact.fact_key,
            "scope": self.answering.scope,
            "value": orjson.Fragment(self.claims[0].value),
            "valid_during": self.during,
            "sources": [
                {"source_id": claim.source_id, "version_id": claim.version_id, "recorded_at": claim.recorded_at}
                for claim in self.claims[:SOURCES_MAX]
            ],
            "fact_id": fact.fact_id,
        }
        if self.is_checked is not None:
            body["checked"] = self.is_checked
        if len(self.claims) > SOURCES_MAX:
            body["sources_count"] = len(self.claims)
        return {**body, "held": self.answering.held} if self.answering.held else body


def settled_of(answering: Answering) -> Iterator[Settled]:
    """The settled values of an answer: none of a conflict, and none that only pending versions say."""
    kind = answering.fact.found.kind
    if kind not in {VALUE, VALUES}:
        return
    pending = answering.pending()
    by_value: dict[str, list[Claim]] = {}
    for claim in sorted(answering.claims, key=_latest_first):
        if claim.version_id not in pending:
            by_value.setdefault(claim.value_key, []).append(claim)
    for claims in by_value.values():
        yield Settled(answering, claims, answering.during if kind == VALUE else answering.within(*_hull(claims)))


def _hull(claims: Sequence[Claim]) -> During:
    """From the first start to the last end; all of them hold at one instant."""
    start, end = claims[0].valid_from, claims[0].valid_to
    for claim in claims[1:]:
        start = None if start is None or claim.valid_from is None else earlier(start, claim.valid_from)
        end = None if end is None or claim.valid_to is None else later(end, claim.valid_to)
    return start, end


def _latest_first(claim: Claim) -> tuple[int, str]:
    return (0 if claim.valid_from is None else INSTANT_MIN - instant_of(claim.valid_from) - 1), claim.version_id
