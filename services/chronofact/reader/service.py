"""Resolves questions: each answer from one snapshot, with how fresh it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import orjson

from chronofact.contracts.reading import Ask, Claim, Found, Standing
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.answers import Body, answer_body, by_answer, fact_body, wanted_claims
from chronofact.reader.freshness import LogWatch, freshness_body
from chronofact.reader.ports import Projections, Snapshot
from chronofact.reader.questions import Question, Wait, instant_of
from chronofact.reader.waiting import Waiting, has_passed
from chronofact.runtime.metrics import Metrics

SLICE: Final = 500
"""Questions a step of a batch: while one step is spelled, Postgres works on the next."""
NEVER_RECORDED: Final = 7
_PLAIN: Final = frozenset({None, 0, 1})
"""Kinds whose answer is whole without a second look: unknown, and one value."""


class Reader:
    """Every read that asks what held."""

    def __init__(self, projections: Projections, watch: LogWatch, metrics: Metrics) -> None:
        self.projections = projections
        self.waiting = Waiting(projections)
        self._watch = watch
        self._kinds = metrics.counter("chronofact_reader_answers_total")
        self._stale = metrics.counter("chronofact_reader_stale_total")

    async def resolve(self, tenant_id: UUID, question: Question, wait: Wait) -> Body:
        """One answer."""
        await self.waiting.until_passed(tenant_id, wait)
        if len(question.slots) == 1:
            ask = Ask(question.slots[0].fact_id, question.valid_at, question.system_as_of)
            standing, found = await self.projections.answer(tenant_id, ask)
            if found.kind in _PLAIN and not standing.holds:
                body = self._spelled(question, 0, found, (found.valid_from, found.valid_to), ())
                return {**body, "freshness": self.freshness(tenant_id, standing, wait)}
        answers, _ = await self._from_snapshot(tenant_id, [question], wait)
        return answers[0]

    async def resolve_many(self, tenant_id: UUID, questions: Sequence[Question], wait: Wait) -> Body:
        """Answers in order, from one snapshot."""
        await self.waiting.until_passed(tenant_id, wait)
        answers, freshness = await self._from_snapshot(tenant_id, questions, wait)
        return {"answers": answers, "freshness": freshness}

    async def _from_snapshot(
        self, tenant_id: UUID, questions: Sequence[Question], wait: Wait
    ) -> tuple[list[Body], Body]:
        answers: list[Body] = []
        async with self.projections.snapshot(tenant_id) as snapshot:
            freshness = self.freshness(tenant_id, snapshot.standing, wait)
            shared = orjson.Fragment(orjson.dumps(freshness))
            parts = [questions[start : start + SLICE] for start in range(0, len(questions), SLICE)]
            coming = asyncio.create_task(_asked(snapshot, parts[0])) if parts else None
            try:
                for number, part in enumerate(parts, start=1):
                    assert coming is not None  # noqa: S101 - there is a part
                    found = await coming
                    batch = _Batch(part, found)
                    await batch.look_further(snapshot)
                    if number < len(parts):
                        coming = asyncio.create_task(_asked(snapshot, parts[number]))
                        await asyncio.sleep(0)
                    held = await self._held(snapshot, part) if snapshot.standing.holds else {}
                    answers += [self._with_freshness(body, shared, freshness, held) for body in self._bodies(batch)]
            finally:
                if coming is not None and not coming.done():
                    coming.cancel()
                    await asyncio.wait({coming})
        return answers, freshness

    async def _held(self, snapshot: Snapshot, part: Sequence[Question]) -> Mapping[str, int]:
        return await snapshot.held([slot.fact_id for question in part for slot in question.slots])

    def _with_freshness(self, body: Body, shared: Any, freshness: Body, held: Mapping[str, int]) -> Body:
        parked = held.get(body["fact"]["fact_id"], 0) if held else 0
        body["freshness"] = {**freshness, "stale": True, "held": parked} if parked else shared
        return body

    def _bodies(self, batch: _Batch) -> Iterator[Body]:
        for question, at, found, during, claims in batch.chosen():
            yield self._spelled(question, at, found, during, claims)

    def _spelled(
        self,
        question: Question,
        at: int,
        found: Found,
        during: tuple[str | None, str | None],
        claims: Sequence[Claim],
    ) -> Body:
        slot = question.slots[at]
        body = answer_body(found, claims)
        self._kinds.labels(body["kind"]).inc()
        body["valid_during"] = during
        body["fact"] = fact_body(slot, str(UUID(bytes=slot.fact_id)), found.subject_label)
        body["valid_at"] = format_instant(question.valid_at)
        body["as_of"] = format_bound(question.system_as_of)
        return body

    def freshness(self, tenant_id: UUID, standing: Standing, wait: Wait) -> Body:
        """How fresh what was just read is, and whether that is less than was asked for."""
        self.waiting.saw(tenant_id, standing)
        is_stale = wait.after is not None and not has_passed(standing, wait.after)
        if is_stale:
            self._stale.inc()
        return freshness_body(standing, self._watch, is_stale=is_stale)


async def _asked(snapshot: Snapshot, questions: Sequence[Question]) -> list[Found]:
    asks = [
        Ask(slot.fact_id, question.valid_at, question.system_as_of) for question in questions for slot in question.slots
    ]
    return await snapshot.answers(asks)


class _Batch:
    """Some questions with what was found for each of their slots."""

    def __init__(self, questions: Sequence[Question], found: Sequence[Found]) -> None:
        self._questions = questions
        self._found: list[Sequence[Found]] = []
        self._at: list[int] = []
        start = 0
        for question in questions:
            chain = found[start : start + len(question.slots)]
            start += len(question.slots)
            self._found.append(chain)
            self._at.append(_nearest(chain))
        self._claims: Mapping[int, list[Claim]] = {}
        self._during: dict[int, tuple[str | None, str | None]] = {}

    async def look_further(self, snapshot: Snapshot) -> None:
        """The versions behind conflicts and many values, and how long nearer scopes say nothing."""
        wanted = [
            one
            for number, question in enumerate(self._questions)
            for one in wanted_claims(number, self._found[number][self._at[number]], question.system_as_of)
        ]
        if wanted:
            self._claims = by_answer(await snapshot.claims(wanted))
        await self._cut(snapshot)

    async def _cut(self, snapshot: Snapshot) -> None:
        """Each ``valid_during``, cut to where no nearer scope answers, nor a wider one if all are unknown (semantics §4)."""
        asks = [
            (number, (one.fact_no, question.valid_at, question.system_as_of))
            for number, question in enumerate(self._questions)
            for one in _silent(self._found[number], self._at[number])
            if one.fact_no is not None
        ]
        silences = await snapshot.silences([ask for _, ask in asks]) if asks else ()
        for (number, _), silence in zip(asks, silences, strict=True):
            found = self._found[number][self._at[number]]
            start, end = self._during.get(number, (found.valid_from, found.valid_to))
            self._during[number] = (_later(start, silence.valid_from), _earlier(end, silence.valid_to))

    def chosen(self) -> Iterator[tuple[Question, int, Found, tuple[str | None, str | None], Sequence[Claim]]]:
        """For each question which slot answers, and what."""
        for number, question in enumerate(self._questions):
            at = self._at[number]
            found = self._found[number][at]
            during = self._during.get(number, (found.valid_from, found.valid_to))
            yield question, at, found, during, self._claims.get(number, ())


def _nearest(chain: Sequence[Found]) -> int:
    """Which of a chain's scopes answers: the nearest that is not unknown, else the nearest with something to say."""
    for at, found in enumerate(chain):
        if found.kind:
            return at
    for at, found in enumerate(chain):
        if found.kind is not None and found.reason != NEVER_RECORDED:
            return at
    return 0


def _silent(chain: Sequence[Found], at: int) -> Iterator[Found]:
    """What says nothing while this answers: nearer scopes, and beside an unknown one all the others."""
    yield from chain[:at]
    if not chain[at].kind:
        yield from chain[at + 1 :]


def _later(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=instant_of)


def _earlier(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return one or other
    return min(one, other, key=instant_of)
