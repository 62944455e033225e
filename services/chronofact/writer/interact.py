"""A turn's sentences to events: a text memory each, and structured facts of what they assert (semantics §9, ADR 38)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from chronofact.contracts.commands import Assert, Memory, Source
from chronofact.contracts.interactions import Interaction, Turn
from chronofact.domain.canonical import digest
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import INSTANT_MAX, INSTANT_MIN, format_bound
from chronofact.text.dates import Dates, dates_of, of_several
from chronofact.text.frames import Frame, Polarity, Temporality
from chronofact.text.reasons import Reason
from chronofact.text.sentences import Sentence
from chronofact.text.slots import blocked_by, key_of, states_of, why_none
from chronofact.text.told import Given, Told
from chronofact.text.untaken import Untaken
from chronofact.text.windows import Window, of_fact, of_memory
from chronofact.text.worker import Reading
from chronofact.writer.accept import Accepted, Acceptor, Authority
from chronofact.writer.fields import bound_at
from chronofact.writer.remember import remembered

_DATED_SLOTS: Final = ("schedule", "origin")
"""Slots whose value is a time: it is what the sentence says, and not when that holds."""


_OFFSET: Final = re.compile(r"([+-])(\d\d):(\d\d)$")
_STANDING: Final = re.compile(
    r"\b(?:always|never|from\s+now\s+on|by\s+default|in\s+future|in\s+the\s+future|going\s+forward|whenever|every\s+time)\b",
    re.IGNORECASE,
)


_NO_LONGER: Final = re.compile(r"\b(?:no|not\b.*\bany)\s*(?:longer|more)\b", re.IGNORECASE)


class Said(NamedTuple):
    """A sentence of a turn, the same without what only leads to it, what that says of its time, and whether it is somebody else's words."""

    sentence: Sentence
    plain: Sentence
    dates: Dates
    is_quoted: bool = False


class Reread(NamedTuple):
    """What a sentence says where it is better read otherwise: without its lead, and for facts without its dates, too."""

    plain: tuple[Frame, ...] | None = None
    for_facts: tuple[Frame, ...] | None = None


class MemoryTaken(NamedTuple):
    """A text memory, before it is in the log."""

    accepted: Accepted
    text: str
    window: Window
    reading: Reading


class FactTaken(NamedTuple):
    """A structured fact, before it is in the log; ``blocked_by`` is the guard that makes its succession explicit."""

    accepted: Accepted
    frame: Frame
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


def said_of(sentence: Sentence, at: str | None, *, bare: Sentence | None = None, is_quoted: bool = False) -> Said:
    """A sentence with its dates; days that name no year are those of the offset in which the turn tells its time.

    Args:
        sentence: As it was written.
        at: The turn's time.
        bare: The sentence without what only leads to it.
        is_quoted: Whether it is somebody else's words.
    """
    plain, instant, offset = bare or sentence, bound_at("at", at), offset_of(at)
    local = None if instant is None else min(max(instant + offset, INSTANT_MIN), INSTANT_MAX)
    dates = dates_of(plain.text, local, lean=plain.lean, is_perfect=plain.is_perfect, aside=plain.aside)
    dates = dates if dates.is_absolute or not offset else _shifted(dates, -offset)
    return Said(sentence, plain, of_several(dates) if plain.is_joined else dates, is_quoted)


def offset_of(at: str | None) -> int:
    """The offset of an RFC 3339 instant, in microseconds."""
    found = _OFFSET.search(at or "")
    if found is None:
        return 0
    minutes = int(found[2]) * 60 + int(found[3])
    return (minutes if found[1] == "+" else -minutes) * 60_000_000


def _shifted(dates: Dates, by: int) -> Dates:
    def moved(bound: int | None) -> int | None:
        return None if bound is None else min(max(bound + by, INSTANT_MIN), INSTANT_MAX)

    within = dates.within and (moved(dates.within[0]) or 0, moved(dates.within[1]) or 0)
    return replace(dates, start=moved(dates.start), end=moved(dates.end), by=moved(dates.by), within=within)


def text_of_facts(said: Said, frames: tuple[Frame, ...]) -> str | None:
    """What its facts are better read from: without its lead, and without its dates, which the parser may take for values."""
    if said.is_quoted:
        return None
    has_begun = said.plain.is_perfect and said.dates.start is not None  # without its since it is of the past
    undated = said.dates.undated if said.dates.are_there and not has_begun else ""
    if undated and not _says_time(frames):
        return undated
    return text_of_plain(said)


def text_of_plain(said: Said) -> str | None:
    """What it says without its lead, where it has one; its dates may be what it speaks of ("the meeting on Tuesday")."""
    return None if said.is_quoted or said.plain is said.sentence else said.plain.text


def _says_time(frames: tuple[Frame, ...]) -> bool:
    return any(frame.slot.partition(":")[0] in _DATED_SLOTS for frame in frames)


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
        again: Reread,
        turn: Turn,
        source: Source,
    ) -> None:
        """A sentence's memory, and the facts that it says."""
        at = bound_at("at", turn.at)
        window = of_memory(said.dates, reading.frames, at)
        if said.dates.why_not is not None:
            taken.left.append(Left(said.dates.why_not))
        frames = reading.frames if again.for_facts is None else again.for_facts
        dates = Dates() if _says_time(frames) else said.dates
        found = TurnTaken(taken.role)
        for frame in frames:
            if (why := _why_untaken(said, frame)) is not None:
                found.left.append(Left(why, frame))
                continue
            for state in states_of(frame) or (frame,):
                self._take(found, state, dates, at, source)
        _part_rivals(found)
        plain = reading.frames if again.plain is None else again.plain
        meant = tuple(frame for frame in plain if _why_untaken(said, frame) is None)
        reading = reading.telling(Told(meant, tuple(map(_given, found.facts))))
        taken.memories.append(self._memory(said.sentence.text, window, reading, source))
        taken.facts += found.facts
        taken.left += found.left

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
        event = replace(accepted.event, derived=reading.derived)
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
        return FactTaken(accepted, frame, key, frame.value, window, blocked)


def _given(fact: FactTaken) -> Given:
    """As the sentence's memory keeps it."""
    version_id = fact.accepted.version_id or b""
    return Given(fact.key, version_id, fact.window.start, fact.window.end, fact.blocked_by is None, fact.frame)


def _why_untaken(said: Said, frame: Frame) -> Untaken | None:
    """Of a sentence that is not the user's own, that says of its only clause that it is over, or asks for something once."""
    if said.is_quoted:
        return Untaken.QUOTED
    is_flat = frame.polarity is Polarity.POSITIVE and frame.temporality is Temporality.CURRENT
    if is_flat and not said.plain.is_joined and _NO_LONGER.search(said.sentence.text) is not None:
        return Untaken.NEGATED
    is_once = frame.slot.startswith("rule:") and _STANDING.search(said.sentence.text) is None
    return Untaken.REQUEST if is_once else None


def _part_rivals(taken: TurnTaken) -> None:
    """Two values of one key in one sentence ("uses Python and Go") hold together: none of them is the one."""
    values: dict[str, set[str]] = {}
    for fact in taken.facts:
        values.setdefault(fact.key, set()).add(fact.value)
    taken.left += [Left(Untaken.MANY_VALUED, fact.frame) for fact in taken.facts if len(values[fact.key]) > 1]
    taken.facts = [fact for fact in taken.facts if len(values[fact.key]) == 1]
