"""What the life of a rebuild needs from outside: rebuilds as they are kept, and the steps that do the work."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from chronofact.contracts.rebuilding import (
    Comparable,
    Rebuild,
    RebuildPart,
    RebuildState,
    RebuildTold,
    RebuildWanted,
)

GoOn = Callable[[], None]
"""Called now and then by a step at work; raises where it must end."""


class Hold(Protocol):
    """A rebuild in its runner's hands; every call raises RebuildLost once another runner has it, and writes nothing."""

    rebuild: Rebuild

    def look_again(self) -> None:
        """``rebuild`` as it is kept now."""
        ...

    def beat(
        self, *, phase: str | None = None, seconds: float = 0.0, waiting: str | None = None, against: str | None = None
    ) -> None:
        """Alive, a phase so much further, waiting for that; raises RebuildCancelled where somebody wants its end."""
        ...

    def move(self, state: RebuildState) -> None:
        """To the next state; its projection follows, so that projectors begin to feed it."""
        ...

    def fail(self, code: str, failure: str, remedy: str) -> None:
        """It has failed; what it made stays to be looked at, fed by nobody."""
        ...

    def end(self) -> None:
        """Ends the feeding of what is about to be removed."""
        ...

    def serve(self) -> None:
        """Its projection may be routed to from now on, and is where nobody was routed to any."""
        ...

    def is_serving(self) -> bool:
        """Whether its projection may be routed to already: then only its end is to be told."""
        ...

    def comparable(self) -> Comparable | None:
        """What the new projection is held against."""
        ...

    def rule_of(self, projection: str) -> int | None:
        """The rule of a projection that serves."""
        ...

    def checkpoints(self, projection: str) -> Mapping[int, tuple[int, int]]:
        """Next offset and owner's epoch of each partition."""
        ...


class Rebuilds(Protocol):
    """The kept rebuilds."""

    def begin(self, wanted: RebuildWanted, *, workers: int) -> RebuildTold:
        """A new rebuild, which waits for a runner; raises Rejected."""
        ...

    def rebuilds(self, *, before: int | None = None, limit: int = 100) -> list[RebuildTold]:
        """Newest first."""
        ...

    def rebuild(self, rebuild_id: int) -> tuple[RebuildTold, list[RebuildPart]] | None:
        """One of them, with its partitions."""
        ...

    def counts(self) -> Mapping[RebuildState, int]:
        """How many there are, by state."""
        ...

    def unfinished(self) -> Sequence[int]:
        """Those to be gone on with, the oldest first."""
        ...

    def cancels(self) -> Sequence[int]:
        """Those of which nothing is to stay, though something does."""
        ...

    def ask_cancel(self, rebuild_id: int) -> None:
        """Asks for a rebuild's end; raises Rejected."""
        ...

    def verify_again(self, rebuild_id: int, compare_with: str | None) -> None:
        """Has a failed one that was loaded verified once more, against another one if that is named; raises Rejected."""
        ...

    def take(self, rebuild_id: int, *, to_build: bool = True) -> AbstractContextManager[Hold | None]:
        """Become its runner; None where another has it, or one is at work and this is ``to_build``."""
        ...


class Steps(Protocol):
    """The work; each step may be done again after any crash. All raise Transient, Unfit or Corruption."""

    def plan(self, rebuild: Rebuild) -> Rebuild:
        """Fix topic, targets and fold, and keep them."""
        ...

    def load(self, rebuild: Rebuild, stopping: threading.Event) -> None:
        """Fill and index; beats, moves the rebuild on to indexing, and counts the seconds of it by itself."""
        ...

    def discard(self, rebuild: Rebuild) -> None:
        """Remove all that it has made but its own line."""
        ...

    def ends(self) -> Mapping[int, int]:
        """The next offset of each partition of the topic."""
        ...

    def verify(self, rebuild: Rebuild, against: Comparable | None, go_on: GoOn) -> None:
        """Prove the new projection right; raises Unfit where it is not."""
        ...

    def compare(self, rebuild: Rebuild, old: Comparable) -> None:
        """Begin to compare it with one of another rule over live traffic; again changes nothing."""
        ...
