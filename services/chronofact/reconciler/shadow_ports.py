"""What a comparison needs from outside: windows as they are kept, and both projections in one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

from chronofact.contracts.baseline import BadLine, BaselineReport, Theirs, Why
from chronofact.contracts.shadow import (
    Candidate,
    Difference,
    Report,
    Said,
    Sample,
    Shadow,
    Sort,
    Stretch,
    Verdict,
)


class Sweep(Protocol):
    """Both projections in one snapshot; what is kept is there once the sweep is over, all of it or nothing."""

    facts: int
    in_flight: int
    differing: int

    def candidates(self, *, kept_max: int, judged_max: int) -> list[Candidate]:
        """Facts to judge, of those that differ."""
        ...

    def judged(self, facts: Iterable[Candidate]) -> Mapping[int, Verdict]:
        """What the independent SQL says of them on the new side, by number."""
        ...

    def pictures(self, side: str, fact_nos: Sequence[int]) -> Mapping[int, Sequence[Stretch]]:
        """Their answers along valid time on the ``old`` or ``new`` side, as known now."""
        ...

    def behind(self, side: str, fact_nos: Sequence[int]) -> Mapping[int, Said]:
        """What lies behind their answers."""
        ...

    def keep(self, found: Iterable[tuple[Candidate, Sequence[Difference]]]) -> None:
        """All that differs of facts that were judged."""
        ...

    def finish(self) -> None:
        """Settles what is alike, tells changes of scope, counts."""
        ...


class Shadows(Protocol):
    """The kept comparisons; every call blocks and may raise Transient or Unfit."""

    def sweep(self, shadow: Shadow) -> AbstractContextManager[Sweep]:
        """A sweep that nobody else is at; raises SweepRunning."""
        ...

    def newest(self, new: str | None = None, *, is_open: bool = False) -> list[Shadow]:
        """The newest comparison of a projection, or of each."""
        ...

    def fail(self, shadow_id: int, why: str) -> None:
        """A window that can't be looked at any more."""
        ...

    def report(
        self, shadow: Shadow, *, tenant_id: UUID | None = None, sort: Sort | None = None, samples: int = 0
    ) -> Report:
        """What a comparison found."""
        ...


class Baseline(Protocol):
    """Our side of a comparison with a table of the user's; every call blocks and may raise Transient or Unfit."""

    def lay(self, lines: Iterable[Theirs]) -> list[BadLine]:
        """Takes all lines in; those that name the same fact again are told."""
        ...

    def compare(self, report: BaselineReport, valid_at: datetime | None) -> None:
        """Lays both sides beside one another, in one snapshot, and counts."""
        ...

    def judge(self) -> Iterator[int]:
        """Has the independent SQL judge each fact of ours that differs, and classes all; how many are done."""
        ...

    def whys(self, tenant_id: UUID | None) -> list[Why]:
        """Differences by tenant, class and reason."""
        ...

    def told(self, *, tenant_id: UUID | None, sort: Sort | None, samples: int | None) -> Iterator[Sample]:
        """Differences with both sides."""
        ...
