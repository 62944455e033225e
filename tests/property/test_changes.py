"""What a change says is what the oracle's answers before and after the event differ by, at every instant."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from chronofact.contracts.changes import OPEN_END, OPEN_START, EventApplied, Stroke
from chronofact.domain.events import FactRevoked, Happening
from chronofact.domain.interval import format_bound, format_instant
from chronofact.reader.changes_diff import Stretch, needs_more
from chronofact.reader.changes_feed import Feed
from tests.property.oracle import OAnswer, answer_at, fold, instants
from tests.property.painted import REASONS, Painted
from tests.property.play import Play, play
from tests.property.strategies import CROWD, GRID, PROFILES, Dice, history, random_history
from tests.property.test_hot_facts import claim, events_of, version_of
from tests.property.translate import story, to_oracle

HISTORIES = 120
"""For each profile."""
KINDS = ("unknown", "value", "conflict", "values")


class PaintedSource:
    """A fact's paintings as the tables would give them."""

    def __init__(self, played: Play) -> None:
        self.strokes = [_stroke(one) for one in played.canvas.paintings]

    async def painted(self, _projection: str, events: Sequence[EventApplied]) -> list[Stroke]:
        seqs = {event.event_seq for event in events}
        return [one for one in self.strokes if one.lane == 0 and one.event_seq in seqs]

    async def lane_before(self, _projection: str, event: EventApplied, *, limit: int) -> list[Stroke]:
        before = [one for one in self.strokes if one.lane == 0 and one.event_seq < event.event_seq]
        return sorted(before, key=lambda one: -one.event_seq)[:limit]

    async def lanes(self, _projection: str, event: EventApplied, *, first_seq: int, limit: int) -> list[Stroke]:
        return [one for one in self.strokes if first_seq <= one.event_seq <= event.event_seq][:limit]


def changes_of(played: Play) -> list[Sequence[Stretch]]:
    """What a feed would say of each event."""
    source: Any = PaintedSource(played)
    lane_mode = int(any(one.lane for one in source.strokes))
    events = [
        EventApplied(0, seq, seq, "", "", "", 1, "", "", "", None, "", "", "", lane_mode, len(played.canvas.ids))
        for seq in range(1, len(played.counted) + 1)
    ]
    return asyncio.run(Feed(source).stretches("p1", events))


def wrong_changes(played: Play, *, only: Collection[int] = ()) -> list[str]:
    """Where a change is missing, needless or wrong."""
    log = to_oracle(played.counted)
    wrong: list[str] = []
    for number, stretches in enumerate(changes_of(played), start=1):
        if only and number not in only:
            continue
        before, after = fold(log[: number - 1]), fold(log[:number])
        for t in sorted({*instants(before), *instants(after)}):
            was, now = answer_at(before, t), answer_at(after, t)
            told = [_answer(one, played) for one in stretches if _covers(one, t)]
            if told != ([] if was == now else [now]):
                wrong.append(f"event {number} at {t}: {was} became {now}, told {told}")
        joined = [one for one, other in pairwise(stretches) if one.end > other.start]
        wrong += [f"event {number}: stretches overlap at {one}" for one in joined]
    return wrong


@pytest.mark.parametrize("profile", PROFILES)
def test_changes_are_what_the_answers_differ_by(profile: str) -> None:
    for number in range(HISTORIES):
        rng = Random(f"changes {profile} {number}")
        events = random_history(rng, rng.randint(1, 12), profile)
        found = wrong_changes(play(events))
        assert not found, f"profile {profile}, seed {number}\n{story(events)}\n" + "\n".join(found)


@pytest.mark.parametrize("seed", range(6))
def test_changes_of_a_crowd(seed: int) -> None:
    events = history(Dice(Random(f"changed crowd {seed}").randrange), 40, CROWD)
    found = wrong_changes(play(events))
    assert not found, f"seed {seed}\n{story(events)}\n" + "\n".join(found)


def test_a_whole_repaint_tells_only_what_changed() -> None:
    rng = Random("repainted")
    said: list[Happening] = []
    for number in range(120):
        start = rng.randrange(5)
        said.append(claim(number, GRID[start], GRID[rng.randint(start + 1, 5)]))
        if number >= 8:
            said.append(FactRevoked(version_of(number - 8)))
    played = play(events_of(said))
    source = PaintedSource(played)
    strokes = [[one for one in source.strokes if one.event_seq == seq] for seq in range(1, len(played.counted) + 1)]
    whole = [seq for seq, painted in enumerate(strokes, start=1) if seq > 1 and needs_more(painted)]
    assert len(whole) >= 3
    changes = changes_of(played)
    assert any(changes[seq - 1][0].start != OPEN_START for seq in whole), "a repaint covers more than what changed"
    assert not wrong_changes(played, only={*whole, *(seq + 1 for seq in whole)})


def _answer(stretch: Stretch, played: Play) -> OAnswer:
    ids = tuple(sorted(played.canvas.ids[number] for number in stretch.versions))
    kind = KINDS[stretch.kind]
    if kind == "unknown":
        return OAnswer(kind, REASONS[stretch.reason or 0])
    if kind != "value":
        return OAnswer(kind, None, ids)
    winner = stretch.winner
    if winner is not None:
        return OAnswer(kind, None, ids, played.canvas.ids[winner])
    starts = played.canvas.starts
    latest = max((start for one in ids if (start := starts[one]) is not None), default=None)
    return OAnswer(kind, None, ids, min(one for one in ids if starts[one] == latest))


def _covers(stretch: Stretch, t: int) -> bool:
    return stretch.start <= format_instant(t)[:-1] < stretch.end


def _stroke(one: Painted) -> Stroke:
    start, end = format_bound(one.painting.valid_from), format_bound(one.painting.valid_to)
    return Stroke(
        1,
        one.event_seq,
        one.painting.lane,
        OPEN_START if start is None else start[:-1],
        OPEN_END if end is None else end[:-1],
        int(one.painting.kind),
        one.painting.reason,
        one.painting.versions,
        one.painting.winner,
    )
