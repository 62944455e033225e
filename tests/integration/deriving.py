"""Derived by hand: what a writer would put beside a text, without any model."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack
from typing import Any

from chronofact.contracts.derived import DIMENSIONS, Derived, encode

AXES = ("tea", "coffee", "water", "python", "go", "berlin", "lisbon")
"""What an embedding made here can point to; the rest of its dimensions stay empty."""


def pointing(**shares: float) -> bytes:
    """An embedding that points so much to each of these."""
    found = [0.0] * DIMENSIONS
    for name, share in shares.items():
        found[AXES.index(name)] = share
    return pack(f"<{DIMENSIONS}e", *found)


def derived(
    keys: Sequence[str] = (),
    embedding: bytes | None = None,
    *,
    frames: Sequence[dict[str, Any]] = (),
    extractor: str = "hand-1",
) -> bytes:
    """The bytes of ``FactEvent.derived``."""
    embedder = None if embedding is None else "hand-embedder-1"
    return encode(Derived(extractor, list(frames), list(keys), embedder, embedding))


def frame(slot: str, value: str) -> dict[str, Any]:
    """Something like a frame: the projection never looks into one."""
    return {"entity": "user", "slot": slot, "value": value, "polarity": "affirmed"}
