"""A turn's sentences to events: a text memory each, and structured facts of what they assert (semantics §9, ADR 38)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from chronofact.contracts.commands import Assert, Memory, Source
from chronofact.contracts.interactions import Interaction, Turn
from chronofact.domain.canonical import digest
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_bound
from chronofact.text.dates import Dates, dates_of, of_several
from chronofact.text.frames import Frame
from chronofact.text.reasons import Reason
from chronofact.text.sentences import Sentence
from chronofact.text.slots import blocked_by, key_of, why_none
from chronofact.text.untaken import Untaken
from chronofact.text.windows import Window, of_fact, of_memory
from chronofact.text.worker import Reading
from chronofact.writer.accept import Accepted, Acceptor, Authority
from chronofact.writer.fields import bound_at
from chronofact.writer.remember import remembered

_DATED_SLOTS: Final = ("schedule", "origin")
"""Slots whose value is a time: it is what the sentence says, and not when that holds."""


class Said(NamedTuple):
    """A sentence of a turn, and what it says of its time."""

    sentence: Sentence
    dates: Dates


class MemoryTaken(NamedTuple):
    """A text memory, before it is in the log."""

    accepted: Accepted
    text: str
    window: Window
    reading: Reading


class FactTaken(NamedTuple):
    """A structured fact, before it is in the log; ``blocked_by`` is the guard that makes its succession explicit."""

    accepted: Accepted
    key: str
    value: str
    window: Window
    blocked_by: Reason | None


class Left(NamedTuple):
    """What was not taken, and why; the frame, where it was one."""

    why: Untaken
    frame: Frame | None = None


@dataclass(slots=True)
class TurnTaken:
    """What came of one turn."""

    role: str
    memories: list[MemoryTaken] = field(default_factory=list)
    facts: list[FactTaken] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)


def said_of(sentence: Sentence, at: int | None) -> Said:
    """A sentence with its dates."""
    dates = dates_of(sentence.text, at, lean=sentence.lean, is_perfect=sentence.is_perfect, aside=sentence.aside)
    return Said(sentence, of_several(dates) if sentence.is_joined else dates)


def needs_undated(said: Said, frames: tuple[Frame, ...]) -> bool:
    """Whether its facts are better read without its dates, which the parser may take for values."""
    if not said.dates.are_there or not said.dates.undated or said.sentence.is_perfect:
        return False  # "has lived there since" without its since is of the past
    return not any(frame.slot.partition(":")[0] in _DATED_SLOTS for frame in frames)


class Taking:
    """One request's turns, one after another."""

    def __init__(self, acceptor: Acceptor, said: Interaction, authority: Authority, trace: str | None) -> None:
        self._acceptor = acceptor
        self._said = said
        self._authority = authority
        self._trace = trace

    def source_of(self, index: int, turn: Turn) -> Source:
        """The evidence: the turn, by its number in the request's source, and what was said in it."""
        return Source(id=f"{self._said.source.id}#{index}", hash=digest(turn.text.encode()).hex())

    def add(
        self,
        taken: TurnTaken,
        said: Said,
        reading: Reading,
        undated: tuple[Frame, ...] | None,
        turn: Turn,
        source: Source,
    ) -> None:
        """A sentence's memory, and the facts that it says."""
        at = bound_at("at", turn.at)
        window = of_memory(said.dates, reading.frames, at)
        taken.memories.append(self._memory(said.sentence.text, window, reading, source))
        if said.dates.why_not is not None:
            taken.left.append(Left(said.dates.why_not))
        if undated is None:
            is_value = any(frame.slot.partition(":")[0] in _DATED_SLOTS for frame in reading.frames)
            dates, frames = (Dates() if is_value else said.dates), reading.frames
        else:
            dates, frames = said.dates, undated
        for frame in frames:
            self._take(taken, frame, dates, at, source)

    def _memory(self, text: str, window: Window, reading: Reading, source: Source) -> MemoryTaken:
        said = self._said
        memory = Memory(
            subject=said.subject,
            category=said.category,
            text=text,
            source=source,
            scope=said.scope,
            valid_from=format_bound(window.start),
            valid_to=format_bound(window.end),
            recorded_at=said.recorded_at,
        )
        accepted = remembered(self._acceptor, memory, self._authority, trace=self._trace)
        event = accepted.event._replace(derived=reading.derived)
        return MemoryTaken(accepted._replace(event=event), text, window, reading)

    def _take(self, taken: TurnTaken, frame: Frame, dates: Dates, at: int | None, source: Source) -> None:
        fact = self._fact(frame, dates, at, source)
        if isinstance(fact, Untaken):
            taken.left.append(Left(fact, frame))
        else:
            taken.facts.append(fact)

    def _fact(self, frame: Frame, dates: Dates, at: int | None, source: Source) -> FactTaken | Untaken:
        if (why := why_none(frame)) is not None:
            return why
        window, key = of_fact(frame, dates, at), key_of(frame)
        if isinstance(window, Untaken):
            return window
        if key is None:
            return Untaken.KEY_UNSPELLABLE
        blocked = blocked_by(frame)
        command = Assert(
            type="assert",
            subject=self._said.subject,
            key=key,
            scope=self._said.scope,
            value=frame.value,
            source=source,
            valid_from=format_bound(window.start),
            valid_to=format_bound(window.end),
            succession="explicit" if blocked is not None else "automatic",
            cardinality="one",
            recorded_at=self._said.recorded_at,
        )
        try:
            accepted = self._acceptor.accept(command, self._authority, trace=self._trace)
        except Rejected as error:
            if error.code != "cardinality_declared":
                raise
            return Untaken.KEY_DECLARED
        return FactTaken(accepted, key, frame.value, window, blocked)
