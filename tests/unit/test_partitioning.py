"""Golden vectors: Kafka's own tests of its Java producer, and ids as our keys are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.kafka.partitioning import murmur2, partition_of

JAVA = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", JAVA)
def test_hash_is_java_s(key: bytes) -> None:
    assert murmur2(key) == JAVA[key] & 0xFFFFFFFF


@given(st.binary(max_size=70))
def test_hash_by_halves_is_the_hash(key: bytes) -> None:
    factor, mask = 0x5BD1E995, 0xFFFFFFFF
    hashed = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        word = int.from_bytes(key[at : at + 4], "little") * factor & mask
        hashed = (hashed * factor ^ (word ^ word >> 24) * factor) & mask
    if whole < len(key):
        hashed = (hashed ^ int.from_bytes(key[whole:], "little")) * factor & mask
    hashed = (hashed ^ hashed >> 13) * factor & mask
    assert murmur2(key) == hashed ^ hashed >> 15


def test_partitions_of_ids_never_change() -> None:
    keys = [bytes([number]) * 16 for number in range(12)]
    assert [partition_of(key, 12) for key in keys] == GOLDEN


def test_keys_spread_evenly() -> None:
    counts = [0] * 12
    for number in range(12_000):
        counts[partition_of(number.to_bytes(16), 12)] += 1
    assert max(counts) < 1_150
    assert min(counts) > 850


GOLDEN = [4, 11, 7, 11, 7, 4, 9, 0, 11, 1, 7, 7]
