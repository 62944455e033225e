"""How long a model's server asks to be left alone, whatever it says."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.text.endpoint import seconds_of


@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        (None, None),
        ("7", 7.0),
        ("-7", 0.0),
        ("nan", 0.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        ("Mon, 01 Jan 2024 00:00:00 +" + "9" * 18, None),
        ("Mon, 01 Jan 99999 00:00:00 GMT", None),
    ],
)
def test_what_can_be_read_is_waited_for(said: str | None, wait_s: float | None) -> None:
    assert seconds_of(said) == wait_s


@given(
    st.text(max_size=60) | st.from_regex(r"Mon, [0-9]{1,6} Jan [0-9]{1,9} [0-9:]{1,9} [+-][0-9]{1,30}", fullmatch=True)
)
def test_nothing_that_is_said_is_a_fault_of_ours(said: str) -> None:
    wait_s = seconds_of(said)
    assert wait_s is None or (wait_s >= 0 and not math.isnan(wait_s))
