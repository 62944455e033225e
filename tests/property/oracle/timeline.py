"""Stretches of valid time and rectangles over both clocks, in canonical cut (semantics §4 valid_during, §5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from .answers import OAnswer, answer_at
from .log import known_by, system_times
from .says import OLog
from .standing import lies_in
from .state import State, fold


@dataclass(frozen=True)
class Stretch:
    """``[valid_from, valid_to)`` with one answer."""

    valid_from: int | None
    valid_to: int | None
    answer: OAnswer


@dataclass(frozen=True)
class Rectangle:
    """A stretch as known during ``[known_from, known_to)``."""

    known_from: int
    known_to: int | None
    stretch: Stretch


Ingredient: TypeAlias = "tuple[int | None, int | None, str, str | None, tuple[str, ...], tuple[bytes, ...]]"


def stretches(state: State) -> list[Stretch]:
    """Valid time in order; neighbours with the same kind and versions (unknown: reason) are one."""
    return _cut(state, lambda answer: answer)


def rectangles(events: OLog) -> set[Rectangle]:
    """The bitemporal timeline from the first event on."""
    times = system_times(events)
    slices = [stretches(fold(known_by(events, time))) for time in times]
    found: set[Rectangle] = set()
    for number, (time, cut) in enumerate(zip(times, slices, strict=True)):
        for stretch in cut:
            if number and stretch in slices[number - 1]:
                continue
            ends = [later for later, then in zip(times, slices, strict=True) if later > time and stretch not in then]
            found.add(Rectangle(time, ends[0] if ends else None, stretch))
    return found


def valid_during(events: OLog, valid_at: int, as_of: int | None) -> tuple[int | None, int | None]:
    """The longest stretch around an instant with the same kind and value or values (unknown: reason)."""
    state = fold(known_by(events, as_of))
    for stretch in _cut(state, lambda answer: _said(state, answer)):
        if lies_in(valid_at, stretch.valid_from, stretch.valid_to):
            return stretch.valid_from, stretch.valid_to
    raise AssertionError("the stretches fill valid time")


def ingredients(state: State) -> list[Ingredient]:
    """What the state hash is made of, besides the conflict edges."""
    return [
        (s.valid_from, s.valid_to, s.answer.kind, s.answer.reason, _hashes(state, s.answer), s.answer.versions)
        for s in stretches(state)
    ]


def _cut(state: State, sameness: Callable[[OAnswer], object]) -> list[Stretch]:
    bounds = state.bounds()
    starts: list[int | None] = [None, *bounds]
    ends: list[int | None] = [*bounds, None]
    cut: list[Stretch] = []
    for start, end in zip(starts, ends, strict=True):
        inside = start if start is not None else (bounds[0] - 1 if bounds else 0)
        answer = answer_at(state, inside)
        if cut and sameness(cut[-1].answer) == sameness(answer):
            cut[-1] = Stretch(cut[-1].valid_from, end, cut[-1].answer)
        else:
            cut.append(Stretch(start, end, answer))
    return cut


def _said(state: State, answer: OAnswer) -> object:
    return (answer.kind, answer.reason, {state.versions[v].value for v in answer.versions})


def _hashes(state: State, answer: OAnswer) -> tuple[str, ...]:
    return tuple(sorted({sha256(state.versions[v].value.encode()).hexdigest() for v in answer.versions}))
