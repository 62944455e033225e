"""Every call of the client, once, as steps; ``Client`` and ``AsyncClient`` only carry them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

import orjson

from chronofact.client.answers import (
    Accepted,
    Answer,
    Page,
    Sent,
    answer_of,
    freshness_of,
    page_of,
    result_of,
)
from chronofact.client.asking import instants_of, params_of, repeated
from chronofact.client.commands import (
    Command,
    Source,
    Supersedes,
    VersionId,
    When,
    assertion,
    encoded,
    instant_text,
    said,
)
from chronofact.client.exchange import Ask, Steps, exchange
from chronofact.client.explanations import ExplainCalls
from chronofact.client.interactions import InteractionCalls
from chronofact.client.memories import MemoryCalls
from chronofact.client.numbered import each
from chronofact.client.positions import further, merged
from chronofact.client.questions import QuestionCalls
from chronofact.client.verdicts import VerdictCalls
from chronofact.contracts.position import Position

BATCH_COMMANDS: Final = 1_000
BATCH_QUERIES: Final = 2_000

Query = Mapping[str, Any]
"""One question of ``resolve_many``: ``subject``, ``key``, and ``scope``, ``valid_at``, ``as_of`` where wanted."""


class Calls(QuestionCalls, ExplainCalls, MemoryCalls, InteractionCalls, VerdictCalls):
    """What can be asked of a writer and a reader; keeps the position of what was written, to read it back."""

    def __init__(self, *, writer: str, reader: str, patience_s: float, reads_own_writes: bool) -> None:
        self._writer = writer.rstrip("/")
        self._reader = reader.rstrip("/")
        self._patience_s = patience_s
        self._reads_own_writes = reads_own_writes
        self.written: Position | None = None

    # -- writing

    def send(self, commands: Iterable[Command], *, dry_run: bool = False) -> Steps[Sent]:
        """Sends commands in order, in batches; each is accepted or rejected by itself, and sending again is safe."""
        pending = iter(commands)
        results: list[Any] = []
        sent: Position | None = None
        while batch := list(islice(pending, BATCH_COMMANDS)):
            told = yield from self.post("/v1/events", batch, index=len(results), dry_run=dry_run)
            results += told.results
            sent = further(sent, told.position)
        return Sent(tuple(results), None if sent is None else sent.encode())

    def send_lines(self, lines: bytes, *, path: str = "/v1/events") -> Steps[Sent]:
        """Sends one batch of NDJSON as it is, unparsed: of commands, or by ``/v1/memories`` of text memories."""
        return self._posted(path, lines, content_type="application/x-ndjson")

    def post(self, path: str, commands: Any, *, index: int = 0, dry_run: bool = False) -> Steps[Sent]:
        """One request of commands to the writer; ``index`` is the first one's place among all that are sent."""
        return self._posted(path, encoded(commands), index=index, dry_run=dry_run)

    def assert_many(self, facts: Iterable[Mapping[str, Any]]) -> Steps[Sent]:
        """``send`` of assertions; each mapping holds the arguments of ``assert_fact``."""
        return self.send([*each("fact", assertion, facts)])

    def assert_fact(
        self,
        subject: str,
        key: str,
        value: Any,
        *,
        source: Source | str,
        scope: str | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        lifecycle: str | None = None,
        supersedes: Supersedes | Iterable[Supersedes] | None = None,
        succession: str | None = None,
        cardinality: str | None = None,
        confidence: float | None = None,
        recorded_at: When | None = None,
        idempotency_key: str | None = None,
    ) -> Steps[Accepted]:
        """Says that this held over ``[valid_from, valid_to)``, by this evidence; None is an open bound."""
        command = assertion(
            subject,
            key,
            value,
            source=source,
            scope=scope,
            valid_from=valid_from,
            valid_to=valid_to,
            lifecycle=lifecycle,
            supersedes=supersedes,
            succession=succession,
            cardinality=cardinality,
            confidence=confidence,
            recorded_at=recorded_at,
            idempotency_key=idempotency_key,
        )
        return self._one(command)

    def activate(
        self, subject: str, key: str, version_id: VersionId, *, scope: str | None = None, reason: str | None = None
    ) -> Steps[Accepted]:
        """Admits a proposed version."""
        return self._about("activate", subject, key, scope, version_id=str(version_id), reason=reason)

    def supersede(
        self,
        subject: str,
        key: str,
        *,
        new: VersionId,
        old: VersionId,
        scope: str | None = None,
        effective_at: When | None = None,
        mode: str | None = None,
        reason: str | None = None,
    ) -> Steps[Accepted]:
        """Says that one version supersedes another; ``effective_at`` and ``mode`` default as in semantics §3."""
        edge = {
            "new_version_id": str(new),
            "old_version_id": str(old),
            "effective_at": instant_text(effective_at, "effective_at"),
        }
        return self._about("supersede", subject, key, scope, **edge, mode=mode, reason=reason)

    def end(
        self,
        subject: str,
        key: str,
        version_id: VersionId,
        *,
        effective_at: When,
        scope: str | None = None,
        reason: str | None = None,
    ) -> Steps[Accepted]:
        """Says that a version stops holding, with nothing in its place."""
        ending = {"version_id": str(version_id), "effective_at": instant_text(effective_at, "effective_at")}
        return self._about("end", subject, key, scope, **ending, reason=reason)

    def revoke(
        self,
        subject: str,
        key: str,
        version_id: VersionId | None = None,
        *,
        event_id: UUID | str | None = None,
        scope: str | None = None,
        reason: str | None = None,
    ) -> Steps[Accepted]:
        """Takes back a version, or by ``event_id`` an end, a supersession or a decision; for good."""
        named = {"version_id": _text(version_id), "event_id": _text(event_id)}
        return self._about("revoke", subject, key, scope, **named, reason=reason)

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
    ) -> Steps[Accepted]:
        """Settles a conflict: one of the two is kept, or (None) neither."""
        command = self._command(
            "resolve_conflict",
            subject,
            key,
            scope,
            left_version_id=str(left),
            right_version_id=str(right),
            decided_at=instant_text(decided_at, "decided_at"),
            decided_by=decided_by,
            reason=reason,
        )
        return self._one({**command, "keep": _text(keep)})

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
    ) -> Steps[Accepted]:
        """Says how two text memories relate."""
        return self._about(
            "declare_relation",
            subject,
            key,
            scope,
            left_version_id=str(left),
            right_version_id=str(right),
            relation=relation,
            newer_version_id=_text(newer),
            decided_at=instant_text(decided_at, "decided_at"),
            decided_by=decided_by,
            reason=reason,
            llm_call_made=llm_call_made,
            model=model,
        )

    # -- reading

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
    ) -> Steps[Answer]:
        """What held at ``valid_at`` (default now), as known at ``as_of`` (default: everything applied)."""
        params = [*params_of(subject=subject, key=key), *repeated("scope", scope)]
        params += params_of(**instants_of(valid_at, as_of))
        body = yield from self.get("/v1/resolve", params, after=after, wait_ms=wait_ms)
        return answer_of(body)

    def resolve_many(
        self, queries: Iterable[Query], *, after: str | None = None, wait_ms: int | None = None
    ) -> Steps[list[Answer]]:
        """Answers in order, each batch of 2,000 from one consistent snapshot."""
        pending = iter(queries)
        answers: list[Answer] = []
        while batch := [_query(query) for query in islice(pending, BATCH_QUERIES)]:
            content = orjson.dumps(said(after=self._after(after), wait_ms=wait_ms, queries=batch))
            ask = Ask("POST", f"{self._reader}/v1/resolve", content=content)
            body = yield from exchange(ask, patience_s=self._patience_s)
            shared = freshness_of(body["freshness"]) if "freshness" in body else None
            answers.extend(answer_of(answer, freshness=shared) for answer in body["answers"])
        return answers

    def facts(
        self,
        subject: str,
        *,
        scope: str | None = None,
        prefix: str | None = None,
        valid_at: When | None = None,
        as_of: When | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        after: str | None = None,
        wait_ms: int | None = None,
    ) -> Steps[Page]:
        """One page of every fact's answer; go on with ``cursor=page.cursor`` until that is None."""
        params = params_of(subject=subject, scope=scope, prefix=prefix, limit=limit, cursor=cursor)
        params += params_of(**instants_of(valid_at, as_of))
        body = yield from self.get("/v1/facts", params, after=after, wait_ms=wait_ms)
        return page_of(body)

    def events(self, fact_id: UUID | str, *, after: str | None = None, wait_ms: int | None = None) -> Steps[Any]:
        """The fact's events by ``event_seq``, as the reader gives them."""
        return self.get(f"/v1/facts/{_part(fact_id)}/events", [], after=after, wait_ms=wait_ms)

    def versions(self, fact_id: UUID | str, *, after: str | None = None, wait_ms: int | None = None) -> Steps[Any]:
        """The fact's versions with their labels, as the reader gives them."""
        return self.get(f"/v1/facts/{_part(fact_id)}/versions", [], after=after, wait_ms=wait_ms)

    def timeline(self, fact_id: UUID | str, *, after: str | None = None, wait_ms: int | None = None) -> Steps[Any]:
        """The fact's answers over both axes, as the reader gives them."""
        return self.get(f"/v1/facts/{_part(fact_id)}/timeline", [], after=after, wait_ms=wait_ms)

    def get(
        self, path: str, params: Iterable[tuple[str, str]] = (), *, after: str | None = None, wait_ms: int | None = None
    ) -> Steps[Any]:
        """Any read of the reader, as it answers it."""
        full = (*params, *params_of(after=self._after(after), wait_ms=wait_ms))
        return exchange(Ask("GET", self._reader + path, params=full), patience_s=self._patience_s)

    # -- underneath

    def _command(self, kind: str, subject: str, key: str, scope: str | None, **fields: Any) -> Command:
        return said(type=kind, subject=subject, scope=scope, key=key, **fields)

    def _about(self, kind: str, subject: str, key: str, scope: str | None, **fields: Any) -> Steps[Accepted]:
        return self._one(self._command(kind, subject, key, scope, **fields))

    def _one(self, command: Command) -> Steps[Accepted]:
        sent = yield from self.post("/v1/events", command)
        (accepted,) = sent.results
        if not isinstance(accepted, Accepted):
            raise TypeError("a rejected command was answered with 2xx")
        return accepted

    def _posted(
        self,
        path: str,
        content: bytes,
        *,
        index: int = 0,
        dry_run: bool = False,
        content_type: str = "application/json",
    ) -> Steps[Sent]:
        body = yield from self.told(path, content, dry_run=dry_run, content_type=content_type)
        results = tuple(result_of(result, at) for at, result in enumerate(_results(body), start=index))
        return Sent(results, body.get("position"))

    def told(
        self, path: str, content: bytes, *, dry_run: bool = False, content_type: str = "application/json"
    ) -> Steps[Any]:
        """One request to the writer, as it answers it; its position is remembered."""
        params = (("dry_run", "true"),) if dry_run else ()
        ask = Ask("POST", self._writer + path, params=params, content=content, content_type=content_type)
        body = yield from exchange(ask, patience_s=self._patience_s)
        self._note(further(None, body.get("position")))
        return body

    def _after(self, named: str | None) -> str | None:
        if named is not None or not self._reads_own_writes or self.written is None:
            return named
        return self.written.encode()

    def _note(self, sent: Position | None) -> None:
        if sent is not None:
            self.written = merged(self.written, sent)


def _results(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """One command may be answered by itself."""
    results: list[Mapping[str, Any]] = body.get("results", [body])
    return results


def _query(query: Query) -> dict[str, Any]:
    instants = said(valid_at=instant_text(query.get("valid_at")), as_of=instant_text(query.get("as_of")))
    return {**query, **instants}


def _text(id_: UUID | str | None) -> str | None:
    return None if id_ is None else str(id_)


def _part(id_: UUID | str) -> str:
    return quote(str(id_), safe="")
