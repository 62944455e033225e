"""Canonical JSON against an implementation that is not ours."""

from __future__ import annotations

import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from chronofact.domain.canonical import DEPTH_MAX, SAFE_INTEGER, Json, canonical
from chronofact.domain.errors import Rejected

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
NUMBERS = st.integers(-SAFE_INTEGER + 1, SAFE_INTEGER - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@given(VALUES)
def test_bytes_are_those_of_rfc_8785(value: Json) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_what_is_canonical_stays_as_it_is(value: Json) -> None:
    once = canonical(value)
    assert canonical(json.loads(once)) == once, "what a reader is told may be said again"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_value(number: float) -> None:
    assert float(canonical(number)) == number


def test_spellings_of_one_number_are_one_value() -> None:
    assert {canonical(json.loads(text)) for text in ("1", "1.0", "1e0", "10E-1")} == {b"1"}
    assert canonical(-0.0) == b"0"


@pytest.mark.parametrize("number", [2**53 + 2, 10**16, -(10**17), 123456789012345680000, 999999999999999900000])
def test_an_integer_beyond_a_doubles_is_held_where_canonical_json_spells_it_so(number: int) -> None:
    assert canonical(number) == canonical(float(number)) == str(number).encode()


def test_names_are_sorted_by_utf_16_units() -> None:
    assert canonical({"\U0001f600": 1, "\ufb33": 2, "a": 3}) == '{"a":3,"\U0001f600":1,"\ufb33":2}'.encode()


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (float("nan"), "number_not_finite"),
        ([float("inf")], "number_not_finite"),
        (SAFE_INTEGER + 1, "integer_unsafe"),
        ({"a": -SAFE_INTEGER - 1}, "integer_unsafe"),
        (2**64, "integer_unsafe"),
        (10**21, "integer_unsafe"),
        ("\ud800", "surrogate_lone"),
        ({"\udfff": 1}, "surrogate_lone"),
        (["a\x00"], "nul_character"),
        ({"\x00": 1}, "nul_character"),
        (nested(DEPTH_MAX + 1), "nesting_too_deep"),
    ],
    ids=lambda found: found if isinstance(found, str) and found.isidentifier() else "",
)
def test_what_can_not_be_held_is_refused_by_name(value: Json, code: str) -> None:
    with pytest.raises(Rejected) as refused:
        canonical(value)
    assert refused.value.code == code


def test_limits_themselves_are_held() -> None:
    assert canonical(SAFE_INTEGER) == b"9007199254740992"
    assert canonical(nested(DEPTH_MAX)).count(b"[") == DEPTH_MAX
