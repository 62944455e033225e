"""Calls about text memories: what somebody said, kept as it was said."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from chronofact.client.answers import Accepted, Rejection, Sent
from chronofact.client.commands import Source, When, instant_text, said
from chronofact.client.exchange import Steps
from chronofact.client.numbered import each
from chronofact.client.positions import further
from chronofact.contracts.position import Position

BATCH_MEMORIES: Final = 200
"""Read by a model each, so a request of many takes its time."""


class MemoryCalls:
    """Of a client that writes."""

    @abstractmethod
    def post(self, path: str, commands: Any, *, index: int = 0, dry_run: bool = False) -> Steps[Sent]: ...

    def remember(
        self,
        subject: str,
        category: str,
        text: str,
        *,
        source: Source | str,
        scope: str | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        confidence: float | None = None,
        recorded_at: When | None = None,
        idempotency_key: str | None = None,
        dry_run: bool = False,
    ) -> Steps[Accepted]:
        """Keeps a text as a memory; the answer has the frames found in it. Without ``valid_from`` its start is not known."""
        memory = memory_of(
            subject,
            category,
            text,
            source=source,
            scope=scope,
            valid_from=valid_from,
            valid_to=valid_to,
            confidence=confidence,
            recorded_at=recorded_at,
            idempotency_key=idempotency_key,
        )
        sent = yield from self.post("/v1/memories", memory, dry_run=dry_run)
        (accepted,) = sent.results
        if not isinstance(accepted, Accepted):
            raise TypeError("a rejected memory was answered with 2xx")
        return accepted

    def remember_many(self, memories: Iterable[Mapping[str, Any]], *, dry_run: bool = False) -> Steps[Sent]:
        """Keeps texts in order, in batches, each accepted or rejected by itself; each mapping holds ``remember``'s arguments."""
        pending = each("memory", memory_of, memories)
        results: list[Accepted | Rejection] = []
        covered: Position | None = None
        while batch := list(islice(pending, BATCH_MEMORIES)):
            sent = yield from self.post("/v1/memories", batch, index=len(results), dry_run=dry_run)
            results += sent.results
            covered = further(covered, sent.position)
        return Sent(tuple(results), None if covered is None else covered.encode())


def memory_of(
    subject: str,
    category: str,
    text: str,
    *,
    source: Source | str,
    scope: str | None = None,
    valid_from: When | None = None,
    valid_to: When | None = None,
    confidence: float | None = None,
    recorded_at: When | None = None,
    idempotency_key: str | None = None,
) -> dict[str, Any]:
    """The memory as the writer takes it; a source that is only named has the text itself as its evidence."""
    evidence = source if isinstance(source, Source) else Source(source, text=text)
    return said(
        subject=subject,
        scope=scope,
        category=category,
        text=text,
        valid_from=instant_text(valid_from, "valid_from"),
        valid_to=instant_text(valid_to, "valid_to"),
        source=evidence.as_json(),
        confidence=confidence,
        recorded_at=instant_text(recorded_at, "recorded_at"),
        idempotency_key=idempotency_key,
    )
