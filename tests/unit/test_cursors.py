"""Cursors come back as they were given, to the very call that gave them, and to no other."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from uuid import UUID, uuid4

import pytest

from chronofact.contracts.position import Position
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import INSTANT_MAX, INSTANT_MIN
from chronofact.reader.cursors import Check, Cursors, Place, instant, natural, text, uuid

TENANT = UUID(int=1)
CUT = Position(bytes(range(16)), {0: 5, 11: 2**40})
FACTS = Cursors("/v1/facts", TENANT, [("subject", "ada"), ("limit", "5")])


def refusal(cursors: Cursors, cursor: str, *checks: Check) -> str:
    with pytest.raises(Rejected) as refused:
        cursors.place(cursor, *checks)
    assert refused.value.field == "cursor"
    return refused.value.code


@pytest.mark.parametrize(
    ("place", "checks"),
    [
        (Place(["user", "self", "ключ"], 7, CUT), (text, text, text)),
        (Place([2**61]), (natural,)),
        (Place([INSTANT_MIN, str(UUID(int=3))], cut=CUT), (instant, uuid)),
    ],
)
def test_a_cursor_comes_back_as_it_was_given(place: Place, checks: tuple[Check, ...]) -> None:
    assert FACTS.place(FACTS.spell(place), *checks) == place


def test_none_begins() -> None:
    assert FACTS.place(None, text) is None


def test_the_cut_is_one_offset_a_partition() -> None:
    assert Place([], cut=CUT).next_offsets() == [5, *[0] * 10, 2**40]
    assert Place([]).next_offsets() is None


def test_limit_and_position_may_change_from_page_to_page() -> None:
    cursor = FACTS.spell(Place(["a"]))
    again = Cursors("/v1/facts", TENANT, [("after", "x"), ("cursor", cursor), ("subject", "ada"), ("wait_ms", "1")])
    assert again.place(cursor, text) == Place(["a"])


@pytest.mark.parametrize(
    "other",
    [
        Cursors("/v1/conflicts", TENANT, [("subject", "ada")]),
        Cursors("/v1/facts", uuid4(), [("subject", "ada")]),
        Cursors("/v1/facts", TENANT, [("subject", "bob")]),
        Cursors("/v1/facts", TENANT, [("subject", "ada"), ("prefix", "p")]),
        Cursors("/v1/facts", TENANT, []),
    ],
)
def test_a_cursor_of_another_call_tenant_or_query_is_refused(other: Cursors) -> None:
    assert refusal(other, FACTS.spell(Place(["a"])), text) == "cursor_of_other_call"


def test_the_order_of_parameters_matters_only_among_repeats() -> None:
    one = Cursors("/v1/context", TENANT, [("scope", "a"), ("subject", "s"), ("scope", "b")])
    same = Cursors("/v1/context", TENANT, [("subject", "s"), ("scope", "a"), ("scope", "b")])
    other = Cursors("/v1/context", TENANT, [("subject", "s"), ("scope", "b"), ("scope", "a")])
    assert same.place(one.spell(Place([])), *()) == Place([])
    assert refusal(other, one.spell(Place([]))) == "cursor_of_other_call"


@pytest.mark.parametrize(
    ("key", "check"),
    [
        ([-1], natural),
        ([2**62], natural),
        ([True], natural),
        ([1.0], natural),
        (["a\x00"], text),
        ([1], text),
        ([INSTANT_MAX + 1], instant),
        ([INSTANT_MIN - 1], instant),
        (["01234567-89AB-8def-8123-456789abcdef"], uuid),
        (["x"], uuid),
        ([], text),
        (["a", "b"], text),
    ],
)
def test_forged_keys_are_refused(key: list[object], check: Check) -> None:
    assert refusal(FACTS, FACTS.spell(Place(key)), check) == "cursor_malformed"


@pytest.mark.parametrize(
    "raw", [b"", b"\x01", b"\x01" * 9, b"\x02" * 9 + b"[null,null]", b"\x01" * 9 + b"{}", b"\x01" * 9 + b"[1]"]
)
def test_what_is_no_cursor_is_refused(raw: bytes) -> None:
    assert refusal(FACTS, urlsafe_b64encode(raw).rstrip(b"=").decode()) == "cursor_malformed"


@pytest.mark.parametrize("cursor", ["", "*", "ü", "a" * 9_000, "WzFd"])
def test_so_is_other_text(cursor: str) -> None:
    assert refusal(FACTS, cursor) == "cursor_malformed"


@pytest.mark.parametrize("held", [b'["x",null]', b"[null,7]", b'[null,"AQ"]', b"[1e400,null]", b"[true,null]"])
def test_so_are_forged_instants_and_cuts(held: bytes) -> None:
    from base64 import urlsafe_b64decode

    cursor = FACTS.spell(Place([]))
    name = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))[:9]
    assert refusal(FACTS, urlsafe_b64encode(name + held).rstrip(b"=").decode()) == "cursor_malformed"
