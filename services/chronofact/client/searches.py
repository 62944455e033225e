"""Calls that read text memories: what holds, what a query finds, and what was decided of pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from chronofact.client.commands import VersionId, When, instant_text
from chronofact.client.exchange import Steps


class SearchCalls:
    """Of a client that reads."""

    @abstractmethod
    def get(
        self, path: str, params: Iterable[tuple[str, str]] = (), *, after: str | None = None, wait_ms: int | None = None
    ) -> Steps[Any]: ...

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
        instants = {"valid_at": instant_text(valid_at, "valid_at"), "as_of": instant_text(as_of, "as_of")}
        params = _params(subject=subject, query=query, category=category, **instants, limit=limit, cursor=cursor)
        params += [("scope", one) for one in _several(scope)] + [("include", one) for one in _several(include)]
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
        params = _params(subject=subject, version_id=version_id, relation=relation, limit=limit, cursor=cursor)
        return self.get("/v1/relations", params, after=after, wait_ms=wait_ms)


def _several(named: str | Iterable[str] | None) -> list[str]:
    if named is None:
        return []
    return [named] if isinstance(named, str) else list(named)


def _params(**fields: Any) -> list[tuple[str, str]]:
    return [(name, str(field)) for name, field in fields.items() if field is not None]
