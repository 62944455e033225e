"""``domain.resolve`` says what the brute-force reading of semantics.md says, at every pair of instants."""

from __future__ import annotations

from random import Random

import pytest

from chronofact.domain.history import History
from chronofact.domain.resolve import Answer, Conflict, Unknown, Value, Values, resolve, valid_during
from tests.property.oracle import OAnswer, answer_at, fold, known_by
from tests.property.oracle import valid_during as expected_during
from tests.property.strategies import GRID, PROFILES, STEP, random_history
from tests.property.translate import story, to_oracle

HISTORIES = 60
INSTANTS = [GRID[0] - STEP, *GRID, GRID[-1] + STEP // 2]


def spelled(answer: Answer) -> OAnswer:
    match answer:
        case Unknown(reason):
            return OAnswer("unknown", reason)
        case Value(version_id, agreeing):
            return OAnswer("value", None, agreeing, version_id)
        case Values(version_ids):
            return OAnswer("values", None, version_ids)
        case Conflict(version_ids):
            return OAnswer("conflict", None, version_ids)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_same_answers(profile: str) -> None:
    for number in range(HISTORIES):
        events = random_history(Random(f"resolve {profile} {number}"), 8, profile)
        log = to_oracle(events)
        times = sorted({event.recorded_at for event in events})
        for as_of in [times[0] - 1, *times, None]:
            known = known_by(log, as_of)
            state = fold(known)
            for at in INSTANTS:
                expected = answer_at(state, at) if known else OAnswer("unknown", "not_yet_known")
                answer = spelled(resolve(events, valid_at=at, system_as_of=as_of))
                assert answer == expected, f"{profile} {number} {at} {as_of}\n{story(events)}"


@pytest.mark.parametrize("profile", PROFILES)
def test_the_same_stretch_around_an_answer(profile: str) -> None:
    for number in range(HISTORIES):
        events = random_history(Random(f"during {profile} {number}"), 8, profile)
        log = to_oracle(events)
        history = History()
        for event in events:
            if not history.knows(event.event_id):
                history.apply(event)
        for at in INSTANTS:
            assert valid_during(history, at) == expected_during(log, at, None), f"{number} {at}\n{story(events)}"


def test_a_fact_without_events_was_never_recorded() -> None:
    assert resolve([], valid_at=0, system_as_of=None) == Unknown("never_recorded")
    assert known_by([], None) == []
