"""What the rule decides on labelled pairs, by the way that a service takes: keys first, then the frames."""

from __future__ import annotations

import pytest

from chronofact.text.pairs import Outcome
from tests.labelled_pairs import fired, pairs

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("file", "tag", "recall"),
    [
        ("subject_pairs.jsonl", "", 0.75),
        ("subject_pairs_more.jsonl", "tune", 0.70),
        ("subject_pairs_more.jsonl", "held", 0.50),
        ("subject_pairs_third.jsonl", "", 0.80),
        ("subject_pairs_fourth.jsonl", "", 0.39),
        ("subject_pairs_fifth.jsonl", "second", 0.57),
        ("subject_pairs_fifth.jsonl", "", 0.69),
        ("subject_pairs_sixth.jsonl", "second", 0.45),
        ("subject_pairs_sixth.jsonl", "", 0.50),
    ],
)
def test_the_rule_is_right_and_finds_most(file: str, tag: str, recall: float) -> None:
    some = pairs(file, tag)
    right, wrong = fired(some)
    asked = [pair for pair in some if pair.should_fire]
    assert len(right) / (len(right) + len(wrong)) >= 0.97, [pair.name for pair in wrong]
    assert sum(pair.should_fire for pair in right) / len(asked) >= recall


@pytest.mark.parametrize("file", [f"subject_pairs_{name}.jsonl" for name in ("third", "fourth", "fifth", "sixth")])
def test_of_82_that_must_not_be_at_most_two_are_superseded(file: str) -> None:
    some = pairs(file)
    _, wrong = fired(some)
    must_not = [pair for pair in some if not pair.should_fire]
    assert len(must_not) > 160
    assert len(wrong) * 82 <= 2 * len(must_not), [pair.name for pair in wrong]


def test_no_pair_of_unknown_or_equal_starts_is_decided_by_rule() -> None:
    some = [
        *pairs(),
        *pairs("subject_pairs_more.jsonl"),
        *pairs("subject_pairs_fourth.jsonl"),
        *pairs("subject_pairs_fifth.jsonl"),
        *pairs("subject_pairs_sixth.jsonl"),
    ]
    odd = [pair for pair in some if pair.said["order"] in {"same_time", "new_unknown", "candidate_unknown"}]
    assert len(odd) > 20
    assert [pair.name for pair in odd if pair.judged().outcome is Outcome.DECIDED] == []


def test_unknown_starts_reach_a_model() -> None:
    unknown = [pair for pair in pairs() if pair.said["order"] in {"new_unknown", "candidate_unknown"}]
    assert [pair.name for pair in unknown if pair.judged().outcome is not Outcome.MODEL] == []


def test_a_closed_candidate_is_left_alone() -> None:
    closed = [pair for pair in pairs() if pair.said["order"] == "candidate_closed"]
    assert closed
    assert [pair.name for pair in closed if pair.judged().outcome is not Outcome.NOTHING] == []


def test_what_starts_earlier_is_superseded_whichever_came_first() -> None:
    late = [pair for pair in pairs() if pair.said["order"] == "new_earlier"]
    decided = [pair for pair in late if pair.judged().outcome is Outcome.DECIDED]
    assert len(decided) >= 2
    assert [pair.name for pair in decided if not pair.is_right(pair.judged())] == []


def test_the_first_example_needs_no_model_and_no_similarity() -> None:
    first = pairs()[0]
    assert first.candidate.text == "User prefers Python"
    assert first.is_found()
    assert first.judged(0.2987).outcome is Outcome.DECIDED
