from base64 import b64encode
from struct import pack
from typing import Any

import orjson
import pytest

from chronofact.contracts.derived import DIMENSIONS, Derived, decode, encode
from chronofact.domain.canonical import canonical

EMBEDDING = pack(f"<{DIMENSIONS}e", *([0.05, -0.05] * (DIMENSIONS // 2)))
FRAMES = [{"entity": "user", "slot": "language", "value": "Python 🐍", "guards": ["plan"]}, {}]


def derived(**changed: Any) -> Derived:
    found = {
        "extractor": "x1",
        "frames": FRAMES,
        "keys": ["user\x1flanguage"],
        "embedder": "m1",
        "embedding": EMBEDDING,
    }
    return Derived(**(found | changed))


@pytest.mark.parametrize(
    "one",
    [
        derived(),
        derived(frames=[], keys=[]),
        derived(embedder=None, embedding=None),
        derived(frames=[{"value": r"a backslash and u0000: \u0000"}]),
    ],
)
def test_what_is_spelled_is_read(one: Derived) -> None:
    assert decode(encode(one)) == one


def test_the_spelling_is_canonical() -> None:
    spelled = encode(derived())
    assert canonical(orjson.loads(spelled)) == spelled


def test_order_of_a_frames_fields_changes_nothing() -> None:
    turned = [dict(reversed(frame.items())) for frame in FRAMES]
    assert encode(derived(frames=turned)) == encode(derived())


@pytest.mark.parametrize(
    "changed",
    [
        {"extractor": 1},
        {"frames": {}},
        {"frames": ["frame"]},
        {"frames": None},
        {"frames": [{"value": "a\x00b"}]},
        {"keys": "key"},
        {"keys": [1]},
        {"keys": ["\x00"]},
        {"embedder": None},
        {"embedder": 7},
        {"embedding": None},
        {"embedding": "no base64!"},
        {"embedding": b64encode(EMBEDDING[:-2]).decode()},
        {"embedding": b64encode(pack("<e", float("nan")) + EMBEDDING[2:]).decode()},
        {"embedding": b64encode(pack("<e", float("inf")) + EMBEDDING[2:]).decode()},
        {"further": 1},
    ],
)
def test_what_is_none_is_none(changed: dict[str, object]) -> None:
    spelled = orjson.loads(encode(derived())) | changed
    assert decode(orjson.dumps(spelled)) is None


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"{}", b"\xff", b"[" * 100_000, encode(derived())[:-1]])
def test_other_bytes_are_none(data: bytes) -> None:
    assert decode(data) is None
