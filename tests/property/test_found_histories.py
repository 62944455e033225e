"""Histories that were once answered wrong, as the generators found them and the shrinker left them."""

from __future__ import annotations

from hashlib import sha256

import pytest

from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Event,
    FactAsserted,
    FactEnded,
    Happening,
    Lifecycle,
    Mode,
    Succession,
    Supersession,
)
from chronofact.domain.interval import Interval
from tests.property.play import problems
from tests.property.strategies import event_id_of
from tests.property.translate import story

REPLACE = Mode.REPLACE


def v(number: int) -> bytes:
    return bytes(15) + bytes([number])


def claim(
    number: int, value: str, start: int | None, end: int | None = None, *edges: Supersession, **stamps: object
) -> FactAsserted:
    text = f'"{value}"'.encode()
    return FactAsserted(
        v(number), text, sha256(text).digest(), Interval(start, end), "s", bytes(32), supersedes=edges, **stamps  # type: ignore[arg-type]
    )  # fmt: skip


def automatic(number: int, value: str, start: int | None) -> FactAsserted:
    return claim(number, value, start, succession=Succession.AUTOMATIC)


def over(number: int, effective_at: int | None = None, mode: Mode | None = None) -> Supersession:
    return Supersession(v(number), effective_at, mode)


FOUND: dict[str, list[Happening]] = {
    "an edge said before what it names": [claim(1, "A", 20, None, over(2)), claim(2, "B", 10)],
    "what was said outright against a later start": [
        claim(2, "A", 50, None, over(3, None, Mode.OVERRIDE)),
        automatic(3, "B", 60),
        automatic(4, "B", 70),
    ],
    "an unadmitted proposal's confidence": [
        claim(1, "C", 30, 80),
        claim(1, "C", 30, 80, lifecycle=Lifecycle.PROPOSED, confidence=0.8),
    ],
    "a cycle reached over an automatic edge": [
        claim(2, "A", None, 20, over(4, 50, REPLACE)),
        claim(4, "B", 40, None, over(2)),
        automatic(6, "C", 40),
        claim(7, "A", 50, None, over(6)),
    ],
    "a cycle of an ended and an open one reached over an automatic edge": [
        claim(1, "A", 30, None, over(3)),
        claim(3, "E", 20, 30, over(1, None, REPLACE)),
        claim(4, "D", 50, 90, over(6)),
        automatic(6, "A", 30),
    ],
    "a newcomer over one that ended before its start": [
        claim(2, "A", 20, cardinality=Cardinality.MANY),
        automatic(3, "B", 50),
        FactEnded(v(3), 10),
        claim(5, "C", 50, 80, over(3)),
    ],
    "an excluded middle reached over an automatic edge": [
        claim(6, "A", 30),
        claim(2, "A", 40),
        ConflictResolved(v(1), v(6), None, 3),
        automatic(4, "A", 30),
        claim(1, "C", 20, None, over(2)),
        claim(3, "B", 30, None, over(4)),
    ],
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("is_turned", [False, True])
def test_what_was_once_answered_wrong_is_answered_right(name: str, is_turned: bool) -> None:
    said = FOUND[name][::-1] if is_turned else FOUND[name]
    events = [Event(event_id_of(what), what, 100 + at) for at, what in enumerate(said)]
    found = problems(events)
    assert not found, f"{story(events)}\n" + "\n".join(found)
