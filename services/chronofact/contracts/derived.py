"""What was derived from a text when it was written, as an event carries it: part of no id, and never derived again."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from math import isfinite
from struct import Struct
from typing import Any, Final

import orjson

from chronofact.domain.canonical import canonical
from chronofact.domain.errors import Rejected

DIMENSIONS: Final = 384
EMBEDDING_BYTES: Final = 2 * DIMENSIONS
_HALVES: Final = Struct(f"<{DIMENSIONS}e")
_FIELDS: Final = frozenset({"embedder", "embedding", "extractor", "frames", "keys"})


@dataclass(frozen=True, slots=True)
class Derived:
    """Frames, and what a memory is found by: keys of its frames, and 384 halves (float16, little endian)."""

    extractor: str
    frames: list[dict[str, Any]]
    keys: list[str]
    embedder: str | None
    embedding: bytes | None


def encode(derived: Derived) -> bytes:
    """The bytes of ``FactEvent.derived``: canonical JSON, the embedding in base64.

    Raises:
        Rejected: a text that canonical JSON can't hold.
    """
    embedding = None if derived.embedding is None else b64encode(derived.embedding).decode()
    return canonical(
        {
            "embedder": derived.embedder,
            "embedding": embedding,
            "extractor": derived.extractor,
            "frames": list(derived.frames),
            "keys": list(derived.keys),
        }
    )


def decode(data: bytes) -> Derived | None:
    """What ``encode`` spelled; None for anything else, which harms no event."""
    try:
        found = orjson.loads(data)
        if type(found) is not dict or found.keys() != _FIELDS or not _is_storable(data, found):
            return None
        derived = Derived(
            found["extractor"],
            found["frames"],
            found["keys"],
            found["embedder"],
            None if found["embedding"] is None else b64decode(found["embedding"], validate=True),
        )
    except (TypeError, ValueError, RecursionError):
        return None
    return derived if _is_whole(derived) else None


def _is_storable(data: bytes, found: dict[str, Any]) -> bool:
    """Whether Postgres can hold its texts; the spelling of U+0000 may also be that of a backslash and some letters."""
    if b"\\u0000" not in data:
        return True
    try:
        canonical(found)
    except Rejected:
        return False
    return True


def _is_whole(derived: Derived) -> bool:
    return (
        type(derived.extractor) is str
        and _are(dict, derived.frames)
        and _are(str, derived.keys)
        and (derived.embedder is None) == (derived.embedding is None)
        and (derived.embedder is None or type(derived.embedder) is str)
        and (derived.embedding is None or is_embedding(derived.embedding))
    )


def _are(kind: type, found: object) -> bool:
    return type(found) is list and all(type(one) is kind for one in found)


def is_embedding(data: bytes) -> bool:
    """Whether these are the bytes of an embedding, every number of it finite."""
    return len(data) == EMBEDDING_BYTES and isfinite(sum(_HALVES.unpack(data)))
