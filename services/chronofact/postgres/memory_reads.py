"""Reads of text memories within a snapshot: standings by the timeline, exact search, and what was declared of pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, chain
from struct import unpack
from typing import Any, Final
from uuid import UUID

from chronofact.contracts.derived import DIMENSIONS
from chronofact.contracts.memories import (
    Asked,
    MemoriesWanted,
    MemoryFact,
    MemoryLine,
    MemoryPlace,
    Ranked,
    RelationLine,
    RelationsWanted,
    UndecidedLine,
    WantedMemory,
)
from chronofact.contracts.reading import Scopes
from chronofact.domain.interval import parse_instant
from chronofact.postgres.spelling import Instant, InstantArray, Int8Array

RANKED_MAX: Final = 1_000
"""Of each way of searching, how many of the best are joined; a search ends there."""
NEAR_AT: Final = 0.2
"""A cosine below counts the less the smaller it is: what has nothing in common lies there, and comes last."""
SMOOTHING: Final = 10.0
WEIGHT_NEAR: Final = 1.5
WEIGHT_WORDED: Final = 1.0
WEIGHT_KIND: Final = 1.0
"""How places become scores (ADR 37): what words alone find best comes right after the few that are nearest."""
TEXT_CHARS_MAX: Final = 280
"""Of the texts that a relation is told with."""
UNDECIDED_MAX: Final = 1_000

OF_FACTS: Final = "and f.fact_no = any(%(fact_nos)s)"
OF_SUBJECT: Final = "and f.subject_id = %(subject_id)s"


class MemoryReads:
    """Of a snapshot that runs statements by name."""

    @abstractmethod
    async def _all(self, name: str, filters: tuple[str, ...] = (), **parameters: Any) -> list[tuple[Any, ...]]: ...

    async def memory_facts(self, wanted: MemoriesWanted) -> list[MemoryFact]:
        """The subject's facts of memories, by scope and key, each with what holds of it and what does not."""
        filters: list[str] = []
        parameters: dict[str, Any] = {
            "tenant_id": wanted.tenant_id,
            "subject_id": wanted.subject_id,
            "system_as_of": Instant.of(wanted.system_as_of),
            "next_offsets": None if wanted.next_offsets is None else Int8Array.of(wanted.next_offsets),
        }
        if wanted.named:
            filters.append(
                "and (f.scope_kind, f.scope_key) in"
                " (select * from unnest(%(named_kinds)s::text[], %(named_keys)s::text[]))"
            )
            parameters["named_kinds"] = [kind for kind, _ in wanted.named]
            parameters["named_keys"] = [key for _, key in wanted.named]
        if wanted.category is not None:
            filters.append("and f.fact_key = 'memory/' || %(category)s")
            parameters["category"] = wanted.category
        limit_scopes("f", wanted.scopes, filters, parameters)
        heads = await self._all("memory_facts", tuple(filters), **parameters)
        return await self._standings(heads, wanted) if heads else []

    async def _standings(self, heads: Sequence[tuple[Any, ...]], wanted: MemoriesWanted) -> list[MemoryFact]:
        as_ofs = {head[0]: wanted.system_as_of if head[6] is None else parse_instant(head[6]) for head in heads}
        shown = {
            line[0]: line[1:]
            for line in await self._all("memory_standings", valid_at=Instant(wanted.valid_at), **_known(as_ofs))
        }
        silent = {fact_no for fact_no, line in shown.items() if line[4]}
        proposed = await self._numbers("memory_proposed", as_ofs, silent)
        reviews = await self._numbers("memory_reviews", as_ofs, {head[0] for head in heads if head[7]})
        undecided = await self._numbers("memory_undecided", as_ofs, {head[0] for head in heads if head[8]})
        facts = []
        for head in heads:
            fact_no, line = head[0], shown.get(head[0])
            if line is not None:
                merged = [number for number in line[4] if number not in proposed[fact_no]]
                pending = sorted(reviews[fact_no]), sorted(undecided[fact_no])
                facts.append(MemoryFact._make((*head[:7], _eligible(*line[:3]), line[3], merged, *pending)))
        return facts

    async def _numbers(
        self, name: str, as_ofs: Mapping[int, int | None], fact_nos: Collection[int]
    ) -> Mapping[int, set[int]]:
        """Version numbers by fact, of those facts that there is something to ask about."""
        found: dict[int, set[int]] = defaultdict(set)
        if fact_nos:
            for fact_no, version_no in await self._all(name, **_known({one: as_ofs[one] for one in fact_nos})):
                found[fact_no].add(version_no)
        return found

    async def memories_ranked(
        self, among: Mapping[int, Sequence[int]], asked: Asked, *, passed: int, limit: int
    ) -> list[Ranked]:
        """Those of the memories, version numbers by fact, that the query finds, best first, behind so many."""
        ends = list(accumulate(map(len, among.values())))
        rows = await self._all(
            "memory_search",
            fact_nos=Int8Array.of(list(among)),
            firsts=Int8Array.of([end - len(numbers) + 1 for end, numbers in zip(ends, among.values(), strict=True)]),
            lasts=Int8Array.of(ends),
            version_nos=Int8Array.of(list(chain.from_iterable(among.values()))),
            query=asked.words,
            embedder=asked.embedder,
            embedding=_halfvec(asked.embedding),
            ranked_max=RANKED_MAX,
            near_at=NEAR_AT,
            smoothing=SMOOTHING,
            weight_near=WEIGHT_NEAR,
            weight_worded=WEIGHT_WORDED,
            weight_kind=WEIGHT_KIND,
            passed=passed,
            limit=limit,
        )
        return [Ranked(*row) for row in rows]

    async def memories(self, wanted: Sequence[WantedMemory]) -> list[MemoryLine]:
        """In the order asked for."""
        rows = await self._all(
            "memory_lines",
            fact_nos=Int8Array.of([one.fact_no for one in wanted]),
            version_nos=Int8Array.of([one.version_no for one in wanted]),
            system_as_ofs=InstantArray.of([one.system_as_of for one in wanted]),
        )
        return [MemoryLine(*row) for row in rows]

    async def memory_places(self, tenant_id: UUID, version_id: bytes) -> list[MemoryPlace]:
        """The tenant's fact where something was said of that memory; at most one."""
        rows = await self._all("memory_places", tenant_id=tenant_id, version_id=UUID(bytes=version_id))
        return [MemoryPlace(*row) for row in rows]

    async def relations(self, wanted: RelationsWanted, fact_nos: Sequence[int]) -> list[RelationLine]:
        """A page by fact and pair; ``fact_nos`` are where the one memory is, where one is asked for."""
        filters, parameters = _limits(wanted, fact_nos)
        after = zip(("after_fact", "after_left", "after_right"), wanted.after, strict=True)
        rows = await self._all(
            "relations",
            filters,
            **parameters,
            **dict(after),
            relation=wanted.relation,
            chars_max=TEXT_CHARS_MAX,
            limit=wanted.limit,
            next_offsets=None if wanted.next_offsets is None else Int8Array.of(wanted.next_offsets),
        )
        return [RelationLine(*row) for row in rows]

    async def undecided(self, wanted: RelationsWanted, fact_nos: Sequence[int]) -> list[UndecidedLine]:
        """Pairs that wait for a verdict, the longest so first."""
        filters, parameters = _limits(wanted, fact_nos)
        rows = await self._all(
            "relations_undecided", filters, **parameters, chars_max=TEXT_CHARS_MAX, limit=UNDECIDED_MAX
        )
        return [UndecidedLine(*row) for row in rows]

    async def has_unchecked(self, wanted: RelationsWanted) -> bool:
        """Whether some memory of the subject has not been checked yet."""
        filters, parameters = _limits(wanted, ())
        return bool(await self._all("relations_unchecked", filters, **parameters))


def _known(as_ofs: Mapping[int, int | None]) -> dict[str, Any]:
    return {"fact_nos": Int8Array.of(list(as_ofs)), "system_as_ofs": InstantArray.of(list(as_ofs.values()))}


def _eligible(kind: int | None, versions: Sequence[int] | None, by_lane: list[int]) -> list[int]:
    """What lane 0 names, or where it leaves that to them what the other lanes say."""
    if kind == 0:
        return []
    if kind in {1, 2} and versions is not None:
        return sorted(versions, reverse=True)
    return by_lane


def limit_scopes(table: str, scopes: Scopes | None, filters: list[str], parameters: dict[str, Any]) -> None:
    """Adds the condition that a list is limited to the scopes of a credential."""
    if scopes is None:
        return
    spelled = f"{table}.scope_kind || ':' || {table}.scope_key"
    filters.append(
        f"and ({spelled} = any(%(scopes_exact)s::text[])"
        f" or exists (select from unnest(%(scopes_prefixes)s::text[]) as p (x) where starts_with({spelled}, p.x)))"
    )
    parameters["scopes_exact"], parameters["scopes_prefixes"] = list(scopes.exact), list(scopes.prefixes)


def _limits(wanted: RelationsWanted, fact_nos: Sequence[int]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Which facts, and what is said of which memory."""
    filters: list[str] = []
    version_id = None if wanted.version_id is None else UUID(bytes=wanted.version_id)
    parameters: dict[str, Any] = {"tenant_id": wanted.tenant_id, "version_id": version_id}
    if version_id is not None:
        filters.append(OF_FACTS)
        parameters["fact_nos"] = Int8Array.of(fact_nos)
    if wanted.subject_id is not None:
        filters.append(OF_SUBJECT)
        parameters["subject_id"] = wanted.subject_id
    limit_scopes("f", wanted.scopes, filters, parameters)
    return tuple(filters), parameters


def _halfvec(embedding: bytes | None) -> str | None:
    return None if embedding is None else str(list(unpack(f"<{DIMENSIONS}e", embedding)))
