"""What a check left undecided is told in its reason, and read from it."""

from __future__ import annotations

import pytest

from chronofact.contracts.pending import REASON_CHARS_MAX, PendingPair, beyond_in, pending_in, reason_of_check


def test_pairs_are_read_as_they_were_told() -> None:
    pairs = [PendingPair(bytes([n]) * 16, "model_unreachable" if n % 2 else "budget_spent") for n in range(6)]
    assert pending_in(reason_of_check("model", pairs)) == pairs


def test_order_of_the_pairs_makes_no_other_event() -> None:
    pairs = [PendingPair(bytes([n]) * 16, "model_unreachable") for n in range(4)]
    assert reason_of_check("model", pairs) == reason_of_check("model", reversed(pairs))


def test_a_check_that_left_nothing_says_why_in_a_word() -> None:
    assert reason_of_check("no_pairs", []) == "no_pairs"
    assert pending_in("no_pairs") == []


def test_more_pairs_than_a_reason_has_room_for_are_cut_off() -> None:
    pairs = [PendingPair(n.to_bytes(16, "big"), "model_unreachable") for n in range(500)]
    told = reason_of_check("model", pairs)
    assert len(told) <= REASON_CHARS_MAX
    assert 90 < len(pending_in(told)) < 110


@pytest.mark.parametrize(
    "reason",
    [
        None,
        "",
        "{",
        "[]",
        "7",
        '{"pending":7}',
        '{"pending":{"x":7}}',
        '{"pending":{"x":["no id",7]}}',
        '{"pending":[]}',
    ],
)
def test_another_text_names_no_pair(reason: str | None) -> None:
    assert pending_in(reason) == []


def test_further_pairs_are_counted_beside_those_that_are_named() -> None:
    told = reason_of_check("pending", [PendingPair(bytes(16), "model_slow")], beyond=43)
    assert beyond_in(told) == 43
    assert [one.reason for one in pending_in(told)] == ["model_slow"]
    for other in (None, "rule", "[]", '{"beyond": "3"}', '{"beyond": -1}', "{", reason_of_check("pending", [])):
        assert beyond_in(other) == 0
