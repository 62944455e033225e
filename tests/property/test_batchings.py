"""What a projection holds of a fact is the same however its log was cut into batches and whenever the fact was put away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from chronofact.domain.events import Event
from chronofact.domain.history import History
from tests.property.strategies import CROWD, PROFILES, Dice, history

HISTORIES = 60
SIZES = (2, 5, 12, 30, 90)
BATCHINGS = 3


@dataclass
class Held:
    """All that is written of one fact but the history of its labels."""

    labels: dict[int, object] = field(default_factory=dict)
    edges: dict[tuple[bytes, bytes], object] = field(default_factory=dict)
    lines: list[object] = field(default_factory=list)
    head: tuple[object, ...] = ()

    def settle(self, state: History) -> None:
        """The end of a batch."""
        outcome = state.take_outcome()
        self.labels.update(outcome.labels)
        for pair in outcome.conflicts_gone:
            del self.edges[pair]
        for left, right, relation in outcome.conflicts_now:
            self.edges[left, right] = (relation, *state.conflict_since(left, right))
        counted = (state.event_seq, state.recorded_at, state.versions, state.lane_mode, state.painted)
        self.head = (*counted, outcome.conflicts_open, outcome.state_hash)


def folded(events: Sequence[Event], ends: frozenset[int], *, forgets: bool) -> Held:
    """With a batch's end behind each of these events and the last."""
    held, state = Held(), History()
    counted: list[Event] = []
    for number, event in enumerate(events):
        if not state.knows(event.event_id):
            change = state.apply(event)
            counted.append(event.__class__(event.event_id, event.what, change.recorded_at))
            held.lines.extend((change.event_seq, change.recorded_at, line) for line in change.paintings)
        if number in ends or number == len(events) - 1:
            held.settle(state)
            if forgets:
                lane_mode, opened = state.lane_mode, state.conflicts_open
                state = History.load(counted, painted=state.painted, lane_mode=lane_mode, conflicts_open=opened)
    return held


def sorted_lines(held: Held) -> list[str]:
    return sorted(map(repr, held.lines))


@pytest.mark.parametrize("profile", [*PROFILES, "crowd"])
def test_bounds_of_batches_do_not_tell(profile: str) -> None:
    chosen = PROFILES.get(profile, CROWD)
    for number in range(HISTORIES):
        seed = f"batchings {profile} {number}"
        rng = Random(seed)
        events = history(Dice(rng.randrange), rng.choice(SIZES), chosen)
        at_once = folded(events, frozenset(), forgets=False)
        for _ in range(BATCHINGS):
            ends = frozenset(place for place in range(len(events)) if rng.random() < 0.4)
            for forgets in (False, True):
                other = folded(events, ends, forgets=forgets)
                assert other.head == at_once.head, (seed, sorted(ends), forgets)
                assert other.labels == at_once.labels, (seed, sorted(ends), forgets)
                assert other.edges == at_once.edges, (seed, sorted(ends), forgets)
                assert sorted_lines(other) == sorted_lines(at_once), (seed, sorted(ends), forgets)
