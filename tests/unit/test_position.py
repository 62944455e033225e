from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.position import Position
from chronofact.domain.errors import Rejected

OFFSETS = st.dictionaries(st.integers(0, 2**31 - 1), st.integers(0, 2**62), max_size=12)
POSITIONS = st.builds(Position, st.binary(min_size=16, max_size=16), OFFSETS)
TOPIC = bytes(range(16))


@given(POSITIONS)
def test_a_token_gives_its_position_back(position: Position) -> None:
    assert Position.parse(position.encode()) == position


@given(st.text(max_size=60) | st.binary(max_size=60).map(bytes.hex))
def test_other_text_is_refused(text: str) -> None:
    with suppress(Rejected):
        assert Position.parse(text).encode() == text


@pytest.mark.parametrize("text", ["", "AQ", "é", "AQABAgMEBQYHCAkKCwwNDg8=", "A" * 20_000])
def test_broken_tokens_are_refused_by_name(text: str) -> None:
    with pytest.raises(Rejected) as refused:
        Position.parse(text)
    assert refused.value.code == "position_malformed"


def test_equal_positions_have_equal_tokens() -> None:
    assert Position(TOPIC, {1: 2, 0: 5}).encode() == Position(TOPIC, {0: 5, 1: 2}).encode()


def test_merging_covers_both() -> None:
    merged = Position(TOPIC, {0: 5, 1: 2}).merge(Position(TOPIC, {1: 7, 3: 1}))
    assert dict(merged.next_offsets) == {0: 5, 1: 7, 3: 1}
    assert merged.is_passed_by({0: 5, 1: 8, 3: 1})
    assert not merged.is_passed_by({0: 5, 1: 6, 3: 1})
    assert not merged.is_passed_by({0: 5, 1: 7})


def test_positions_of_two_topics_can_not_be_compared() -> None:
    with pytest.raises(Rejected) as refused:
        Position(TOPIC).merge(Position(bytes(16)))
    assert refused.value.code == "position_of_other_topic"
