"""What is spilled comes back: every message once, facts whole and in order, whatever memory there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chronofact.kafka.consumer import RawMessage
from chronofact.reconciler.rebuilding.spill import Size, Spill, bucket_count
from chronofact.runtime.failures import Unfit

KEYS = st.one_of(st.binary(max_size=3), st.binary(min_size=16, max_size=17))
MESSAGES = st.lists(st.tuples(KEYS, st.binary(max_size=400), st.integers(0, 2**62)), max_size=120)


@contextmanager
def filled(messages: Sequence[RawMessage], buckets: int, size: Size, folder: Path | None = None) -> Iterator[Spill]:
    with closing(Spill(3, buckets, size, folder)) as spill:
        for start in range(0, len(messages), 7):
            spill.add(messages[start : start + 7])
        yield spill


def raw(said: Sequence[tuple[bytes, bytes, int]]) -> list[RawMessage]:
    return [RawMessage(3, 2 * offset, *one) for offset, one in enumerate(said)]


@settings(max_examples=60)
@given(MESSAGES, st.integers(1, 9), st.sampled_from([(400, 10**9), (3_000, 10**9), (10**9, 10**9), (2_000, 900)]))
def test_every_message_comes_back_once_and_in_order(
    said: list[tuple[bytes, bytes, int]], buckets: int, size: tuple[int, int]
) -> None:
    messages = raw(said)
    with filled(messages, buckets, Size(*size)) as spill:
        _assert_whole(messages, spill, buckets)


def _assert_whole(messages: list[RawMessage], spill: Spill, buckets: int) -> None:
    found: list[RawMessage] = []
    places: dict[bytes, tuple[int, bool]] = {}
    for bucket in range(buckets):
        whole = [list(facts.items()) for facts in spill.facts(bucket)]
        assert [list(facts.items()) for facts in spill.facts(bucket)] == whole  # a bucket that failed is read again
        for facts in whole:
            for key, own in facts:
                assert key not in places
                places[key] = (bucket, False)
                assert own == [one for one in messages if one.key == key]
                found += own
        large = list(spill.large(bucket))
        assert large == sorted(large, key=lambda one: one.offset)
        for one in large:
            assert places.setdefault(one.key, (bucket, True)) == (bucket, True)
        found += large
        spill.done(bucket)
    assert sorted(found) == sorted(messages)


def test_a_fact_lies_in_the_same_bucket_in_memory_and_in_a_file() -> None:
    messages = raw([(Random(number % 40).randbytes(16), b"x" * 50, number) for number in range(400)])
    with ExitStack() as stack:
        sizes = [Size(bytes_max, 10**9) for bytes_max in (10_000, 20_000, 10**9)]
        spills = [stack.enter_context(filled(messages, 5, size)) for size in sizes]
        assert [spill.is_in_file for spill in spills] == [True, True, False]
        for bucket in range(5):
            in_file, in_two, in_memory = [[*spill.facts(bucket)] for spill in spills]
            assert [list(facts.items()) for facts in in_two] == [list(facts.items()) for facts in in_memory]
            assert in_file == in_two


def test_buckets_of_many_segments_do_not_overwrite_one_another() -> None:
    messages = raw([(Random(number % 90).randbytes(16), b"x" * (number % 700), number) for number in range(3_000)])
    with filled(messages, 7, Size(10_000, 10**9)) as spill:
        assert spill.is_in_file
        for _ in range(2):
            buckets = [[*spill.facts(bucket)] for bucket in (6, 0, 3, 2, 5, 1, 4)]
    found = [one for pieces in buckets for facts in pieces for own in facts.values() for one in own]
    assert sorted(found) == messages


def test_a_bucket_that_grew_beyond_memory_comes_in_pieces() -> None:
    messages = raw([(Random(number % 50).randbytes(16), b"x" * 500, number) for number in range(1_000)])
    with filled(messages, 1, Size(100_000, 10**9)) as spill:
        pieces = list(spill.facts(0))
    assert len(pieces) > 3
    assert sorted(one for facts in pieces for own in facts.values() for one in own) == messages


def test_the_file_has_no_name(tmp_path: Path) -> None:
    with filled(raw([(b"k" * 16, b"x" * 1_000, 1)] * 100), 3, Size(9, 10**9), tmp_path) as spill:
        assert spill.is_in_file
        assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(Unfit) as unfit, filled(raw([(b"k" * 16, b"x", 1)]), 1, Size(0, 0), Path("/nowhere")):
        pass
    assert unfit.value.code == "rebuild_folder"
    assert "CHRONOFACT_REBUILD_FOLDER" in unfit.value.remedy


@pytest.mark.parametrize(("expected", "count"), [(0, 1), (1, 1), (100, 1), (101, 2), (1_000, 10)])
def test_buckets_are_about_so_large(expected: int, count: int) -> None:
    assert bucket_count(expected, 100) == count
