"""The oracle itself is held to the scenarios, in order and in every order."""

from __future__ import annotations

from itertools import islice, pairwise, permutations
from random import Random

import pytest

from tests.property.cases import Case, bound, cases, events_of, instant, label, value_text
from tests.property.oracle import OAnswer, OLog, answer_at, conflicts, counted, fold, resolve

ORDERS_MAX = 200


def edges(log: OLog) -> set[tuple[str, str, str]]:
    return {(label(left), label(right), relation) for left, right, relation in conflicts(fold(counted(log)))}


def check(said: Case, answer: OAnswer, log: OLog) -> None:
    assert answer.kind == said["kind"]
    assert answer.reason == said.get("reason")
    assert [label(version) for version in answer.versions] == sorted(said.get("versions", []))
    if "value" in said:
        assert fold(counted(log)).versions[answer.winner or b""].value == value_text(said["value"])


def orders(log: OLog) -> list[OLog]:
    """Every order of a short log, else some."""
    if len(log) <= 5:
        return [list(order) for order in islice(permutations(log), ORDERS_MAX)]
    rng = Random(len(log))
    return [rng.sample(log, len(log)) for _ in range(ORDERS_MAX)]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_each_scenario_is_answered_as_written(case: Case) -> None:
    log = events_of(case)
    for said in case["answers"]:
        check(said, resolve(log, instant(said["valid_at"]), bound(said["as_of"])), log)
    assert edges(log) == {(left, right, relation) for left, right, relation in case["conflicts"]}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_no_order_of_delivery_changes_what_is_known_at_the_end(case: Case) -> None:
    log = events_of(case)
    assert case["name"] == "system_time_never_falls" or all(a.recorded_at <= b.recorded_at for a, b in pairwise(log))
    written = edges(log)
    for order in orders(log):
        state = fold(counted(order))
        for said in case["answers"]:
            if said["as_of"] is None and order:
                check(said, answer_at(state, instant(said["valid_at"])), order)
        assert edges(order) == written


def test_there_are_as_many_scenarios_as_were_written() -> None:
    assert len(cases()) == 48
