"""Pairs of versions that decisions speak of, and the decision that counts (semantics §3, Decisions)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.domain.spans import NOWHERE, Spans

if TYPE_CHECKING:
    from chronofact.domain.standing import Version


class Pair:
    """Two versions that decisions speak of; the latest valid decision that was not taken back counts."""

    __slots__ = ("counts", "event_id", "keep", "left", "right", "said")

    def __init__(self, left: Version, right: Version) -> None:
        self.left, self.right = left, right
        self.said: dict[bytes, tuple[int, Version | None]] = {}
        self.counts = False
        self.keep: Version | None = None
        self.event_id = b""
        """The decision that counts, if one does."""

    def settle(self, taken_back: set[bytes]) -> None:
        """Finds the decision that counts."""
        standing = [(at, event_id, keep) for event_id, (at, keep) in self.said.items() if event_id not in taken_back]
        self.counts = bool(standing)
        self.keep = None
        if standing:
            _, self.event_id, self.keep = max(standing, key=lambda said: said[:2])

    def other(self, version: Version) -> Version:
        """The pair's other version."""
        return self.right if version is self.left else self.left

    def excludes(self, version: Version) -> bool:
        """Whether the version is judged wrong where both intervals overlap."""
        if not self.counts:
            return False
        if self.keep is None:
            return self.left.active and self.right.active
        return self.keep is not version and self.keep.active

    def overlap(self) -> Spans:
        """Where both intervals, as asserted, overlap; asked only when both were."""
        start, end = max(self.left.start, self.right.start), min(self.left.to, self.right.to)
        return ((start, end),) if start < end else NOWHERE
