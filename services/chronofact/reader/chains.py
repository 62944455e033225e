"""Chains of scopes: the nearest whose answer is not unknown answers, for as long as no nearer one does (semantics §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from chronofact.contracts.reading import Found
from chronofact.reader.answers import NOTHING, Behind, behind_answers, wanted_claims
from chronofact.reader.ports import Snapshot
from chronofact.reader.questions import Question, instant_of

NEVER_RECORDED: Final = 7


class Chains:
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
            self._at.append(nearest(chain))
        self._behind: Mapping[int, Behind] = {}
        self._during: dict[int, tuple[str | None, str | None]] = {}

    async def look_further(self, snapshot: Snapshot) -> None:
        """The versions behind conflicts and many values, and how long nearer scopes say nothing."""
        wanted = [
            one
            for number, question in enumerate(self._questions)
            for one in wanted_claims(number, self._found[number][self._at[number]], question.system_as_of)
        ]
        self._behind = await behind_answers(snapshot, wanted)
        await self._cut(snapshot)

    async def _cut(self, snapshot: Snapshot) -> None:
        """Each ``valid_during``, cut to where no nearer scope answers, nor a wider one if all are unknown (semantics §4)."""
        asks = [
            (number, (one.fact_no, question.valid_at, question.system_as_of))
            for number, question in enumerate(self._questions)
            for one in silent(self._found[number], self._at[number])
            if one.fact_no is not None
        ]
        silences = await snapshot.silences([ask for _, ask in asks]) if asks else ()
        for (number, _), silence in zip(asks, silences, strict=True):
            found = self._found[number][self._at[number]]
            start, end = self._during.get(number, (found.valid_from, found.valid_to))
            self._during[number] = (later(start, silence.valid_from), earlier(end, silence.valid_to))

    def chosen(self) -> Iterator[tuple[Question, int, Found, tuple[str | None, str | None], Behind]]:
        """For each question which slot answers, and what."""
        for number, question in enumerate(self._questions):
            at = self._at[number]
            found = self._found[number][at]
            during = self._during.get(number, (found.valid_from, found.valid_to))
            yield question, at, found, during, self._behind.get(number, NOTHING)


def nearest(chain: Sequence[Found]) -> int:
    """Which of a chain's scopes answers: the nearest that is not unknown, else the nearest with something to say."""
    for at, found in enumerate(chain):
        if found.kind:
            return at
    for at, found in enumerate(chain):
        if found.kind is not None and found.reason != NEVER_RECORDED:
            return at
    return 0


def asked_of(question: Question, at: int, found: Found) -> set[str]:
    """Ids of the facts that an answer depends on: its own and nearer ones, and of an unknown one all."""
    slots = question.slots[: at + 1] if found.kind else question.slots
    return {str(UUID(bytes=slot.fact_id)) for slot in slots}


def silent(chain: Sequence[Found], at: int) -> Iterator[Found]:
    """What says nothing while this answers: nearer scopes, and beside an unknown one all the others."""
    yield from chain[:at]
    if not chain[at].kind:
        yield from chain[at + 1 :]


def later(one: str | None, other: str | None) -> str | None:
    """The later of two lower bounds; None is open."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=instant_of)


def earlier(one: str | None, other: str | None) -> str | None:
    """The earlier of two upper bounds; None is open."""
    if one is None or other is None:
        return one or other
    return min(one, other, key=instant_of)
