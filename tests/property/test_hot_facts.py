"""Facts of many versions: crowds, rivals beyond the first thousand, lanes of many stretches."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations
from random import Random

import pytest

from chronofact.domain.events import (
    Cardinality,
    Decider,
    Event,
    FactAsserted,
    FactRevoked,
    Happening,
    Lifecycle,
    Mode,
    RelationDeclared,
    Succession,
    Supersession,
    Verdict,
)
from chronofact.domain.history import History
from chronofact.domain.interval import Interval
from chronofact.domain.rivals import OPEN_EDGES_MAX
from tests.property.play import problems
from tests.property.strategies import event_id_of
from tests.property.translate import story


def version_of(number: int) -> bytes:
    return sha256(b"%d" % number).digest()[:16]


def claim(
    number: int, start: int | None, end: int | None, *over: Supersession, cardinality: Cardinality = Cardinality.ONE
) -> FactAsserted:
    text = b"%d" % (number % 97)
    digest = sha256(text).digest()
    return FactAsserted(
        version_of(number), text, digest, Interval(start, end), "s", bytes(32), cardinality=cardinality, supersedes=over
    )


def events_of(said: Sequence[Happening]) -> list[Event]:
    return [Event(event_id_of(what), what, at) for at, what in enumerate(said)]


def folded(events: list[Event]) -> History:
    history = History()
    for event in events:
        history.apply(event)
    return history


def rival_pairs(numbers: set[int]) -> list[tuple[bytes, bytes]]:
    pairs = (sorted((version_of(a), version_of(b))) for a, b in combinations(numbers, 2) if (a - b) % 97)
    return sorted((left, right) for left, right in pairs)


@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_rivals_is_exact_and_the_first_thousand_are_kept(seed: int) -> None:
    rng = Random(seed)
    there: set[int] = set()
    history = History()
    for at in range(220):
        number = len(there) + at
        what: Happening = claim(number, None, None)
        gone = rng.choice(sorted(there)) if there and rng.random() < 0.2 else None
        there.add(number)
        history.apply(Event(event_id_of(what), what, at))
        if gone is not None:
            there.remove(gone)
            history.apply(Event(event_id_of(FactRevoked(version_of(gone))), FactRevoked(version_of(gone)), at))
        pairs = rival_pairs(there)
        assert history.conflicts_open == len(pairs)
        if at % 20 == 0:
            history.take_outcome()
            assert history.open.first == pairs[:OPEN_EDGES_MAX]


def test_a_loaded_fact_of_many_rivals_trusts_its_count() -> None:
    events = events_of([claim(number, None, None) for number in range(230)])
    history = folded(events)
    digest = history.take_outcome().state_hash
    loaded = History.load(
        events, painted=history.painted, lane_mode=history.lane_mode, conflicts_open=history.conflicts_open
    )
    assert loaded.conflicts_open == history.conflicts_open == len(rival_pairs(set(range(230))))
    assert loaded.open.first == history.open.first
    assert loaded.take_outcome().state_hash == digest


def test_a_count_that_is_too_high_ends_the_search_with_all_that_there_are() -> None:
    events = events_of([claim(number, None, None) for number in range(0, 97 * 205, 97)] + [claim(1, None, None)])
    loaded = History.load(events, conflicts_open=10_000)
    assert len(loaded.open.first) == 205


def test_few_rivals_may_go_beside_many() -> None:
    history = folded(events_of([claim(number, 0, None) for number in range(60)]))
    there = {*range(60)}
    for group in range(1_000, 1_200, 10):
        for number in range(group, group + 4):
            what = claim(number, -10 * group, -10 * group + 5)
            history.apply(Event(event_id_of(what), what, number))
        revoked = FactRevoked(version_of(group))
        history.apply(Event(event_id_of(revoked), revoked, group + 9))
        beside = [pair for g in range(1_000, group + 1, 10) for pair in rival_pairs({g + 1, g + 2, g + 3})]
        pairs = sorted(rival_pairs(there) + beside)
        assert history.conflicts_open == len(pairs)
        assert history.open.first == pairs[:OPEN_EDGES_MAX]


def test_crowds_with_nobody_in_common_are_hashed_by_their_members() -> None:
    said = [claim(number, number // 20 * 10, number // 20 * 10 + 10) for number in range(60)]
    hashes = set()
    for seed in range(3):
        Random(seed).shuffle(said)
        history = History()
        for event in events_of(said):
            history.apply(event)
            digest = history.take_outcome().state_hash
        hashes.add(digest)
    hashes.add(folded(events_of(said)).take_outcome().state_hash)
    assert len(hashes) == 1


def test_rows_of_a_crowd_grow_with_its_versions_not_with_their_square() -> None:
    rng = Random(1)
    numbers = {10: 0, 400: 0}
    for size in numbers:
        history = History()
        for number in range(size):
            what = claim(number, rng.randrange(10_000), None)
            change = history.apply(Event(event_id_of(what), what, number))
            numbers[size] += sum(1 + len(painting.versions or ()) for painting in change.paintings)
    assert numbers[400] < 40 * numbers[10]


@pytest.mark.parametrize("cardinality", Cardinality)
def test_a_lane_of_many_stretches_answers_right_through_its_repaints(cardinality: Cardinality) -> None:
    rng = Random(cardinality)
    over = Supersession(version_of(0), mode=Mode.OVERRIDE)
    said: list[Happening] = [claim(0, None, None, cardinality=cardinality)]
    starts = rng.sample(range(0, 400, 10), 40)
    said += [claim(n + 1, start, start + 5, over, cardinality=cardinality) for n, start in enumerate(starts)]
    said += [FactRevoked(version_of(n + 1)) for n in rng.sample(range(40), 25)]
    events = events_of(said)
    found = problems(events)
    assert not found, "\n".join([story(events), *found[:5]])


def related(pair: list[int], relation: Verdict, newer: int | None = None) -> RelationDeclared:
    a, b = sorted(map(version_of, pair))
    return RelationDeclared(a, b, relation, None if newer is None else version_of(newer), 3, Decider.MODEL)


def text(number: int, start: int | None, succession: Succession, **said: object) -> FactAsserted:
    digest = sha256(b"%d" % number).digest()
    return FactAsserted(
        version_of(number), b"%d" % number, digest, Interval(start, None), "s", bytes(32), succession=succession, **said  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_relations_in_a_single_valued_fact_with_automatic_succession(seed: int) -> None:
    rng = Random(seed)
    said: list[Happening] = [text(n, rng.randrange(0, 60, 10), rng.choice(list(Succession))) for n in range(5)]
    said += [related(rng.sample(range(5), 2), Verdict.NEAR_DUPLICATE) for _ in range(2)]
    pair = rng.sample(range(5), 2)
    said += [related(pair, Verdict.SUPERSEDES, pair[0]), related(pair, Verdict.CONTRADICTS)]
    said += [text(6, 20, Succession.AUTOMATIC, lifecycle=Lifecycle.PROPOSED)]
    said = [what for at, what in enumerate(said) if what not in said[:at]]
    rng.shuffle(said)
    events = events_of(said)
    found = problems(events)
    assert not found, "\n".join([story(events), *found[:5]])
