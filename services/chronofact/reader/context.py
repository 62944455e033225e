"""``GET /v1/context``: what may go into a prompt, within a budget; all that is open comes apart, as questions (ADR 22)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from fastapi import Request

from chronofact.contracts.context import AsKnown, ChainFact, ContextWanted, Contradiction, Undecided, WantedCheck
from chronofact.contracts.memories import MEMORY_PREFIX
from chronofact.contracts.reading import Claim, WantedClaim
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE, Scope
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.answers import Body
from chronofact.reader.asked_back import QUESTIONS_MAX, Asked, conflicts_and_reviews
from chronofact.reader.chains import earlier, later, nearest
from chronofact.reader.cursors import Cursors, Place, instant, natural, text, uuid
from chronofact.reader.freshness import with_held
from chronofact.reader.held import Covered, parked_among
from chronofact.reader.lists import freshness_of_page, prefix_in, valid_at_of
from chronofact.reader.ports import Snapshot
from chronofact.reader.questions import Asking, Slot, instant_of, whole_number
from chronofact.reader.requests import parameters, required, wait_in
from chronofact.reader.service import Reader
from chronofact.reader.settled import VALUES, Answering, During, Settled, settled_of

BUDGET: Final = 8_000
BUDGET_MAX: Final = 200_000
"""Characters of ``text`` (Unicode code points): tokens depend on a model that is not ours to know."""
FACTS_MAX: Final = 5_000
"""Facts of the chain that one answer looks at, nearest scopes first."""
VALUES_MAX: Final = 500
"""Versions of one fact that it looks at, the last asserted ones."""
VERSIONS_MAX: Final = 10_000
TOO_LONG_MAX: Final = 20
MANY: Final = 200
"""More facts than this are put into lines off the event loop."""
_PARAMETERS: Final = frozenset({"subject", "scope", "budget", "prefix", "valid_at", "as_of", "cursor"})


class Chosen(NamedTuple):
    """What is said about one key over the chain: its facts, nearest first, and which of them answers."""

    facts: Sequence[ChainFact]
    at: int

    @property
    def fact(self) -> ChainFact:
        """The one that answers."""
        return self.facts[self.at]

    @property
    def heard(self) -> Sequence[ChainFact]:
        """The facts whose proposals would change this answer: nearer ones and its own; of an unknown one all."""
        return self.facts[: self.at + 1] if self.fact.found.kind else self.facts


class Looked(NamedTuple):
    """Everything that one context was made from."""

    answering: list[Answering]
    proposals: list[Body]
    proposals_count: int
    held: int
    facts_beyond: int
    versions_beyond: int


class Contexts:
    """Makes contexts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def made(self, request: Request, asking: Asking) -> Body:
        """One page: the lines that the budget has room for, then the questions."""
        query = request.query_params
        found = parameters(query, _PARAMETERS, repeats=frozenset({"scope"}))
        subject = required(found, "subject")
        chain = asking.chain(query.getlist("scope") or (DEFAULT_SCOPE,))
        budget = whole_number(found.get("budget"), "budget", least=1, most=BUDGET_MAX, default=BUDGET)
        cursors = Cursors("/v1/context", asking.tenant_id, query.multi_items())
        begun = cursors.place(found.get("cursor"), natural, instant, text, uuid)
        wait = wait_in(found)
        wanted = ContextWanted(
            tenant_id=asking.tenant_id,
            subject_id=asking.subject_id(subject),
            scopes=tuple((scope.kind, scope.key) for scope in chain),
            prefix=prefix_in(found) or "",
            valid_at=valid_at_of(asking, found, begun),
            system_as_of=asking.instant(found.get("as_of"), "as_of"),
            next_offsets=None if begun is None else begun.next_offsets(),
            limit=FACTS_MAX + 1,
        )
        async with self._reader.folding.reading(asking.tenant_id, None, wait) as reading:
            looked = await _Look(reading.snapshot, wanted, chain, asking, subject).look()
            freshness = freshness_of_page(self._reader, reading, begun, wait)
            cut = reading.snapshot.standing.position if begun is None else begun.cut
        after = () if begun is None else begun.key
        if len(looked.answering) > MANY:
            page = await asyncio.to_thread(Page, looked.answering, budget, after)
        else:
            page = Page(looked.answering, budget, after)
        last = page.last
        place = None if last is None else Place([last[0], -last[1], *last[2:]], wanted.valid_at, cut)
        return {
            "subject": subject,
            "scopes": [str(scope) for scope in chain],
            **page.body(),
            **_questions(Asked(subject), looked, is_first=begun is None),
            "not_looked_at": {"facts": looked.facts_beyond, "versions": looked.versions_beyond},
            "cursor": place and cursors.spell(place),
            "valid_at": format_instant(wanted.valid_at),
            "as_of": format_bound(wanted.system_as_of),
            "freshness": with_held(freshness, looked.held),
        }


class Page:
    """The settled values that a budget has room for, from where the last page ended: it ends before the first that lacks room."""

    def __init__(self, answering: Sequence[Answering], budget: int, after: Sequence[Any]) -> None:
        ranked = [(settled.rank(), settled) for one in answering for settled in settled_of(one)]
        ranked.sort(key=lambda one: one[0])
        behind = (after[0], -after[1], *after[2:]) if after else None
        self._budget = budget
        self._used = 0
        self._lines: list[str] = []
        self._settled: list[Settled] = []
        self._too_long: list[Body] = []
        self._left = [(rank, one) for rank, one in ranked if behind is None or rank > behind]
        self.last: tuple[int, int, str, str] | None = None
        """The rank of the last line that was looked at, where more follow."""
        self._fill()

    def body(self) -> Body:
        """``settled``, ``text`` and how the budget was used."""
        return {
            "settled": [one.body() for one in self._settled],
            "text": "\n".join(self._lines),
            "budget": {"unit": "characters", "limit": self._budget, "used": self._used},
            "left_out": len(self._left),
            "too_long": self._too_long[:TOO_LONG_MAX],
            "too_long_count": len(self._too_long),
            "unchecked_count": sum(one.is_checked is False for one in self._settled),
        }

    def _fill(self) -> None:
        passed = 0
        for _, one in self._left:
            told = one.line()
            if len(told) > self._budget:
                self._too_long.append(_too_long(one, len(told)))
            elif self._used + bool(self._lines) + len(told) > self._budget:
                break
            else:
                self._used += bool(self._lines) + len(told)
                self._lines.append(told)
                self._settled.append(one)
            passed += 1
        ended, self._left = self._left[:passed], self._left[passed:]
        self.last = ended[-1][0] if ended and self._left else None


class _Look:
    """Looks at one chain in one snapshot."""

    def __init__(
        self, snapshot: Snapshot, wanted: ContextWanted, chain: Sequence[Scope], asking: Asking, subject: str
    ) -> None:
        self._snapshot = snapshot
        self._wanted = wanted
        self._chain = chain
        self._asking = asking
        self._subject = subject

    async def look(self) -> Looked:
        facts = await self._snapshot.chain(self._wanted)
        chosen = _by_key(facts[:FACTS_MAX])
        answered = [one for one in chosen if one.fact.found.kind]
        contradictions = await self._contradictions(answered)
        undecided = await self._undecided(answered)
        claims, beyond = await self._claims(answered, contradictions)
        unchecked = await self._unchecked(answered, claims)
        cuts = await self._cuts(answered)
        held = await self._held(chosen)
        lacking = await self._lacking(chosen)
        seen = [at for at in range(len(answered)) if at in claims]
        answering = [
            Answering(
                answered[at].fact,
                str(self._chain[answered[at].fact.place - 1]),
                cuts.get(at, (None, None)),
                claims[at],
                contradictions.get(at, ()),
                held.get(answered[at].fact.fact_key, 0),
                undecided.get(at, ()),
                unchecked,
            )
            for at in seen
        ]
        proposals, count = await self._proposals(chosen)
        unseen = len(answered) - len(seen) + (len(facts) > FACTS_MAX)
        return Looked(answering, proposals, count, sum(held.values()) + lacking, unseen, beyond)

    def _known(self, fact: ChainFact) -> int | None:
        return self._wanted.system_as_of if fact.as_of is None else instant_of(fact.as_of)

    def _as_known(self, at: int, fact: ChainFact) -> AsKnown:
        return AsKnown(at, fact.found.fact_no or 0, self._known(fact))

    async def _contradictions(self, answered: Sequence[Chosen]) -> Mapping[int, list[Contradiction]]:
        asked = [self._as_known(at, one.fact) for at, one in enumerate(answered)]
        by_number: dict[int, list[Contradiction]] = {}
        for pair in await self._snapshot.contradictions(asked) if asked else ():
            by_number.setdefault(pair.at, []).append(pair)
        return by_number

    async def _undecided(self, answered: Sequence[Chosen]) -> Mapping[int, list[Undecided]]:
        asked = [
            self._as_known(at, one.fact)
            for at, one in enumerate(answered)
            if one.fact.fact_key.startswith(MEMORY_PREFIX)
        ]
        by_number: dict[int, list[Undecided]] = {}
        for pair in await self._snapshot.undecided_of(asked) if asked else ():
            by_number.setdefault(pair.at, []).append(pair)
        return by_number

    async def _claims(
        self, answered: Sequence[Chosen], contradictions: Mapping[int, Sequence[Contradiction]]
    ) -> tuple[Mapping[int, list[Claim]], int]:
        """Of each fact the versions behind its answer, as far as they are looked at, and how many are not."""
        wanted: list[WantedClaim] = []
        claims: dict[int, list[Claim]] = {}
        beyond = 0
        for at, one in enumerate(answered):
            versions = one.fact.found.versions or []
            numbers = versions[-VALUES_MAX:]
            if len(wanted) + len(numbers) > VERSIONS_MAX:
                break
            claims[at] = []
            beyond += len(versions) - len(numbers) if one.fact.found.kind == VALUES or at in contradictions else 0
            known = self._known(one.fact)
            wanted += [WantedClaim(at, one.fact.found.fact_no or 0, number, known) for number in numbers]
        for claim in await self._snapshot.claims(wanted) if wanted else ():
            claims[claim.at].append(claim)
        return claims, beyond

    async def _unchecked(self, answered: Sequence[Chosen], claims: Mapping[int, Sequence[Claim]]) -> frozenset[str]:
        """The text memories among them that the adjudicator has not come to."""
        asked = [
            WantedCheck(claim.version_id, fact.found.fact_no or 0, self._known(fact))
            for at, said in claims.items()
            if (fact := answered[at].fact).fact_key.startswith(MEMORY_PREFIX)
            for claim in said
        ]
        return frozenset(await self._snapshot.unchecked_of(asked) if asked else ())

    async def _cuts(self, answered: Sequence[Chosen]) -> Mapping[int, During]:
        """Where no nearer scope answers (semantics §4)."""
        asks = [
            (at, (fact.found.fact_no or 0, self._wanted.valid_at, self._known(fact)))
            for at, one in enumerate(answered)
            for fact in one.facts[: one.at]
        ]
        cuts: dict[int, During] = {}
        silences = await self._snapshot.silences([ask for _, ask in asks]) if asks else ()
        for (at, _), silence in zip(asks, silences, strict=True):
            start, end = cuts.get(at, (None, None))
            cuts[at] = later(start, silence.valid_from), earlier(end, silence.valid_to)
        return cuts

    async def _held(self, chosen: Sequence[Chosen]) -> Mapping[str, int]:
        """Parked messages by key: of the facts that an answer depends on, in scopes as well where nothing is known yet."""
        if not self._snapshot.standing.holds:
            return {}
        slots = self._slots(chosen)
        parked = await self._snapshot.held([slot.fact_id for slot in slots])
        by_key: dict[str, int] = {}
        for slot in slots:
            count = parked.get(str(UUID(bytes=slot.fact_id)), 0)
            if count:
                by_key[slot.key] = by_key.get(slot.key, 0) + count
        return by_key

    def _slots(self, chosen: Sequence[Chosen]) -> list[Slot]:
        """Every fact that an answer depends on."""
        slots: list[Slot] = []
        for one in chosen:
            scopes = self._chain[: one.fact.place] if one.fact.found.kind else self._chain
            slots += self._asking.slots(self._subject, one.fact.fact_key, [str(scope) for scope in scopes])
        return slots

    async def _lacking(self, chosen: Sequence[Chosen]) -> int:
        """Parked messages that are, or may be, of facts of the chain whose keys nothing is known of."""
        if not self._snapshot.standing.holds:
            return 0
        wanted = self._wanted
        covered = Covered(wanted.tenant_id, wanted.subject_id, chain=tuple(wanted.scopes), prefix=wanted.prefix)
        parked = await parked_among(self._snapshot, covered)
        heard = {str(UUID(bytes=slot.fact_id)) for slot in self._slots(chosen)}
        count = sum(held for fact_id, held in parked.unknown.items() if fact_id not in heard)
        return max(count, int(parked.is_cut))

    async def _proposals(self, chosen: Sequence[Chosen]) -> tuple[list[Body], int]:
        heard = sorted(
            ((fact.place, fact.fact_key, fact) for one in chosen for fact in one.heard), key=lambda one: one[:2]
        )
        asked = [self._as_known(at, fact) for at, (_, _, fact) in enumerate(heard)]
        found = (
            await self._snapshot.proposals(asked, valid_at=self._wanted.valid_at, limit=QUESTIONS_MAX) if asked else []
        )
        told = Asked(self._subject)
        bodies = [told.proposal(heard[one.at][2], str(self._chain[heard[one.at][0] - 1]), one) for one in found]
        return bodies, found[0].proposals if found else 0


def _by_key(facts: Sequence[ChainFact]) -> list[Chosen]:
    """Each key's facts with the one that answers, by the order in which keys are met."""
    by_key: dict[str, list[ChainFact]] = {}
    for fact in facts:
        by_key.setdefault(fact.fact_key, []).append(fact)
    return [Chosen(chain, nearest([fact.found for fact in chain])) for chain in by_key.values()]


def _questions(asked: Asked, looked: Looked, *, is_first: bool) -> Body:
    """The questions come with the first page, their number with each."""
    bodies, counts = conflicts_and_reviews(asked, looked.answering)
    return {
        "questions": [*bodies, *looked.proposals] if is_first else [],
        "questions_count": {**counts, "proposal": looked.proposals_count},
    }


def _too_long(one: Settled, characters: int) -> Body:
    fact = one.answering.fact
    return {"fact_id": fact.fact_id, "key": fact.fact_key, "scope": one.answering.scope, "characters": characters}
