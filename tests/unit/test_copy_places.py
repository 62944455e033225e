"""Where a message goes when its topic gets more partitions: facts by their keys, and nothing else begins to count."""

from __future__ import annotations

import pytest

from chronofact.kafka.copy_places import Moving
from chronofact.kafka.partitioning import partition_of

OLD = 12


@pytest.mark.parametrize("new", [13, 24, 25])
def test_what_is_misplaced_stays_misplaced_and_the_rest_goes_where_it_belongs(new: int) -> None:
    moving = Moving(bytes(16), OLD, bytes(range(16)), new, OLD)
    for key in (bytes([number]) * 16 for number in range(100)):
        for lies_in in range(OLD):
            goes_to = moving.partition(key, lies_in)
            assert 0 <= goes_to < new
            was_right = partition_of(key, OLD) == lies_in
            assert (partition_of(key, new) == goes_to) is was_right


@pytest.mark.parametrize("key", [b"", b"short", bytes(17), None])
def test_what_has_no_key_of_a_fact_keeps_its_partition(key: bytes | None) -> None:
    moving = Moving(bytes(16), OLD, bytes(range(16)), 25, OLD)
    assert [moving.partition(key, lies_in) for lies_in in range(OLD)] == [*range(OLD)]
