"""A person's word about two text memories."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from chronofact.client.answers import Accepted
from chronofact.client.asking import id_text, params_of
from chronofact.client.commands import VersionId, When
from chronofact.client.exchange import Steps
from chronofact.client.searches import SearchCalls

DECIDED_WITHIN_MS: Final = 30_000
_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a decision: ``counts`` says whether it is the one that counts, None that this can't be seen yet.

    ``relation`` is the declaration that counts, as the reader gives it.
    """

    accepted: Accepted
    counts: bool | None
    relation: Mapping[str, Any] | None


class VerdictCalls(SearchCalls):
    """Of a client that reads, and that sends decisions."""

    @abstractmethod
    def declare_relation(
        self,
        subject: str,
        key: str,
        left: VersionId,
        right: VersionId,
        relation: str,
        *,
        decided_at: When,
        decided_by: str,
        newer: VersionId | None = None,
        scope: str | None = None,
        reason: str | None = None,
        llm_call_made: bool | None = None,
        model: str | None = None,
    ) -> Steps[Accepted]: ...

    def decide(
        self,
        subject: str,
        category: str,
        left: VersionId,
        right: VersionId,
        relation: str,
        *,
        newer: VersionId | None = None,
        scope: str | None = None,
        by: str | None = None,
        reason: str | None = None,
        decided_at: When | None = None,
        wait_ms: int = DECIDED_WITHIN_MS,
    ) -> Steps[Verdict]:
        """Says as a person how two memories relate, and what it came to. It outranks rule and model; a later one takes it back.

        Who says so (``by``) is the beginning of the reason.
        """
        accepted = yield from self.declare_relation(
            subject,
            f"memory/{category}",
            left,
            right,
            relation,
            newer=newer,
            scope=scope,
            decided_at=decided_at or datetime.now(UTC),
            decided_by="person",
            reason=": ".join(part for part in (by, reason) if part) or None,
        )
        # reads about a memory wait until it is checked; one about its fact waits for the position alone
        params = params_of(fact_id=accepted.fact_id, limit=1)
        yield from self.get("/v1/conflicts", params, after=accepted.position, wait_ms=wait_ms)
        found = yield from self.pair(left, right, after=accepted.position)
        if found.relation is None:
            return Verdict(accepted, None if found.is_stale else False, None)
        return Verdict(accepted, found.relation["event_id"] == str(accepted.event_id), found.relation)

    def pair(self, left: VersionId | UUID, right: VersionId | UUID, *, after: str | None = None) -> Steps[Pair]:
        """What is known of two memories now."""
        cursor, wanted = None, {id_text(left), id_text(right)}
        while True:
            body = yield from self.relations(version_id=left, limit=_PAGE, cursor=cursor, after=after, wait_ms=0)
            relation = _of(body["relations"], wanted)
            cursor = body["cursor"]
            if relation is not None or cursor is None:
                return Pair(body["fact"], relation, _of(body["pending"], wanted), is_stale=body["freshness"]["stale"])


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories: ``fact`` is that of the left one, where anything was said of it; what counts, or that they wait."""

    fact: Mapping[str, Any] | None
    relation: Mapping[str, Any] | None
    pending: Mapping[str, Any] | None
    is_stale: bool


def _of(lines: Iterable[Mapping[str, Any]], pair: set[str]) -> Mapping[str, Any] | None:
    return next((one for one in lines if {one["left"], one["right"]} == pair), None)
