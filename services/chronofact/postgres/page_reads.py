"""Reads that page or bring questions up: lists at a cut of the log, chains of scopes, conflicts, proposals, reviews."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from chronofact.contracts.context import (
    AsKnown,
    ChainFact,
    ContextWanted,
    Contradiction,
    Proposal,
    Undecided,
    WantedCheck,
)
from chronofact.contracts.reading import (
    Decision,
    Edge,
    EdgesWanted,
    FactHead,
    FactsWanted,
    Found,
    ListedFact,
    Rectangle,
    Side,
)
from chronofact.postgres.memory_reads import limit_scopes
from chronofact.postgres.spelling import Instant, InstantArray, Int8Array, UuidArray

_NIL: Final = UUID(int=0)
_SIDE_COLUMNS: Final = 6


class PageReads:
    """Of a snapshot that runs statements by name."""

    @abstractmethod
    async def _all(self, name: str, filters: tuple[str, ...] = (), **parameters: Any) -> list[tuple[Any, ...]]: ...

    async def facts(self, wanted: FactsWanted) -> list[ListedFact]:
        """A page by scope and key."""
        filters: list[str] = []
        parameters: dict[str, Any] = {
            "tenant_id": wanted.tenant_id,
            "subject_id": wanted.subject_id,
            "valid_at": Instant(wanted.valid_at),
            "system_as_of": Instant.of(wanted.system_as_of),
            "next_offsets": _cut(wanted.next_offsets),
            "limit": wanted.limit,
        }
        parameters |= zip(("after_kind", "after_scope", "after_key"), wanted.after, strict=True)
        if wanted.scope is not None:
            filters.append("and one.scope_kind = %(scope_kind)s and one.scope_key = %(scope_key)s")
            parameters["scope_kind"], parameters["scope_key"] = wanted.scope
        if wanted.prefix is not None:
            filters.append("and starts_with(one.fact_key, %(prefix)s)")
            parameters["prefix"] = wanted.prefix
        limit_scopes("one", wanted.scopes, filters, parameters)
        rows = await self._all("facts", tuple(filters), **parameters)
        return [ListedFact(row[0], row[1], row[2], row[3], row[4], Found(*row[5:])) for row in rows]

    async def timeline(self, fact_no: int, *, system_as_of: int | None, after: int, limit: int) -> list[Rectangle]:
        """A page by when it became known, as known then; ``after`` counts rectangles."""
        as_of = Instant.of(system_as_of)
        rows = await self._all("timeline", fact_no=fact_no, system_as_of=as_of, after=after, limit=limit)
        return [Rectangle(*row) for row in rows]

    async def chain(self, wanted: ContextWanted) -> list[ChainFact]:
        """The facts of a chain of scopes, nearest scope first, then by key."""
        rows = await self._all(
            "context_facts",
            tenant_id=wanted.tenant_id,
            subject_id=wanted.subject_id,
            scope_kinds=[kind for kind, _ in wanted.scopes],
            scope_keys=[key for _, key in wanted.scopes],
            prefix=wanted.prefix,
            valid_at=Instant(wanted.valid_at),
            system_as_of=Instant.of(wanted.system_as_of),
            next_offsets=_cut(wanted.next_offsets),
            limit=wanted.limit,
        )
        return [ChainFact(row[0], row[1], row[2], row[3], Found(*row[4:])) for row in rows]

    async def proposals(self, asked: Sequence[AsKnown], *, valid_at: int, limit: int) -> list[Proposal]:
        """Versions of those facts that wait for their activation and are not over at the instant."""
        rows = await self._all("proposals", valid_at=Instant(valid_at), limit=limit, **_as_known(asked))
        return [Proposal(*row) for row in rows]

    async def contradictions(self, asked: Sequence[AsKnown]) -> list[Contradiction]:
        """Pairs of those facts that contradict each other, unsettled."""
        return [Contradiction(*row) for row in await self._all("contradictions", **_as_known(asked))]

    async def undecided_of(self, asked: Sequence[AsKnown]) -> list[Undecided]:
        """Pairs of memories of those facts that wait for a verdict."""
        return [Undecided(*row) for row in await self._all("context_undecided", **_as_known(asked))]

    async def unchecked_of(self, asked: Sequence[WantedCheck]) -> list[str]:
        """Of those text memories the ones that nobody had held against the others."""
        rows = await self._all(
            "context_unchecked",
            version_ids=UuidArray.of([UUID(one.version_id).bytes for one in asked]),
            fact_nos=Int8Array.of([one.fact_no for one in asked]),
            system_as_ofs=InstantArray.of([one.system_as_of for one in asked]),
        )
        return [version_id for (version_id,) in rows]

    async def edges(self, wanted: EdgesWanted) -> list[Edge]:
        """A page of conflict edges, oldest first."""
        filters: list[str] = []
        after = wanted.after
        parameters: dict[str, Any] = {
            "tenant_id": wanted.tenant_id,
            "relation": wanted.relation,
            "limit": wanted.limit,
            "next_offsets": _cut(wanted.next_offsets),
            "after_at": "-infinity" if after is None else Instant(after[0]),
        }
        ids = (_NIL, _NIL, _NIL) if after is None else after[1:]
        parameters |= zip(("after_fact", "after_left", "after_right"), ids, strict=True)
        if wanted.subject_id is not None:
            filters.append("and f.subject_id = %(subject_id)s")
            parameters["subject_id"] = wanted.subject_id
        if wanted.fact_id is not None:
            filters.append("and f.fact_id = %(fact_id)s")
            parameters["fact_id"] = UUID(bytes=wanted.fact_id)
        version_id = wanted.version_id
        parameters["version_id"] = None if version_id is None else UUID(bytes=version_id)
        is_of_few = bool(filters) or wanted.relation == "OPEN"
        if wanted.relation == "OPEN":
            filters.append("and f.conflicts_open > 0")
        if wanted.key is not None:
            filters.append("and f.fact_key = %(key)s")
            parameters["key"] = wanted.key
        limit_scopes("f", wanted.scopes, filters, parameters)
        found = await self._all("conflicts_of_facts" if is_of_few else "conflicts_by_age", tuple(filters), **parameters)
        return await self._sides(found) if found else []

    async def _sides(self, edges: Sequence[tuple[Any, ...]]) -> list[Edge]:
        rows = await self._all(
            "conflict_sides",
            fact_nos=Int8Array.of([edge[0] for edge in edges]),
            lefts=UuidArray.of([UUID(edge[1]).bytes for edge in edges]),
            rights=UuidArray.of([UUID(edge[2]).bytes for edge in edges]),
        )
        return [_edge(row) for row in rows]


def _edge(row: tuple[Any, ...]) -> Edge:
    relation, recorded_at, age_s, fact_id, fact_no, subject_id, label, kind, scope_key, key, conflicts_open, *rest = row
    head = FactHead(fact_no, subject_id, label, kind, scope_key, key, 0, 0, conflicts_open)
    left, right = Side(*rest[:_SIDE_COLUMNS]), Side(*rest[_SIDE_COLUMNS : 2 * _SIDE_COLUMNS])
    pending, *decided = rest[2 * _SIDE_COLUMNS :]
    decision = None if decided[0] is None else Decision(*decided)
    return Edge(left, right, relation, recorded_at, age_s, fact_id, head, pending, decision)


def _as_known(asked: Sequence[AsKnown]) -> dict[str, Any]:
    return {
        "ats": Int8Array.of([one.at for one in asked]),
        "fact_nos": Int8Array.of([one.fact_no for one in asked]),
        "system_as_ofs": InstantArray.of([one.system_as_of for one in asked]),
    }


def _cut(next_offsets: Sequence[int] | None) -> Int8Array | None:
    return None if next_offsets is None else Int8Array.of(next_offsets)
