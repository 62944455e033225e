"""Rule versions of the fold: rule 1 tells spellings apart, rule 2 does not, and both are the same for ASCII (docs/rules.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import permutations
from random import Random
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event
from chronofact.domain.explain import explain
from chronofact.domain.history import History
from chronofact.domain.resolve import answer_at, resolve
from chronofact.domain.resolve import valid_during as lasting
from chronofact.domain.rules import RULES, value_key
from chronofact.domain.sentences import Around, sentences
from chronofact.domain.statehash import MODULUS
from tests.property.oracle import conflicts, fold
from tests.property.oracle.timeline import valid_during
from tests.property.play import Play, go_on, play, problems, reload, start, wrong_answers, wrong_state
from tests.property.spelled import composed, spelled
from tests.property.strategies import CROWD, GRID, PROFILES, Dice, history, random_history, random_set
from tests.property.test_fold_against_oracle import report
from tests.property.translate import story, to_oracle

HISTORIES = 120
"""For each profile and rule."""
profiles = pytest.mark.parametrize("profile", PROFILES)
rules = pytest.mark.parametrize("rule", RULES)


def seeded(profile: str, number: int) -> Random:
    return Random(f"rules {profile} {number}")


def histories(profile: str, count: int, size: int) -> list[list[Event]]:
    return [spelled(random_history(seeded(profile, n), 2 + n % size, profile)) for n in range(count)]


def painted(played: Play) -> list[str]:
    """Lines of one event that lie on several lanes come in no particular order."""
    return sorted(map(repr, played.canvas.paintings))


@rules
@profiles
def test_spelled_histories_answer_as_the_oracle_at_every_two_instants(profile: str, rule: int) -> None:
    for number, events in enumerate(histories(profile, HISTORIES, 10)):
        find = partial(problems, batch=1 + number % 4, rule=rule)
        report(events, find, f"rule {rule}, profile {profile}, {number}")


@rules
@pytest.mark.parametrize("values", ["AB", "AAAAAB", "ABCDEFGHIJ"])
def test_so_do_crowds(values: str, rule: int) -> None:
    for number in range(4):
        rng = seeded(values, number)
        profile = replace(CROWD, values=values, many=rng.choice((0, 0, 80)))
        events = spelled(history(Dice(rng.randrange), 60, profile))
        played, log = play(events, batch=rng.randint(1, 60), rule=rule), to_oracle(events, rule)
        times = sorted({event.recorded_at for event in played.counted})
        found = wrong_answers(played, log, system_times=[*rng.sample(times, 4), None]) + wrong_state(played, log)
        assert not found, f"crowd {values} {number}\n{story(events)}\n" + "\n".join(found[:5])


@rules
@profiles
def test_a_spelled_history_loaded_in_the_middle_goes_on(profile: str, rule: int) -> None:
    def find(events: Sequence[Event]) -> list[str]:
        whole, log = play(events, rule=rule), to_oracle(events, rule)
        found = []
        for cut in range(1, len(events)):
            played = start(events, rule=rule)
            go_on(played, events[:cut])
            played = reload(played)
            go_on(played, events[cut:])
            found += wrong_state(played, log)
            if played.state_hash != whole.state_hash:
                found.append(f"loaded after {cut}: another state hash")
        return found

    for number, events in enumerate(histories(profile, 20, 8)):
        report(events, find, f"rule {rule}, {profile} {number}")


@rules
@profiles
def test_every_order_of_a_spelled_set_has_one_state_hash(profile: str, rule: int) -> None:
    for number in range(4):
        events = spelled(random_set(seeded(profile, number), 5, profile))
        hashes = {play(order, batch=1 + number, rule=rule).state_hash for order in permutations(events)}
        assert len(hashes) == 1, story(events)


@profiles
def test_both_rules_are_one_where_all_is_ascii(profile: str) -> None:
    for number in range(HISTORIES):
        events = random_history(seeded(profile, number), 9, profile)
        first, second = (play(events, rule=rule) for rule in RULES)
        assert first.state_hash == second.state_hash, story(events)
        assert painted(first) == painted(second), story(events)
        assert (first.labels, first.edges) == (second.labels, second.edges), story(events)


@profiles
def test_by_rule_2_a_history_is_what_it_is_once_all_is_composed(profile: str) -> None:
    told_apart = 0
    for events in histories(profile, HISTORIES, 10):
        second, plain = play(events, rule=2), play(composed(events), rule=1)
        assert second.state_hash == plain.state_hash, story(events)
        assert painted(second) == painted(plain), story(events)
        assert second.edges == plain.edges, story(events)
        told_apart += play(events, rule=1).state_hash != second.state_hash
    assert told_apart > 5


@rules
@profiles
def test_a_spelled_fact_is_resolved_and_explained_alike(profile: str, rule: int) -> None:
    for events in histories(profile, 25, 9):
        log = to_oracle(events, rule)
        rested = History.at_rest(play(events, rule=rule).counted, rule=rule)
        for at in (-5, *GRID):
            answer = resolve(events, valid_at=at, system_as_of=None, rule=rule)
            told = explain(events, valid_at=at, system_as_of=None, rule=rule)
            assert told.answer == answer == answer_at(rested, at), story(events)
            assert lasting(rested, at) == valid_during(log, at, None), story(events)
            assert sentences(told, Around())
        assert rested.open.count >= 0
        assert all(relation in {"OPEN", "RESOLVED"} for *_, relation in conflicts(fold(log)))


@rules
def test_state_hashes_of_facts_add_up_whatever_came_in_which_batch(rule: int) -> None:
    """The sum over many facts is kept up by adding what each batch changes."""
    total = 0
    facts: list[Play] = []
    for profile in PROFILES:
        for events in histories(profile, 6, 10):
            played = start(events, rule=rule)
            facts.append(played)
            before = 0
            for event in events:
                go_on(played, [event])
                after = int.from_bytes(played.state_hash)
                total = (total + after - before) % MODULUS
                before = after
    assert total == sum(int.from_bytes(one.state_hash) for one in facts) % MODULUS
    whole = [play(one.counted, batch=100, rule=rule).state_hash for one in facts]
    assert total == sum(map(int.from_bytes, whole)) % MODULUS


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=8))
def test_a_key_is_that_of_the_composed_value(text: str) -> None:
    for spelling in (text, normalize("NFC", text), normalize("NFD", text)):
        value = spelling.encode()
        value_hash = sha256(value).digest()
        assert value_key(value, value_hash, 1) == value_hash
        assert value_key(value, value_hash, 2) == sha256(normalize("NFC", text).encode()).digest()


def test_what_unicode_14_does_not_have_is_compared_by_its_bytes() -> None:
    for later in ("\U00011383\u0301e\u0301", "\u0897e\u0301", "\U0001e6e3e\u0301"):
        value = f'"{later}"'.encode()
        assert value_key(value, b"its own", 2) == b"its own"


@pytest.mark.parametrize("rule", [0, 3, -1])
def test_an_unknown_rule_is_refused_by_name(rule: int) -> None:
    for make in (History, partial(History.load, ()), partial(History.at_rest, ())):
        with pytest.raises(Rejected) as refused:
            make(rule=rule)
        assert refused.value.code == "rule_unknown"
        assert str(rule) in str(refused.value)
