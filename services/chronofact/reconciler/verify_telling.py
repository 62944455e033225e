"""What all workers of a verification found, and how far they have come."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from chronofact.contracts.verification import Difference, VerifyTally
from chronofact.reconciler.verify_ports import Run
from chronofact.runtime.failures import Transient

KEPT_MAX: Final = 1_000
"""Differing facts that a verification keeps with both sides; all are counted."""
TELL_EVERY_S: Final = 0.5

Progress = Callable[[VerifyTally], None]


class Telling:
    """Shared by the workers."""

    def __init__(self, run: Run, progress: Progress, go_on: Callable[[], None]) -> None:
        """``go_on`` raises where somebody wants an end."""
        self._run = run
        self._progress = progress
        self._may_go_on = go_on
        self._is_given_up = threading.Event()
        self._lock = threading.Lock()
        self._told_at = 0.0
        self._kept = 0
        self._parked: dict[UUID, list[Difference]] = {}
        self.tally = VerifyTally()
        self.by_aspect: Counter[str] = Counter()

    @property
    def keeps(self) -> bool:
        """Whether what differs is still kept with both sides."""
        return self._kept < KEPT_MAX

    def go_on(self) -> None:
        """Raises where somebody wants an end, or another part has come to one."""
        self._may_go_on()
        if self._is_given_up.is_set():
            raise Transient("check_given_up", "another part of the verification has failed")

    def give_up(self) -> None:
        """It has failed: all its parts end."""
        self._is_given_up.set()

    def expect(self, facts: int) -> None:
        """How much there is to do."""
        self.tally.facts_total = facts

    def compared(self, facts: int, lines: int) -> None:
        """So much more is done."""
        with self._lock:
            self.tally.facts += facts
            self.tally.lines += lines
            if time.monotonic() - self._told_at > TELL_EVERY_S:
                self._tell()

    def fact(self, fact_id: UUID, differences: Sequence[Difference]) -> None:
        """A fact differs."""
        with self._lock:
            self._count([*differences, *self._parked.pop(fact_id, ())])

    def stray(self, difference: Difference) -> None:
        """Lines of no fact differ."""
        with self._lock:
            self._count([difference])

    def place(self, difference: Difference) -> None:
        """A place of the log is parked or dropped on one side, or not alike; told with its fact, once that is known."""
        with self._lock:
            if difference.fact_id is None or len(self._parked) >= KEPT_MAX:
                self._count([difference])
            else:
                self._parked.setdefault(difference.fact_id, []).append(difference)

    def uncounted(self, facts: int) -> None:
        """More facts differ than are kept."""
        with self._lock:
            self.tally.differences += facts

    def tell(self) -> None:
        """All is compared."""
        with self._lock:
            for differences in self._parked.values():
                self._count(differences)
            self._parked.clear()
            self._tell()

    def _count(self, differences: Sequence[Difference]) -> None:
        self.tally.differences += 1
        self.by_aspect.update({one.aspect for one in differences})
        if self._kept < KEPT_MAX:
            self._kept += 1
            self._run.found(differences)

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        self._run.progress(self.tally)
        self._progress(replace(self.tally))
