"""Decoding by hand agrees with fastavro: what it reads is the same, and what it does not read fastavro judges."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts import codec
from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.domain.errors import Rejected

SHORT = st.binary(max_size=300)
TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
KINDS = st.sampled_from(["FactAsserted", "FactEnded", "RelationsChecked", "EventDropped"])


def fixed(size: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=size, max_size=size)


EVENTS = st.builds(
    FactEvent,
    fixed(16),
    KINDS,
    SHORT,
    TEXTS,
    SHORT,
    st.none() | SHORT,
    st.none() | fixed(16),
    st.none() | fixed(32),
    st.none() | fixed(32),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    TEXTS,
)


def exactly(data: bytes) -> FactEvent | None:
    try:
        return codec._decoded_exactly(codec._codec(), data)
    except Rejected:
        return None


@given(EVENTS)
def test_what_is_encoded_is_decoded_both_ways(event: FactEvent) -> None:
    data = encode_event(event)
    assert exactly(data) == event
    by_hand = codec._decoded_plainly(data)
    assert by_hand == event or (by_hand is None and abs(event.import_time or 0) >= 2**62)


@given(EVENTS, st.data())
def test_mangled_bytes_are_never_read_in_another_way(event: FactEvent, draw: Any) -> None:
    data = encode_event(event)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(10, len(data)))
        data = data[:at] + draw.draw(st.binary(max_size=3)) + data[at + draw.draw(st.integers(0, 3)) :]
    by_hand = codec._decoded_plainly(data)
    assert by_hand is None or by_hand == exactly(data)
