"""Resolves questions: each answer from one snapshot, with how fresh it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import orjson

from chronofact.contracts.reading import Ask, Found
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.answers import NOTHING, Behind, Body, answer_body, fact_body
from chronofact.reader.chains import Chains, asked_of
from chronofact.reader.folding import Folding, Reading, TailLimits
from chronofact.reader.freshness import LogWatch, with_held
from chronofact.reader.ports import LogTail, Projections, Snapshot
from chronofact.reader.questions import Question, Wait
from chronofact.runtime.metrics import Metrics

SLICE: Final = 500
"""Questions a step of a batch: while one step is spelled, Postgres works on the next."""
_PLAIN: Final = frozenset({None, 0, 1})
"""Kinds whose answer is whole without a second look: unknown, and one value."""


class Reader:
    """Every read that asks what held."""

    def __init__(
        self,
        projections: Projections,
        watch: LogWatch,
        tail: LogTail,
        metrics: Metrics,
        *,
        limits: TailLimits | None = None,
    ) -> None:
        self.projections = projections
        self.folding = Folding(projections, watch, tail, metrics, limits=limits)
        self.waiting = self.folding.waiting
        self._kinds = metrics.counter("chronofact_reader_answers_total")

    async def resolve(self, tenant_id: UUID, question: Question, wait: Wait) -> Body:
        """One answer."""
        if len(question.slots) == 1:
            fact_id = question.slots[0].fact_id
            needed = await self.folding.needed(tenant_id, [fact_id], wait)
            if await self.waiting.until_passed(tenant_id, needed) is None:
                ask = Ask(fact_id, question.valid_at, question.system_as_of)
                standing, found = await self.projections.answer(tenant_id, ask)
                if found.kind in _PLAIN and not standing.holds and self.folding.reaches(tenant_id, standing, needed):
                    body = self._spelled(question, 0, found, (found.valid_from, found.valid_to), NOTHING)
                    return {**body, "freshness": self.folding.freshness(tenant_id, standing, wait, needed)}
            else:
                wait = replace(wait, wait_ms=0)
        answers, _ = await self._from_snapshot(tenant_id, [question], wait)
        return answers[0]

    async def resolve_many(self, tenant_id: UUID, questions: Sequence[Question], wait: Wait) -> Body:
        """Answers in order, from one snapshot."""
        answers, freshness = await self._from_snapshot(tenant_id, questions, wait)
        return {"answers": answers, "freshness": freshness}

    async def answered(self, reading: Reading, questions: Sequence[Question]) -> list[Body]:
        """Answers to a few questions about facts that a reading was opened for."""
        if not questions:
            return []
        snapshot = reading.snapshot
        batch = Chains(questions, await _asked(snapshot, questions))
        await batch.look_further(snapshot)
        held = await self._held(snapshot, questions) if snapshot.standing.holds else {}
        return list(self._bodies(batch, reading.freshness, reading.freshness, held))

    async def _from_snapshot(
        self, tenant_id: UUID, questions: Sequence[Question], wait: Wait
    ) -> tuple[list[Body], Body]:
        answers: list[Body] = []
        fact_ids = [slot.fact_id for question in questions for slot in question.slots]
        async with self.folding.reading(tenant_id, fact_ids, wait) as reading:
            snapshot, freshness = reading.snapshot, reading.freshness
            shared = orjson.Fragment(orjson.dumps(freshness))
            parts = [questions[start : start + SLICE] for start in range(0, len(questions), SLICE)]
            coming = asyncio.create_task(_asked(snapshot, parts[0])) if parts else None
            try:
                for number, part in enumerate(parts, start=1):
                    assert coming is not None  # noqa: S101 - there is a part
                    found = await coming
                    batch = Chains(part, found)
                    await batch.look_further(snapshot)
                    if number < len(parts):
                        coming = asyncio.create_task(_asked(snapshot, parts[number]))
                        await asyncio.sleep(0)
                    held = await self._held(snapshot, part) if snapshot.standing.holds else {}
                    answers += self._bodies(batch, shared, freshness, held)
            finally:
                if coming is not None and not coming.done():
                    coming.cancel()
                    await asyncio.wait({coming})
        return answers, freshness

    async def _held(self, snapshot: Snapshot, part: Sequence[Question]) -> Mapping[str, int]:
        return await snapshot.held([slot.fact_id for question in part for slot in question.slots])

    def _bodies(self, batch: Chains, shared: Any, freshness: Body, held: Mapping[str, int]) -> Iterator[Body]:
        for question, at, found, during, behind in batch.chosen():
            body = self._spelled(question, at, found, during, behind)
            parked = sum(held.get(fact_id, 0) for fact_id in asked_of(question, at, found)) if held else 0
            body["freshness"] = with_held(freshness, parked) if parked else shared
            yield body

    def _spelled(
        self,
        question: Question,
        at: int,
        found: Found,
        during: tuple[str | None, str | None],
        behind: Behind,
    ) -> Body:
        slot = question.slots[at]
        body = answer_body(found, behind)
        self._kinds.labels(body["kind"]).inc()
        body["valid_during"] = during
        body["fact"] = fact_body(slot, str(UUID(bytes=slot.fact_id)), found.subject_label)
        body["valid_at"] = format_instant(question.valid_at)
        body["as_of"] = format_bound(question.system_as_of)
        return body


async def _asked(snapshot: Snapshot, questions: Sequence[Question]) -> list[Found]:
    asks = [
        Ask(slot.fact_id, question.valid_at, question.system_as_of) for question in questions for slot in question.slots
    ]
    return await snapshot.answers(asks)
