"""What the log says was derived from a text, beside what a projection keeps of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.derived import Derived

_HEAD_BYTES = 4


def is_text(event: FactEvent) -> bool:
    """Whether it asserts a value that is a text."""
    return event.kind == "FactAsserted" and isinstance(orjson.loads(event.payload).get("value"), str)


def parts_that_differ(found: Derived, kept: Sequence[bytes | None]) -> Iterator[str]:
    """The columns that say something else; ``kept`` as of ``StoredLine.derived``."""
    extractor, frames, keys, embedder, embedding = kept
    if found.extractor.encode() != extractor:
        yield "extractor"
    if found.frames != orjson.loads(frames or b"null"):
        yield "frames"
    if found.keys != orjson.loads(keys or b"null"):
        yield "keys"
    if (None if found.embedder is None else found.embedder.encode()) != embedder:
        yield "embedder"
    if (None if found.embedding is None else _swapped(found.embedding)) != (embedding and embedding[_HEAD_BYTES:]):
        yield "embedding"


def _swapped(halves: bytes) -> bytes:
    """Each number of 16 bits with its other byte first."""
    turned = bytearray(halves)
    turned[0::2], turned[1::2] = halves[1::2], halves[0::2]
    return bytes(turned)
