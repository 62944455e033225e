"""``GET /v1/explain``: the answer that resolve gives, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

import orjson
import structlog
from fastapi import Request

from chronofact.domain.canonical import digest
from chronofact.domain.events import Event
from chronofact.domain.explain import explain
from chronofact.domain.explained import Explanation
from chronofact.domain.interval import INSTANT_MIN
from chronofact.domain.resolve import Conflict, Unknown, Value, Values
from chronofact.domain.rules import value_key
from chronofact.domain.sentences import Around, Told, sentences
from chronofact.reader.answers import Body
from chronofact.reader.explaining import explanation_body
from chronofact.reader.folding import Reading
from chronofact.reader.questions import Asking, Question, Slot, instant_of
from chronofact.reader.requests import question_in
from chronofact.reader.service import Reader

AT_ONCE_MAX: Final = 2
"""Explanations made at the same time; the others wait."""
_LISTS: Final = {"values": "values", "conflict": "versions"}


class Explanations:
    """Answers with their reasons, from one snapshot."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._turns = asyncio.Semaphore(AT_ONCE_MAX)

    async def made(self, request: Request, asking: Asking) -> Body:
        """One explanation."""
        question, wait = question_in(request.query_params, asking)
        fact_ids = [slot.fact_id for slot in question.slots]
        async with self._turns, self._reader.folding.reading(asking.tenant_id, fact_ids, wait) as reading:
            asked = await _Asked.all(self._reader, reading, question, now=asking.now)
            histories = await reading.histories(asking.tenant_id, [asked.slot.fact_id])
            history = histories.get(asked.slot.fact_id)
        events = () if history is None else history.events
        return await asyncio.to_thread(_explained, question, asked, events)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The answer, which slot gave it, and the answers that it stands among."""

    slot: Slot
    answer: Body
    each: Sequence[Body]
    """What each of a chain's scopes says by itself."""
    before: Body | None
    after: Body | None
    then: Body | None
    """As known at ``valid_at`` itself, where that says something else."""
    rule: int

    @classmethod
    async def all(cls, reader: Reader, reading: Reading, question: Question, *, now: int) -> _Asked:
        questions = [question]
        if len(question.slots) > 1:
            questions += [replace(question, slots=(slot,)) for slot in question.slots]
        is_past = question.system_as_of is None and question.valid_at < now
        if is_past:
            questions.append(replace(question, system_as_of=question.valid_at))
        answer, *rest = await reader.answered(reading, questions)
        then = rest.pop() if is_past else None
        start, end = (None if bound is None else instant_of(bound) for bound in answer["valid_during"])
        beside = {}
        if start is not None and start > INSTANT_MIN:
            beside["before"] = replace(question, valid_at=start - 1)
        if end is not None:
            beside["after"] = replace(question, valid_at=end)
        found = dict(zip(beside, await reader.answered(reading, list(beside.values())), strict=True))
        slots = {str(slot.scope): slot for slot in reversed(question.slots)}
        rule = reading.snapshot.standing.rule
        differs = then is not None and _gist(then, rule) != _gist(answer, rule)
        return cls(
            slots[answer["fact"]["scope"]],
            answer,
            rest,
            found.get("before"),
            found.get("after"),
            then if differs else None,
            rule,
        )

    def around(self, question: Question) -> Around:
        """The same, as sentences need it."""
        told = _told(self.answer, self.rule)
        nearer = self.each[: question.slots.index(self.slot)]
        return Around(
            told.start,
            told.end,
            None if self.before is None else _told(self.before, self.rule),
            None if self.after is None else _told(self.after, self.rule),
            None if self.then is None else _told(self.then, self.rule),
            as_of=question.system_as_of,
            scope=str(self.slot.scope),
            silent=tuple((one["fact"]["scope"], one["reason"]) for one in nearer),
        )


def _explained(question: Question, asked: _Asked, events: Sequence[Event]) -> Body:
    explanation = explain(events, valid_at=question.valid_at, system_as_of=question.system_as_of, rule=asked.rule)
    _check(explanation, asked.answer)
    return {
        "answer": asked.answer,
        "sentences": sentences(explanation, asked.around(question)),
        "scopes": [_scope(one, asked) for one in asked.each or [asked.answer]],
        **explanation_body(explanation),
        "before": _plain(asked.before),
        "after": _plain(asked.after),
        "then": _plain(asked.then),
        "fact": asked.answer["fact"],
        "valid_at": asked.answer["valid_at"],
        "as_of": asked.answer["as_of"],
        "freshness": asked.answer["freshness"],
    }


def _check(explanation: Explanation, answer: Body) -> None:
    """Explanation and timeline are two ways to one answer; that they part is a fault of ours, which the check finds too."""
    if _kind(explanation) != (answer["kind"], answer.get("reason")):
        structlog.get_logger().error("explanation_differs", fact_id=answer["fact"]["fact_id"])


def _kind(explanation: Explanation) -> tuple[str, str | None]:
    answer = explanation.answer
    match answer:
        case Unknown(reason):
            return "unknown", reason
        case Value() | Values() | Conflict():
            return type(answer).__name__.lower(), None
        case _:
            assert_never(answer)


def _scope(one: Body, asked: _Asked) -> Body:
    answers = one["fact"]["scope"] == str(asked.slot.scope)
    return {"scope": one["fact"]["scope"], "kind": one["kind"], "reason": one.get("reason"), "answers": answers}


def _plain(body: Body | None) -> Body | None:
    return body and {name: found for name, found in body.items() if name not in {"fact", "freshness"}}


def _gist(body: Body, rule: int) -> tuple[str, object]:
    told = _told(body, rule)
    return told.kind, told.reason or {_key(value, rule) for value in told.values}


def _key(value: str, rule: int) -> bytes:
    spelled = value.encode()
    return value_key(spelled, digest(spelled), rule)


def _told(body: Body, rule: int) -> Told:
    kind = body["kind"]
    values = [body["value"]] if kind == "value" else [one["value"] for one in body.get(_LISTS.get(kind, ""), ())]
    spelled = [orjson.dumps(one).decode() for one in values]
    different: dict[bytes, str] = {}
    for value in spelled:
        different.setdefault(_key(value, rule), value)
    start, end = body["valid_during"]
    return Told(
        kind,
        tuple(different.values()),
        body.get("reason"),
        None if start is None else instant_of(start),
        None if end is None else instant_of(end),
    )
