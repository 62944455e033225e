"""Groups of near duplicates: joined, parted and superseded in any order they are what a fold at once says, and cost about linear."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import permutations
from random import Random
from time import process_time

import pytest

from chronofact.domain.events import (
    Cardinality,
    Decider,
    Event,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    Happening,
    Lifecycle,
    RelationDeclared,
    Succession,
    Verdict,
)
from chronofact.domain.history import History
from chronofact.domain.interval import Interval
from chronofact.domain.labels import Label
from tests.property.play import problems
from tests.property.test_hot_facts import events_of, version_of
from tests.property.translate import story

VERDICTS = (*[Verdict.NEAR_DUPLICATE] * 5, *[Verdict.SUPERSEDES] * 2, Verdict.UNRELATED, Verdict.CONTRADICTS)
DECIDERS = (*[Decider.MODEL] * 4, Decider.PERSON)


def memory(number: int, start: int | None, lifecycle: Lifecycle = Lifecycle.ACTIVE) -> FactAsserted:
    value = b'"%d"' % number
    return FactAsserted(
        version_of(number),
        value,
        sha256(value).digest(),
        Interval(start, None),
        "s",
        bytes(32),
        lifecycle,
        Cardinality.MANY,
        valid_from_known=start is not None,
    )


def relation(one: int, other: int, verdict: Verdict, *, at: int = 3, by: Decider = Decider.MODEL) -> RelationDeclared:
    """Of the first to the second."""
    left, right = sorted((version_of(one), version_of(other)))
    return RelationDeclared(left, right, verdict, version_of(one) if verdict is Verdict.SUPERSEDES else None, at, by)


def random_events(rng: Random, memories: int, relations: int) -> list[Event]:
    """Everything that can befall memories, in any order, some before what it speaks of."""
    lifecycles = (*[Lifecycle.ACTIVE] * 5, Lifecycle.PROPOSED)
    said: list[Happening] = [
        memory(n, rng.choice((None, *range(0, 60, 10))), rng.choice(lifecycles)) for n in range(memories)
    ]
    for number in range(relations):
        one, other = rng.sample(range(memories), 2)
        said.append(relation(one, other, rng.choice(VERDICTS), at=number % 7, by=rng.choice(DECIDERS)))
    some = rng.sample(range(memories), max(3, memories // 3))
    said += [FactRevoked(version_of(some[0])), FactEnded(version_of(some[1]), 35), FactActivated(version_of(some[2]))]
    said = [what for at, what in enumerate(said) if what not in said[:at]]
    rng.shuffle(said)
    return events_of(said)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_folded_event_by_event_is_what_the_brute_force_says(seed: int) -> None:
    rng = Random(seed)
    events = random_events(rng, rng.randrange(4, 7), rng.randrange(4, 12))
    found = problems(events)
    assert not found, "\n".join([story(events), *found[:5]])


@pytest.mark.parametrize("seed", range(60))
def test_large_groups_folded_event_by_event_are_those_folded_at_once(seed: int) -> None:
    rng = Random(1_000 + seed)
    events = random_events(rng, rng.randrange(12, 40), rng.randrange(20, 90))
    state = History()
    labels: dict[int, Label] = {}
    for number, event in enumerate(events, start=1):
        state.apply(event)
        if rng.random() < 0.3 or number == len(events):
            outcome = state.take_outcome()
            labels |= dict(outcome.labels)
            if rng.random() < 0.3 or number == len(events):
                whole = History.load(events[:number])
                at_once = History()
                for one in events[:number]:
                    at_once.apply(one)
                told = at_once.take_outcome()
                assert labels == dict(told.labels), story(events[:number])
                assert outcome.state_hash == told.state_hash == whole.take_outcome().state_hash
                assert lanes_of(state) == lanes_of(at_once) == lanes_of(whole)


@pytest.mark.parametrize("order", [*permutations(range(4))])
def test_an_automatic_edge_to_one_that_had_ended_covers_its_near_duplicates_too(order: tuple[int, ...]) -> None:
    said: list[Happening] = [
        single(0, Interval(None, 10)),
        single(1, Interval(20, None)),
        single(2, Interval(20, None)),
        relation(0, 2, Verdict.NEAR_DUPLICATE),
    ]
    state = History()
    for event in events_of([said[place] for place in order]):
        state.apply(event)
    labels = {state.standing.numbered[number - 1].id: label for number, label in state.take_outcome().labels}
    assert [labels[version_of(number)].lifecycle for number in range(3)] == ["ACTIVE", "ACTIVE", "SUPERSEDED"]
    assert labels[version_of(2)].superseded_by_id == version_of(1)


def single(number: int, valid: Interval) -> FactAsserted:
    value = b'"%d"' % number
    succession = Succession.AUTOMATIC if number == 1 else Succession.EXPLICIT
    hashed = sha256(value).digest()
    return FactAsserted(version_of(number), value, hashed, valid, "s", bytes(32), succession=succession)


def lanes_of(state: History) -> list[object]:
    return [
        (version.eligible, version.covered, version.merged_into and version.merged_into.id)
        for version in state.standing.numbered
    ]


def chain(memories: int) -> Iterator[Happening]:
    """Each one is a near duplicate of the one before."""
    for number in range(memories):
        yield memory(number, number)
        if number:
            yield relation(number, number - 1, Verdict.NEAR_DUPLICATE)


def backwards(memories: int) -> Iterator[Happening]:
    """As a chain, but the latest is told first: each one survives all that were told before it."""
    for number in range(memories):
        yield memory(number, memories - number)
        if number:
            yield relation(number, number - 1, Verdict.NEAR_DUPLICATE)


def star(memories: int) -> Iterator[Happening]:
    """Each one is a near duplicate of the first, which another has superseded."""
    yield memory(memories, 5)
    for number in range(memories):
        yield memory(number, number)
        if number:
            yield relation(number, 0, Verdict.NEAR_DUPLICATE)
        if number == 3:
            yield relation(memories, 0, Verdict.SUPERSEDES)


def switched(memories: int) -> Iterator[Happening]:
    """One supersedes each of a group of near duplicates."""
    yield from chain(memories)
    yield memory(memories, memories)
    for number in range(memories):
        yield relation(memories, number, Verdict.SUPERSEDES)


def revoked(memories: int) -> Iterator[Happening]:
    """The survivors are taken back, one after the other, by one source."""
    yield from chain(memories)
    for number in range(memories // 20):
        yield FactRevoked(version_of(number))


@pytest.mark.parametrize("make", [chain, star, switched, revoked])
def test_thousands_of_near_duplicates_cost_about_linear(make: Callable[[int], Iterator[Happening]]) -> None:
    assert seconds(make(3_200)) < 4 * 2.5 * max(seconds(make(800)), 0.005), "quadratic would be sixteen times as long"


def test_who_is_renamed_again_and_again_within_a_batch_costs_no_more_than_once() -> None:
    few, many = (seconds(backwards(memories), batch=10**6) for memories in (800, 9_600))
    assert many < 12 * 1.8 * few, "with a look at each member at each change it is forty times as long"


def seconds(said: Iterator[Happening], *, batch: int = 200) -> float:
    """To fold it in batches; the better of two runs."""
    events = events_of(list(said))
    return min(_folded(events, batch), _folded(events, batch))


def _folded(events: list[Event], batch: int) -> float:
    started = process_time()
    state = History()
    for number, event in enumerate(events):
        state.apply(event)
        if number % batch == 0:
            state.take_outcome()
    state.take_outcome()
    return process_time() - started
