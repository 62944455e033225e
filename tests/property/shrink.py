"""The smallest history that still fails: events dropped, then what they say made plainer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from chronofact.domain.events import Event, FactAsserted, FactSuperseded, Lifecycle, Succession

Failing = Callable[[Sequence[Event]], bool]


def smallest(events: Sequence[Event], is_failing: Failing) -> list[Event]:
    """No event and no detail of it can be left out."""
    best = list(events)
    while (smaller := next((c for c in _simpler(best) if is_failing(c)), None)) is not None:
        best = smaller
    return best


def _simpler(events: list[Event]) -> Iterator[list[Event]]:
    for at in range(len(events)):
        yield events[:at] + events[at + 1 :]
    for at, event in enumerate(events):
        for plainer in _plainer(event):
            yield [*events[:at], plainer, *events[at + 1 :]]
    if len({event.recorded_at for event in events}) > 1:
        yield [replace(event, recorded_at=0) for event in events]


def _plainer(event: Event) -> Iterator[Event]:
    match event.what:
        case FactAsserted() as said:
            for plain in _plainer_claims(said):
                yield replace(event, what=plain)
        case FactSuperseded(effective_at=int()) as stated:
            yield replace(event, what=replace(stated, effective_at=None))
        case _:
            pass


def _plainer_claims(said: FactAsserted) -> Iterator[FactAsserted]:
    for at in range(len(said.supersedes)):
        yield replace(said, supersedes=said.supersedes[:at] + said.supersedes[at + 1 :])
    for at, edge in enumerate(said.supersedes):
        if edge.effective_at is not None or edge.mode is not None:
            plain = replace(edge, effective_at=None, mode=None)
            yield replace(said, supersedes=(*said.supersedes[:at], plain, *said.supersedes[at + 1 :]))
    if said.confidence is not None:
        yield replace(said, confidence=None)
    if said.succession is Succession.AUTOMATIC:
        yield replace(said, succession=Succession.EXPLICIT)
    if said.lifecycle is Lifecycle.PROPOSED:
        yield replace(said, lifecycle=Lifecycle.ACTIVE)
