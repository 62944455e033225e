"""The painted timeline answers as the brute-force reading of semantics.md does, whatever came in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings

from chronofact.domain.events import Event
from tests.property.oracle import conflicts, counted, fold, ingredients
from tests.property.play import go_on, play, problems, reload, start, wrong_answers, wrong_state
from tests.property.shrink import smallest
from tests.property.strategies import CROWD, PROFILES, Dice, histories, history, random_history, random_set
from tests.property.translate import story, to_oracle

HISTORIES = 400
"""For each profile."""
SETS = 8
"""Small sets, for each profile, in every order."""
profiles = pytest.mark.parametrize("profile", PROFILES)


def seeded(profile: str, number: int) -> Random:
    return Random(f"{profile} {number}")


def report(events: Sequence[Event], find: Callable[[Sequence[Event]], list[str]], seed: str) -> None:
    """Fails with the smallest history that still goes wrong."""
    if find(events):
        small = smallest(events, lambda fewer: bool(find(fewer)))
        pytest.fail(f"{seed}\n{story(small)}\n" + "\n".join(find(small)), pytrace=False)


@profiles
def test_random_histories_answer_as_the_oracle_at_every_two_instants(profile: str) -> None:
    for number in range(HISTORIES):
        rng = seeded(profile, number)
        events = random_history(rng, rng.randint(1, 11), profile)
        report(events, problems, f"profile {profile}, seed {number}")


@profiles
def test_generated_histories_answer_as_the_oracle(profile: str) -> None:
    @settings(max_examples=40)
    @given(histories(profile))
    def answers(events: list[Event]) -> None:
        found = problems(events)
        assert not found, f"{story(events)}\n" + "\n".join(found)

    answers()


@profiles
def test_a_batch_settled_at_its_end_leaves_the_same_state(profile: str) -> None:
    for number in range(40):
        rng = seeded(profile, number)
        events = random_history(rng, 10, profile)
        batch = rng.randint(2, 12)
        report(events, partial(problems, batch=batch), f"{profile} {number} in batches of {batch}")
        assert play(events, batch=batch).state_hash == play(events).state_hash


@profiles
def test_every_order_of_a_small_set_ends_in_the_same_state(profile: str) -> None:
    for number in range(SETS):
        events = random_set(seeded(profile, number), 5, profile)
        log = to_oracle(events)
        hashes = set()
        for order in permutations(events):
            played = play(order, batch=len(order))
            found = wrong_answers(played, log, system_times=[None]) + wrong_state(played, log)
            assert not found, f"{profile} {number}\n{story(order)}\n" + "\n".join(found)
            hashes.add(played.state_hash)
        assert len(hashes) == 1, f"{profile} {number}: {len(hashes)} state hashes\n{story(events)}"


@profiles
def test_repeats_change_nothing(profile: str) -> None:
    for number in range(40):
        rng = seeded(profile, number)
        events = random_history(rng, 8, profile)
        played = play(events)
        before = played.history.event_seq, played.history.recorded_at, len(played.canvas.paintings)
        go_on(played, rng.sample(events, len(events)))
        assert (played.history.event_seq, played.history.recorded_at, len(played.canvas.paintings)) == before
        assert all(played.history.knows(event.event_id) for event in events)
        assert played.state_hash == play(events).state_hash


@profiles
def test_a_history_loaded_in_the_middle_goes_on_as_if_never_put_away(profile: str) -> None:
    def find(events: Sequence[Event]) -> list[str]:
        whole, log = play(events), to_oracle(events)
        found = []
        for cut in range(1, len(events)):
            played = start(events)
            go_on(played, events[:cut])
            played = reload(played)
            go_on(played, events[cut:])
            found += wrong_answers(played, log) + wrong_state(played, log)
            if played.state_hash != whole.state_hash:
                found.append(f"loaded after {cut}: another state hash")
        return found

    for number in range(40):
        report(random_history(seeded(profile, number), 8, profile), find, f"{profile} {number}")


@profiles
def test_long_histories_answer_as_the_oracle_through_whole_repaints(profile: str) -> None:
    rng = seeded(profile, 0)
    events = history(Dice(rng.randrange), 250, replace(PROFILES[profile], versions=(12, 16)))
    played, log = play(events, batch=7), to_oracle(events)
    times = sorted({event.recorded_at for event in played.counted})
    found = wrong_answers(played, log, system_times=[*rng.sample(times, 12), None]) + wrong_state(played, log)
    assert not found, f"{profile}\n{story(events)}\n" + "\n".join(found[:5])


@pytest.mark.parametrize("values", ["A", "AAAAAB", "ABCDEFGHIJ"])
def test_crowds_are_answered_through_their_lanes(values: str) -> None:
    for number in range(6):
        rng = seeded(values, number)
        profile = replace(CROWD, values=values, many=rng.choice((0, 0, 80)))
        events = history(Dice(rng.randrange), 60, profile)
        played, log = play(events, batch=rng.randint(1, 60)), to_oracle(events)
        times = sorted({event.recorded_at for event in played.counted})
        found = wrong_answers(played, log, system_times=[*rng.sample(times, 4), None]) + wrong_state(played, log)
        assert not found, f"crowd {values} {number}\n{story(events)}\n" + "\n".join(found[:5])


@profiles
def test_equal_state_hashes_mean_equal_state(profile: str) -> None:
    seen: dict[bytes, object] = {}
    for number in range(150):
        events = random_history(seeded(profile, number), 6, profile)
        state = fold(counted(to_oracle(events)))
        pictured = (tuple(ingredients(state)), frozenset(conflicts(state)))
        assert seen.setdefault(play(events).state_hash, pictured) == pictured, f"{profile} {number}\n{story(events)}"
    # a many-valued fact is hashed lane by lane, which tells more apart than its answers do
    assert len(seen) >= len(set(seen.values()))
    assert len(seen) == len(set(seen.values())) or profile in {"many", "texts"}
