"""Calls about prompts and about what is open: contexts, conflicts, and settling one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from chronofact.client.answers import Accepted, Answer
from chronofact.client.asking import ReadCalls, id_text, instants_of, params_of, repeated
from chronofact.client.commands import VersionId, When
from chronofact.client.contexts import Context, Settlement, context_of
from chronofact.client.exchange import Steps

SETTLED_WITHIN_MS: Final = 30_000


class QuestionCalls(ReadCalls):
    """Of a client that reads, and that sends decisions."""

    @abstractmethod
    def resolve(
        self,
        subject: str,
        key: str,
        *,
        scope: str | Iterable[str] | None = None,
        valid_at: When | None = None,
        as_of: When | None = None,
        after: str | None = None,
        wait_ms: int | None = None,
    ) -> Steps[Answer]: ...

    @abstractmethod
    def resolve_conflict(
        self,
        subject: str,
        key: str,
        left: VersionId,
        right: VersionId,
        *,
        keep: VersionId | None,
        decided_at: When,
        scope: str | None = None,
        decided_by: str | None = None,
        reason: str | None = None,
    ) -> Steps[Accepted]: ...

    def context(
        self,
        subject: str,
        *,
        scope: str | Iterable[str] | None = None,
        budget: int | None = None,
        prefix: str | None = None,
        valid_at: When | None = None,
        as_of: When | None = None,
        cursor: str | None = None,
        after: str | None = None,
        wait_ms: int | None = None,
    ) -> Steps[Context]:
        """What may go into a prompt, in at most ``budget`` characters; what is open comes apart, as questions."""
        instants = instants_of(valid_at, as_of)
        params = params_of(subject=subject, budget=budget, prefix=prefix, **instants, cursor=cursor)
        params += repeated("scope", scope)
        body = yield from self.get("/v1/context", params, after=after, wait_ms=wait_ms)
        return context_of(body)

    def conflicts(
        self,
        *,
        subject: str | None = None,
        key: str | None = None,
        fact_id: UUID | str | None = None,
        version_id: VersionId | None = None,
        relation: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        after: str | None = None,
        wait_ms: int | None = None,
    ) -> Steps[Any]:
        """One page of conflict edges with both values, oldest first, as the reader gives it."""
        params = params_of(
            subject=subject,
            key=key,
            fact_id=fact_id,
            version_id=version_id,
            relation=relation,
            limit=limit,
            cursor=cursor,
        )
        return self.get("/v1/conflicts", params, after=after, wait_ms=wait_ms)

    def settle(
        self,
        subject: str,
        key: str,
        left: VersionId,
        right: VersionId,
        *,
        keep: VersionId | None,
        scope: str | None = None,
        decided_at: When | None = None,
        by: str | None = None,
        reason: str | None = None,
        wait_ms: int = SETTLED_WITHIN_MS,
    ) -> Steps[Settlement]:
        """``resolve_conflict``, and then what it came to: one of the two is kept, or (None) neither; decided now."""
        accepted = yield from self.resolve_conflict(
            subject,
            key,
            left,
            right,
            keep=keep,
            decided_at=decided_at or datetime.now(UTC),
            scope=scope,
            decided_by=by,
            reason=reason,
        )
        counts = yield from self._counts(accepted, id_text(left), id_text(right), wait_ms)
        answer = yield from self.resolve(subject, key, scope=scope, after=accepted.position, wait_ms=0)
        return Settlement(accepted, counts, answer)

    def _counts(self, accepted: Accepted, left: str, right: str, wait_ms: int) -> Steps[bool | None]:
        body = yield from self.conflicts(
            fact_id=accepted.fact_id, version_id=left, limit=1_000, after=accepted.position, wait_ms=wait_ms
        )
        for edge in body["conflicts"]:
            if {edge["left"]["version_id"], edge["right"]["version_id"]} == {left, right} and "decision" in edge:
                return bool(edge["decision"]["event_id"] == str(accepted.event_id))
        return None if body["freshness"]["stale"] else False
