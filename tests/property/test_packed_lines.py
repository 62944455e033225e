"""Lines spelled where they are made are those of their columns, one after the other, and of the plain line objects."""

from __future__ import annotations

from struct import pack
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.projection import Lines
from chronofact.postgres import copy
from chronofact.postgres.packed import PackedLines
from tests.property.told_path import bad, folded, good

EPOCH = 946_684_800_000_000
FORMS = {"int2": "!h", "int4": "!i", "int8": "!q", "time": "!q", "float": "!d"}
instants = st.integers(-(2**61), 2**61)
ids = st.binary(min_size=16, max_size=16)
hashes = st.binary(min_size=32, max_size=32)
big, small = st.integers(0, 2**62), st.integers(0, 2**31 - 1)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(["ACTIVE", "REVOKED"])


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def column(sort: str, value: Any) -> bytes:
    if value is None:
        return pack("!i", -1)
    spelled = _spelled(sort, value)
    return pack("!i", len(spelled)) + spelled


def _spelled(sort: str, value: Any) -> bytes:
    if sort in FORMS:
        return pack(FORMS[sort], value - EPOCH if sort == "time" else value)
    if sort in {"raw", "text"}:
        return str(value).encode() if sort == "text" else bytes(value)
    return array(2950, value) if sort == "ids" else array(23, [pack("!i", one) for one in value])


def array(oid: int, items: list[bytes]) -> bytes:
    if not items and oid == 2950:
        return pack("!iii", 0, 0, oid)
    head = pack("!iiiii", 1, 0, oid, len(items), 1)
    return head + b"".join(pack("!i", len(one)) + one for one in items)


def plainly(sorts: str, values: tuple[Any, ...]) -> bytes:
    names = sorts.split()
    return pack("!h", len(names)) + b"".join(map(column, names, values))


@given(
    st.tuples(big, big, ids, instants, texts, st.lists(ids, max_size=3), st.binary(), hashes, st.integers(0, 99), big)
)
def test_event(values: tuple[Any, ...]) -> None:
    assert copy.event_line(*values) == plainly("int8 int8 raw time text ids raw raw int2 int8", values)


@given(
    st.tuples(
        *(big, small, ids, st.binary() | st.binary(min_size=2_040, max_size=2_060), hashes),
        *(maybe(instants), maybe(instants), instants, big, texts, hashes),
        *(maybe(st.floats(0, 1)), texts, maybe(ids), maybe(ids), maybe(ids)),
    )
)
def test_version(values: tuple[Any, ...]) -> None:
    sorts = "int8 int4 raw raw raw time time time int8 text raw float text raw raw raw"
    assert copy.version_line(*values) == plainly(sorts, values)


@given(st.tuples(big, small, big, texts, maybe(ids), maybe(ids), maybe(ids), maybe(st.floats(0, 1))))
def test_label(values: tuple[Any, ...]) -> None:
    assert copy.version_label_line(*values) == plainly("int8 int4 int8 text raw raw raw float", values)


numbers = st.integers(0, 5) | st.integers(60, 70) | small
behind = st.tuples(maybe(st.lists(numbers, max_size=3)), maybe(numbers)) | numbers.map(lambda no: ([no], no))


@given(
    st.tuples(
        *(big, small, instants, big, maybe(instants), maybe(instants)),
        *(st.integers(-1, 9), maybe(st.integers(-1, 9)), maybe(ids)),
    ),
    behind,
)
def test_timeline(values: tuple[Any, ...], last: tuple[Any, ...]) -> None:
    sorts = "int8 int4 time int8 time time int2 int2 raw numbers int4"
    assert copy.timeline_line(*values, *last) == plainly(sorts, (*values, *last))


def test_packed_lines_are_those_of_the_objects() -> None:
    said = list(good())
    for one in (said, [*said, *bad(said)]):
        assert list(folded(one, PackedLines)) == list(folded(one, Lines))
