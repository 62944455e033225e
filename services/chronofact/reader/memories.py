"""``GET /v1/memories``: a subject's text memories that hold, listed or searched by words and by nearness (ADR 37)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

from fastapi import Request

from chronofact.contracts.memories import (
    MEMORY_PREFIX,
    Asked,
    MemoriesWanted,
    MemoryFact,
    MemoryLine,
    Ranked,
    WantedMemory,
)
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.answers import Body
from chronofact.reader.cursors import Cursors, Place, natural, text
from chronofact.reader.folding import HISTORY_TOO_LONG, Reading
from chronofact.reader.freshness import with_held
from chronofact.reader.gone import Gone, gone
from chronofact.reader.held import Covered, parked_among
from chronofact.reader.lists import freshness_of_page, valid_at_of
from chronofact.reader.nearness import Nearness
from chronofact.reader.ports import Snapshot
from chronofact.reader.questions import Asking, instant_of, key_checked
from chronofact.reader.requests import limit_in, parameters, required, wait_in
from chronofact.reader.service import Reader

QUERY_CHARS_MAX: Final = 2_000
_HERE: Final = Gone(None, None)

_PARAMETERS: Final = frozenset(
    {"subject", "scope", "category", "query", "include", "valid_at", "as_of", "cursor", "limit"}
)


class Include(StrEnum):
    """What is left out unless it is asked for."""

    SUPERSEDED = "superseded"
    MERGED = "merged"
    PENDING_REVIEW = "pending_review"
    PENDING_PAIRS = "pending_pairs"


class Shown(NamedTuple):
    """A memory of a page; ``ranked`` where a query found it."""

    fact: MemoryFact
    version_no: int
    ranked: Ranked | None = None


class Memories:
    """Lists and searches."""

    def __init__(self, reader: Reader, nearness: Nearness) -> None:
        self._reader = reader
        self._nearness = nearness

    async def found(self, request: Request, asking: Asking) -> Body:
        """A page: by scope, category and last asserted first, or what a query finds, best first."""
        query = request.query_params
        found = parameters(query, _PARAMETERS, repeats=frozenset({"scope", "include"}))
        required(found, "subject")
        included = included_in(query.getlist("include"))
        words = query_in(found.get("query"))
        cursors = Cursors("/v1/memories", asking.tenant_id, query.multi_items())
        begun = cursors.place(found.get("cursor"), *((natural,) if words else (text, text, text, natural)))
        limit, wait = limit_in(found), wait_in(found)
        wanted = _wanted(asking, found, query.getlist("scope"), begun)
        asked, searched = (None, None) if words is None else await self._asked(words)
        async with self._reader.folding.reading(asking.tenant_id, None, wait) as reading:
            snapshot = reading.snapshot
            freshness = freshness_of_page(self._reader, reading, begun, wait)
            facts = await snapshot.memory_facts(wanted)
            look = _Page(snapshot, facts, included, [] if begun is None else begun.key, limit)
            page, key = await look.searched(asked) if asked else look.listed()
            lines = await snapshot.memories([_as_known(one, wanted) for one in page])
            told = await _gone(reading, page, lines, wanted)
            lacking = await parked_among(snapshot, _covered(wanted))
            cut = snapshot.standing.position if begun is None else begun.cut
        place = None if key is None else Place(key, wanted.valid_at, cut)
        return {
            "memories": [
                _body(one, line, told.get(line.version_id, _HERE), found["subject"])
                for one, line in zip(page, lines, strict=True)
            ],
            "searched": searched,
            "left_out": left_out_of(facts, included),
            "cursor": place and cursors.spell(place),
            "valid_at": format_instant(wanted.valid_at),
            "as_of": format_bound(wanted.system_as_of),
            "freshness": with_held(freshness, lacking.messages),
        }

    async def _asked(self, words: str) -> tuple[Asked, Body]:
        """Without the model a query is of words alone, and the answer says so."""
        try:
            placed = await self._nearness.place(words)
        except Rejected as refusal:
            return Asked(words, None, None), {"words": True, "nearness": False, "because": refusal.code}
        return Asked(words, placed.embedder, placed.embedding), {"words": True, "nearness": True}


class _Page:
    """One page of what is to be shown."""

    def __init__(
        self,
        snapshot: Snapshot,
        facts: Sequence[MemoryFact],
        included: frozenset[Include],
        after: Sequence[Any],
        limit: int,
    ) -> None:
        self._snapshot = snapshot
        self._facts = facts
        self._included = included
        self._after = after
        self._limit = limit

    def listed(self) -> tuple[list[Shown], list[Any] | None]:
        """The memories behind the last page's, and where this one ends."""
        page: list[Shown] = []
        for fact in sorted(self._facts, key=lambda one: one[2:5]):  # whatever the database's collation
            place = [fact.scope_kind, fact.scope_key, fact.fact_key]
            if self._after and place < list(self._after[:3]):
                continue
            below = self._after[3] if self._after and place == list(self._after[:3]) else None
            for number in numbers_of(fact, self._included):
                if below is not None and number >= below:
                    continue
                if len(page) == self._limit:
                    last = page[-1]
                    return page, [last.fact.scope_kind, last.fact.scope_key, last.fact.fact_key, last.version_no]
                page.append(Shown(fact, number))
        return page, None

    async def searched(self, asked: Asked) -> tuple[list[Shown], list[Any] | None]:
        """What the query finds behind so many, and how many there are up to its end."""
        by_number = {fact.fact_no: fact for fact in self._facts}
        among = {fact.fact_no: numbers_of(fact, self._included) for fact in self._facts}
        passed = self._after[0] if self._after else 0
        ranked = await self._snapshot.memories_ranked(among, asked, passed=passed, limit=self._limit + 1)
        page = [Shown(by_number[one.fact_no], one.version_no, one) for one in ranked[: self._limit]]
        return page, [passed + self._limit] if len(ranked) > self._limit else None


def numbers_of(fact: MemoryFact, included: frozenset[Include]) -> list[int]:
    """A fact's versions that are to be shown, the last asserted first."""
    shown = fact.eligible
    if Include.SUPERSEDED in included:
        shown = shown + fact.superseded
    if Include.MERGED in included:
        shown = shown + fact.merged
    hidden = set[int]()
    if Include.PENDING_REVIEW not in included:
        hidden.update(fact.under_review)
    if Include.PENDING_PAIRS not in included:
        hidden.update(fact.undecided)
    if shown is not fact.eligible:
        shown = sorted(shown, reverse=True)
    return [number for number in shown if number not in hidden] if hidden else shown


def left_out_of(facts: Sequence[MemoryFact], included: frozenset[Include]) -> dict[str, int]:
    """How many memories each reason keeps from being shown; one that is open in two ways counts for both."""
    counts = dict.fromkeys((one.value for one in Include if one not in included), 0)
    for fact in facts:
        eligible = set(fact.eligible)
        for name, numbers in (
            (Include.SUPERSEDED, len(fact.superseded)),
            (Include.MERGED, len(fact.merged)),
            (Include.PENDING_REVIEW, len(eligible.intersection(fact.under_review))),
            (Include.PENDING_PAIRS, len(eligible.intersection(fact.undecided))),
        ):
            if name not in included:
                counts[name] += numbers
    return counts


def included_in(names: Sequence[str]) -> frozenset[Include]:
    """``include``, which may repeat.

    Raises:
        Rejected: ``parameter_malformed``.
    """
    if unknown := set(names) - set(Include):
        told = f"include is one of {', '.join(Include)}, not {min(unknown)[:40]!r}; it may repeat"
        raise Rejected("parameter_malformed", told, field="include")
    return frozenset(map(Include, names))


def query_in(query: str | None) -> str | None:
    """``query``; None lists.

    Raises:
        Rejected: ``field_empty``, ``field_too_long``, ``nul_character``.
    """
    if query is None:
        return None
    if not query.strip():
        raise Rejected("field_empty", "query is empty; leave it out to list all memories", field="query")
    if len(query) > QUERY_CHARS_MAX:
        raise Rejected("field_too_long", f"query is longer than {QUERY_CHARS_MAX} characters", field="query")
    if "\x00" in query:
        raise Rejected("nul_character", "query has the character U+0000", field="query")
    return query


def category_in(category: str | None) -> str | None:
    """``category``, as a key's last part.

    Raises:
        Rejected: ``key_malformed`` and its kin.
    """
    if category is not None:
        try:
            key_checked(MEMORY_PREFIX + category)
        except Rejected as error:
            raise Rejected(error.code, error.message, field="category") from None
    return category


def _wanted(asking: Asking, found: Mapping[str, str], named: Sequence[str], begun: Place | None) -> MemoriesWanted:
    return MemoriesWanted(
        tenant_id=asking.tenant_id,
        subject_id=asking.subject_id(found["subject"]),
        named=tuple((scope.kind, scope.key) for scope in asking.chain(named)) if named else (),
        category=category_in(found.get("category")),
        scopes=asking.scopes(),
        valid_at=valid_at_of(asking, found, begun),
        system_as_of=asking.instant(found.get("as_of"), "as_of"),
        next_offsets=None if begun is None else begun.next_offsets(),
    )


def _covered(wanted: MemoriesWanted) -> Covered:
    return Covered(
        wanted.tenant_id,
        wanted.subject_id,
        chain=wanted.named or None,
        key=None if wanted.category is None else MEMORY_PREFIX + wanted.category,
        prefix=MEMORY_PREFIX,
        scopes=wanted.scopes,
    )


def _as_known(one: Shown, wanted: MemoriesWanted) -> WantedMemory:
    as_of = one.fact.as_of
    return WantedMemory(one.fact.fact_no, one.version_no, wanted.system_as_of if as_of is None else instant_of(as_of))


def _word(one: Shown) -> str:
    if one.version_no in one.fact.superseded:
        return "superseded"
    return "merged" if one.version_no in one.fact.merged else "eligible"


async def _gone(
    reading: Reading, page: Sequence[Shown], lines: Sequence[MemoryLine], wanted: MemoriesWanted
) -> Mapping[str, Gone]:
    """Of those shown that gave way or were merged what took their place then; nothing for a fact of too many events."""
    away: dict[int, list[bytes]] = {}
    facts = {one.fact.fact_no: one for one in page}
    for one, line in zip(page, lines, strict=True):
        if _word(one) != "eligible":
            away.setdefault(one.fact.fact_no, []).append(UUID(line.version_id).bytes)
    found: dict[str, Gone] = {}
    for fact_no, version_ids in away.items():
        fact_id = UUID(facts[fact_no].fact.fact_id).bytes
        try:
            histories = await reading.histories(wanted.tenant_id, [fact_id])
        except Rejected as error:
            if error.code != HISTORY_TOO_LONG:
                raise
            continue
        asked = partial(
            gone,
            histories[fact_id].events,
            version_ids,
            valid_at=wanted.valid_at,
            system_as_of=_as_known(facts[fact_no], wanted).system_as_of,
            rule=reading.snapshot.standing.rule,
        )
        found |= {str(UUID(bytes=one)): told for one, told in (await asyncio.to_thread(asked)).items()}
    return found


def _body(one: Shown, line: MemoryLine, told: Gone, subject: str) -> Body:
    fact, number, ranked = one
    word = _word(one)
    body: Body = {
        "version_id": line.version_id,
        "text": line.text,
        "category": fact.fact_key.removeprefix(MEMORY_PREFIX),
        "fact": {
            "fact_id": str(UUID(fact.fact_id)),
            "subject": fact.subject_label or subject,
            "scope": f"{fact.scope_kind}:{fact.scope_key}",
            "key": fact.fact_key,
        },
        "valid_during": (line.valid_from, line.valid_to),
        "valid_from_known": line.valid_from is not None,
        "recorded_at": line.recorded_at,
        "source_id": line.source_id,
        "confidence": line.confidence,
        "standing": word,
        "superseded_by": _id(told.superseded_by) if word == "superseded" else None,
        "merged_into": _id(told.merged_into) if word == "merged" else None,
        "pending_review": number in fact.under_review,
        "pending_pairs": number in fact.undecided,
        "checked": line.is_checked,
    }
    if ranked is not None:
        body["score"] = round(ranked.score, 6)
        body["places"] = {"words": ranked.place_worded, "nearness": ranked.place_near, "kind": ranked.place_kind}
        body["cosine"] = None if ranked.cosine is None else round(ranked.cosine, 4)
    return body


def _id(version_id: bytes | None) -> str | None:
    return None if version_id is None else str(UUID(bytes=version_id))
