"""A snapshot with the unread tail of some facts folded over it: whoever reads it sees no difference."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, TypeVar
from uuid import UUID

from chronofact.contracts.context import AsKnown, Contradiction
from chronofact.contracts.reading import (
    Ask,
    Claim,
    EventLine,
    FactHead,
    Found,
    Rectangle,
    Silence,
    Standing,
    VersionLine,
    WantedClaim,
)
from chronofact.reader.folded import FoldedFact
from chronofact.reader.ports import Snapshot

A = TypeVar("A")
T = TypeVar("T")


class FoldedSnapshot:
    """Asks a folded fact for what the projection can't know yet, and the projection for the rest."""

    def __init__(
        self,
        below: Snapshot,
        standing: Standing,
        facts: Mapping[bytes, FoldedFact],
        held: Mapping[bytes, int],
        executor: Executor,
    ) -> None:
        self.standing = standing
        self._below = below
        self._facts = facts
        self._held = held
        self._by_no = {fact.head.fact_no: fact for fact in facts.values()}
        self._executor = executor

    async def answers(self, asks: Sequence[Ask]) -> list[Found]:
        """In the order of the asks."""
        ours: dict[bytes, list[int]] = {}
        for place, ask in enumerate(asks):
            fact = self._facts.get(ask.fact_id)
            if fact is not None and not fact.is_stored_as_of(ask.system_as_of):
                ours.setdefault(ask.fact_id, []).append(place)
        said: dict[int, Found] = {}
        for fact_id, places in ours.items():
            wanted = [(asks[place].valid_at, asks[place].system_as_of) for place in places]
            said.update(zip(places, await self._away(self._facts[fact_id].found, wanted), strict=True))
        return await self._filled(asks, said, self._answers_below)

    async def _answers_below(self, asks: list[Ask]) -> list[Found]:
        """Of what was known before the tail; the subject's label is not of any time."""
        found = await self._below.answers(asks)
        return [
            one
            if (fact := self._facts.get(ask.fact_id)) is None
            else one._replace(subject_label=fact.head.subject_label)
            for ask, one in zip(asks, found, strict=True)
        ]

    async def silences(self, asks: Sequence[tuple[int, int, int | None]]) -> list[Silence]:
        """For each fact number, ``valid_at`` and ``system_as_of``, in order."""
        said: dict[int, Silence] = {}
        for place, (fact_no, valid_at, as_of) in enumerate(asks):
            fact = self._by_no.get(fact_no)
            if fact is not None and not fact.is_stored_as_of(as_of):
                (said[place],) = await self._away(fact.silences, [(valid_at, as_of)])
        return await self._filled(asks, said, self._below.silences)

    async def claims(self, wanted: Sequence[WantedClaim]) -> list[Claim]:
        """In no particular order."""
        ours: dict[int, list[tuple[int, int, int | None]]] = {}
        rest: list[WantedClaim] = []
        for one in wanted:
            fact = self._by_no.get(one.fact_no)
            if fact is None or fact.is_stored_as_of(one.system_as_of):
                rest.append(one)
            else:
                ours.setdefault(one.fact_no, []).append((one.at, one.version_no, one.system_as_of))
        claims = await self._below.claims(rest) if rest else []
        for fact_no, asks in ours.items():
            claims += await self._away(self._by_no[fact_no].claims, asks)
        return claims

    async def contradictions(self, asked: Sequence[AsKnown]) -> list[Contradiction]:
        """Pairs of those facts that contradict each other, unsettled."""
        rest: list[AsKnown] = []
        found: list[Contradiction] = []
        for one in asked:
            fact = self._by_no.get(one.fact_no)
            if fact is None or fact.is_stored_as_of(one.system_as_of):
                rest.append(one)
            else:
                (pairs,) = await self._away(fact.contradictions, [(one.at, one.system_as_of)])
                found += pairs
        return found + (await self._below.contradictions(rest) if rest else [])

    async def held(self, fact_ids: Sequence[bytes]) -> Mapping[str, int]:
        """How many messages of those facts are parked, or will be."""
        rest = [one for one in fact_ids if one not in self._held]
        counted = {str(UUID(bytes=one)): self._held[one] for one in fact_ids if self._held.get(one)}
        return {**(await self._below.held(rest) if rest else {}), **counted}

    async def fact(self, tenant_id: UUID, fact_id: bytes) -> FactHead | None:
        """The tenant's fact of that id."""
        fact = self._facts.get(fact_id)
        if fact is None:
            return await self._below.fact(tenant_id, fact_id)
        return await self._away(fact.whole_head) if fact.tenant_id == tenant_id else None

    async def events(self, fact_no: int, *, after: int, limit: int) -> list[EventLine]:
        """A page by ``event_seq``."""
        fact = self._by_no.get(fact_no)
        if fact is None:
            return await self._below.events(fact_no, after=after, limit=limit)
        page = await self._below.events(fact_no, after=after, limit=limit) if after < fact.stored else []
        return [*page, *fact.lines(after=after, limit=limit - len(page))]

    async def versions(self, fact_no: int, *, after: int, limit: int) -> list[VersionLine]:
        """A page by number."""
        fact = self._by_no.get(fact_no)
        if fact is None:
            return await self._below.versions(fact_no, after=after, limit=limit)
        return await self._away(lambda: fact.versions(after=after, limit=limit))

    async def timeline(self, fact_no: int, *, system_as_of: int | None, after: int, limit: int) -> list[Rectangle]:
        """A page by when it became known, as known then; ``after`` counts rectangles."""
        fact = self._by_no.get(fact_no)
        if fact is None:
            return await self._below.timeline(fact_no, system_as_of=system_as_of, after=after, limit=limit)
        return await self._away(lambda: fact.timeline(system_as_of=system_as_of, after=after, limit=limit))

    async def claims_of(self, fact_no: int, version_nos: Sequence[int]) -> Mapping[int, tuple[str, bytes]]:
        """Id and value of some of a fact's versions, by number."""
        fact = self._by_no.get(fact_no)
        if fact is None:
            return await self._below.claims_of(fact_no, version_nos)
        return fact.claims_of(version_nos)

    def __getattr__(self, name: str) -> Any:
        """What is read here as the projection alone has it."""
        return getattr(self._below, name)

    async def _away(self, call: Callable[..., T], *given: object) -> T:
        """Runs where it keeps no other request waiting."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, call, *given)

    @staticmethod
    async def _filled(
        asks: Sequence[A], said: Mapping[int, T], ask_below: Callable[[list[A]], Awaitable[list[T]]]
    ) -> list[T]:
        """In the order of the asks: what was said, and for the others what the projection says."""
        if not said:
            return await ask_below(list(asks))
        rest = [place for place in range(len(asks)) if place not in said]
        below = await ask_below([asks[place] for place in rest]) if rest else []
        whole = {**said, **dict(zip(rest, below, strict=True))}
        return [whole[place] for place in range(len(asks))]
