"""Text memories and their relations, in any order of arrival: each stands as a second reading of semantics.md says, and for the same reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from random import Random

import pytest

from chronofact.domain.events import Cardinality, Event, FactAsserted
from chronofact.domain.explain import explain
from chronofact.domain.history import History
from tests.property.page import Page
from tests.property.shrink import smallest
from tests.property.strategies import GRID, PROFILES, Dice, Profile, history
from tests.property.translate import story

HISTORIES = 120
_RELATED = "relate relate relate relate relate relate"
TEXTS = {
    "usual": PROFILES["texts"],
    "relations alone": Profile(versions=(3, 7), starts=(*GRID[1:5], None), many=100, stated=0, known_start=50, kinds=_RELATED),
    "everything": Profile(
        versions=(2, 8), starts=(*GRID[1:6], None), many=100, stated=15, known_start=50,
        kinds=f"{_RELATED} supersede end revoke decide take_back activate",
    ),
}  # fmt: skip
profiles = pytest.mark.parametrize("profile", TEXTS)


def said(profile: str, number: int) -> list[Event]:
    """A history of a fact that holds many."""
    rng = Random(f"page {profile} {number}")
    events = history(Dice(rng.randrange), rng.randint(4, 24), TEXTS[profile])
    return [replace(one, what=_many(one.what)) if isinstance(one.what, FactAsserted) else one for one in events]


def _many(what: FactAsserted) -> FactAsserted:
    return replace(what, cardinality=Cardinality.MANY)


def folded(events: Sequence[Event]) -> History:
    found = History()
    for event in events:
        if not found.knows(event.event_id):
            found.apply(event)
    return found


def differences(events: Sequence[Event]) -> list[str]:
    """What is said otherwise, of now and of three of the times at which something was learned."""
    times = sorted({at for at, _ in learned(events)})
    chosen = {times[0], times[len(times) // 2], times[-1]}
    return [*_labels(events), *(line for as_of in chosen for line in _standings(events, as_of))]


def learned(events: Sequence[Event]) -> list[tuple[int, Event]]:
    """Each event once, and when: a repeat changes nothing."""
    once: dict[bytes, Event] = {}
    for one in events:
        once.setdefault(one.event_id, one)
    times = accumulate((one.recorded_at for one in once.values()), max)
    return list(zip(times, once.values(), strict=True))


def _standings(events: Sequence[Event], as_of: int) -> list[str]:
    known = [one for at, one in learned(events) if at <= as_of]
    page, found = Page(known), []
    for at in page.instants():
        covers = page.covers(at)
        for one in explain(events, valid_at=at, system_as_of=as_of).versions:
            standing = page.standing(one.version_id, at, covers)
            told = (one.stands.value, one.merged_into if standing == "merged" else None)
            expected = (standing, page.merged.get(one.version_id) if standing == "merged" else None)
            by = {cover.version_id for cover in one.covered_by}
            if told != expected or (expected[0] == "superseded" and by != covers[one.version_id]):
                found.append(f"at {at} as of {as_of}: {one.version_id[-1]} {told} by {by}, not {expected} {covers}")
    return found


def _labels(events: Sequence[Event]) -> list[str]:
    page, outcome, found = Page(events), folded(events).take_outcome(), []
    ids = list(dict.fromkeys(one.what.version_id for one in events if isinstance(one.what, FactAsserted)))
    for number, label in outcome.labels:
        version_id = ids[number - 1]
        lifecycle, by = page.lifecycle(version_id)
        is_right = label.lifecycle is lifecycle and (not by or label.superseded_by_id in by)
        if not is_right or label.merged_into_id != page.merged.get(version_id):
            found.append(f"{version_id[-1]}: {label}, not {lifecycle} {by} {page.merged.get(version_id)!r}")
    conflicts = {(left, right): relation for left, right, relation in outcome.conflicts_now}
    return found if conflicts == page.conflicts() else [*found, f"{conflicts}, not {page.conflicts()}"]


@profiles
def test_each_memory_stands_as_the_page_says(profile: str) -> None:
    for number in range(HISTORIES):
        events = said(profile, number)
        if differences(events):
            small = smallest(events, lambda fewer: bool(fewer) and bool(differences(fewer)))
            pytest.fail(f"{profile} {number}\n{story(small)}\n" + "\n".join(differences(small)), pytrace=False)


@profiles
def test_whatever_came_first_the_same_is_left(profile: str) -> None:
    for number in range(HISTORIES):
        events = [replace(one, recorded_at=0) for one in said(profile, number)]
        shuffled = Random(number).sample(events, len(events))
        assert folded(events).take_outcome().state_hash == folded(shuffled).take_outcome().state_hash, number
        assert _labels(shuffled) == [], f"{profile} {number}"
