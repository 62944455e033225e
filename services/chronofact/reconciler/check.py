"""The independent check: every fact's answers recomputed from its events by rules of its own, and the log compared.

It shares no code with the fold (ADR 11): what is evaluated is SQL under schemas/postgres/check.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from chronofact.contracts.checking import CheckWanted, Divergence, Tally
from chronofact.reconciler.log_pass import PartitionPass
from chronofact.reconciler.ports import CheckRun, Checks, Log
from chronofact.runtime.failures import Transient, Unfit

Progress = Callable[[Tally], None]
Chunk = tuple[int, int]

TELL_EVERY_S: Final = 0.5


@dataclass(slots=True)
class Outcome:
    """A finished run."""

    run_id: int
    tally: Tally = field(default_factory=Tally)
    by_relation: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


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
        started = time.monotonic()
        with self._checks.begin(wanted) as run:
            begun(run.run_id)
            run.take_snapshot()
            telling = _Telling(run, self._progress, self._stopping)
            shares = shares_of(run.chunks(), self._workers)
            telling.expect(run.facts_total, sum(run.next_offsets.values()) if wanted.with_log else 0)
            if wanted.with_adjudicated:
                run.make_table([(share[0][0], share[-1][1]) for share in shares])
            self._work(run, shares, telling)
            telling.tell()
            run.finish()
        return Outcome(run.run_id, telling.tally, telling.by_relation, time.monotonic() - started)

    def _work(self, run: CheckRun, shares: Sequence[Sequence[Chunk]], telling: _Telling) -> None:
        wanted = run.wanted
        with ThreadPoolExecutor(len(shares) + 1, "check") as pool:
            works = [pool.submit(self._judge, run, number, share, telling) for number, share in enumerate(shares)]
            if wanted.with_log:
                works.append(pool.submit(self._read_log, run, telling))
            done, _ = wait(works, return_when=FIRST_EXCEPTION)
            failed = [work for work in done if work.exception() is not None]
            if failed:
                telling.give_up()
                failed[0].result()

    def _judge(self, run: CheckRun, number: int, share: Sequence[Chunk], telling: _Telling) -> None:
        with run.cut(number) as cut:
            for first, last in share:
                telling.go_on()
                telling.add(*cut.judge(first, last))
        if run.wanted.with_adjudicated:
            telling.found(run.adjudicate(number))

    def _read_log(self, run: CheckRun, telling: _Telling) -> None:
        log = self._log()
        if run.topic_id is not None and log.topic_id() != run.topic_id.bytes:
            raise Unfit(
                "topic_recreated",
                "the facts topic is not the one that the projection came from",
                remedy="bring that topic back, or check without the log",
            )
        at: PartitionPass | None = None
        partition = -1
        with run.cut() as cut:
            for messages in log.read(run.next_offsets):
                telling.go_on()
                if messages[0].partition != partition:
                    if at is not None:
                        at.finish()
                    partition = messages[0].partition
                    at = PartitionPass(partition, cut, telling.found)
                assert at is not None  # noqa: S101 - made with the first messages
                at.take(messages)
                telling.read(len(messages))
            if at is not None:
                at.finish()


class _Telling:
    """What all workers found, and how far they have come."""

    def __init__(self, run: CheckRun, progress: Progress, stopping: threading.Event) -> None:
        self._run = run
        self._progress = progress
        self._stopping = stopping
        self._is_given_up = threading.Event()
        self._lock = threading.Lock()
        self._told_at = 0.0
        self.tally = Tally()
        self.by_relation: Counter[str] = Counter()

    def expect(self, facts: int, messages: int) -> None:
        """How much there is to do."""
        self.tally.facts_total, self.tally.messages_total = facts, messages

    def go_on(self) -> None:
        """Raises where somebody wants an end."""
        if self._stopping.is_set():
            raise Transient("shutting_down", "the process is about to stop")
        if self._is_given_up.is_set():
            raise Transient("check_given_up", "another part of the check has failed")

    def give_up(self) -> None:
        """The check has failed: all its parts end."""
        self._is_given_up.set()

    def add(self, divergences: list[Divergence], done: Tally) -> None:
        """A chunk is done."""
        with self._lock:
            self.tally.facts += done.facts
            self.tally.events += done.events
            self.tally.bounded += done.bounded
            self.tally.divergences += done.divergences - len(divergences)
        self.found(divergences)

    def found(self, divergences: list[Divergence]) -> None:
        """Something differs, or nothing."""
        with self._lock:
            self.tally.divergences += len(divergences)
            self.by_relation.update(one.relation for one in divergences)
            if divergences:
                self._run.found(divergences)
            if time.monotonic() - self._told_at > TELL_EVERY_S:
                self._tell()

    def read(self, messages: int) -> None:
        """So many messages of the log were compared."""
        with self._lock:
            self.tally.messages += messages
            if time.monotonic() - self._told_at > TELL_EVERY_S:
                self._tell()

    def tell(self) -> None:
        """How far it is now."""
        with self._lock:
            self._tell()

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        self._run.progress(self.tally)
        self._progress(replace(self.tally))


def shares_of(chunks: Sequence[Chunk], workers: int) -> list[Sequence[Chunk]]:
    """The chunks in as many runs of neighbours as there are workers, none empty."""
    count = max(1, min(workers, len(chunks)))
    bounds = [len(chunks) * number // count for number in range(count + 1)]
    return [chunks[low:high] for low, high in pairwise(bounds)]
