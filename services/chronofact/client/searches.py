"""Calls that read text memories: what holds, what a query finds, and what was decided of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from chronofact.client.asking import ReadCalls, instants_of, params_of, repeated
from chronofact.client.commands import VersionId, When
from chronofact.client.exchange import Steps


class SearchCalls(ReadCalls):
    """Of a client that reads."""

    def memories(
        self,
        subject: str,
        query: str | None = None,
        *,
        scope: str | Iterable[str] | None = None,
        category: str | None = None,
        include: str | Iterable[str] | None = None,
        valid_at: When | None = None,
        as_of: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        after: str | None = None,
        wait_ms: int | None = None,
    ) -> Steps[Any]:
        """One page of text memories that hold, as the reader gives it; with a query those that it finds, best first.

        ``include`` names what is left out otherwise: superseded, merged, pending_review, pending_pairs.
        """
        instants = instants_of(valid_at, as_of)
        params = params_of(subject=subject, query=query, category=category, **instants, limit=limit, cursor=cursor)
        params += [*repeated("scope", scope), *repeated("include", include)]
        return self.get("/v1/memories", params, after=after, wait_ms=wait_ms)

    def relations(
        self,
        subject: str | None = None,
        *,
        version_id: VersionId | UUID | None = None,
        relation: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        after: str | None = None,
        wait_ms: int | None = None,
    ) -> Steps[Any]:
        """One page of relations of text memories, as the reader gives it: a subject's, or one memory's once it was checked."""
        params = params_of(subject=subject, version_id=version_id, relation=relation, limit=limit, cursor=cursor)
        return self.get("/v1/relations", params, after=after, wait_ms=wait_ms)
