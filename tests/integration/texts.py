"""Text memories said without models: places made of words, of which some mean the same."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from struct import pack
from uuid import UUID
from zlib import crc32

from chronofact.contracts.derived import DIMENSIONS, Derived, encode
from chronofact.contracts.pending import PendingPair, reason_of_check
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.events import (
    Cardinality,
    Decider,
    FactAsserted,
    Lifecycle,
    RelationDeclared,
    RelationsChecked,
    Succession,
    Verdict,
)
from chronofact.domain.identity import DEVELOPMENT_TENANT, fact_id_of, version_id_of
from chronofact.domain.interval import Interval, parse_instant
from chronofact.kafka.partitioning import partition_of
from chronofact.reader.nearness import Placed
from tests.integration.saying import PARTITIONS, Fact, Said

EMBEDDER = "words/1"
SAME = {"tongue": "language", "speaks": "language", "beverage": "tea", "drink": "tea"}
"""What a model would know."""


def place_of(text: str) -> bytes:
    """One number a word, of length 1 together."""
    numbers = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        numbers[crc32(SAME.get(word, word).encode()) % DIMENSIONS] += 1.0
    length = sum(number * number for number in numbers) ** 0.5 or 1.0
    return pack(f"<{DIMENSIONS}e", *(number / length for number in numbers))


class WordNearness:
    """Places queries as the texts below are placed."""

    async def place(self, query: str) -> Placed:
        return Placed(EMBEDDER, place_of(query))


class Remembered(Fact):
    """A subject's memories of a category."""

    def __init__(
        self,
        subject: str,
        category: str = "preferences",
        *,
        scope: tuple[str, str] = ("user", "self"),
        tenant: UUID = DEVELOPMENT_TENANT,
    ) -> None:
        super().__init__(subject, f"memory/{category}", tenant=tenant)
        self.identity = replace(self.identity, scope_kind=scope[0], scope_key=scope[1])
        self.canonical = self.identity.canonical()
        self.fact_id = fact_id_of(self.identity)
        self.partition = partition_of(self.fact_id, PARTITIONS)

    def says_that(
        self,
        text: str,
        since: str | None = None,
        until: str | None = None,
        *,
        confidence: float | None = None,
        source: str = "chat",
        is_placed: bool = True,
        lifecycle: Lifecycle = Lifecycle.ACTIVE,
        keys: Iterable[str] = (),
    ) -> Said:
        spelled, evidence = canonical(text), digest(source.encode())
        start, end = (None if one is None else parse_instant(one) for one in (since, until))
        version_id = version_id_of(
            self.fact_id, value=spelled, valid_from=start, valid_to=end, source_id=source, source_hash=evidence
        )
        what = FactAsserted(
            version_id,
            spelled,
            digest(spelled),
            Interval(start, end),
            source,
            evidence,
            lifecycle,
            Cardinality.MANY,
            Succession.EXPLICIT,
            confidence=confidence,
            valid_from_known=start is not None,
        )
        derived = encode(
            Derived("none/1", [], list(keys), EMBEDDER if is_placed else None, place_of(text) if is_placed else None)
        )
        return self.says(what, version_id=version_id, value_hash=what.value_hash, derived=derived)

    def declares(
        self,
        verdict: Verdict,
        one: Said,
        other: Said,
        *,
        newer: Said | None = None,
        by: Decider = Decider.RULE,
        decided_at: str = "2026-06-02T00:00:00Z",
        reason: str = "slot_changed",
    ) -> Said:
        left, right = sorted((id_of(one), id_of(other)))
        newer_id = None if newer is None else id_of(newer)
        at = parse_instant(decided_at)
        return self.says(RelationDeclared(left, right, verdict, newer_id, at, by, reason, by is Decider.MODEL))

    def checked(
        self, one: Said, pending: Iterable[Said] = (), *, pairs: int = 0, why: str = "model_unreachable"
    ) -> Said:
        waiting = [PendingPair(id_of(other), why) for other in pending]
        reason = reason_of_check("no_pairs" if not waiting else "model", waiting)
        return self.says(RelationsChecked(id_of(one), max(pairs, len(waiting)), 0, len(waiting), reason))


def id_of(said: Said) -> bytes:
    assert said.version_id is not None
    return said.version_id
