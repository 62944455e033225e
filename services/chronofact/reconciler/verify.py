"""Two projections of one topic held against each other, line by line by hashes, at one cut of its offsets (ADR 29)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeAlias

from chronofact.contracts.verification import Aspects, VerifyTally, VerifyWanted
from chronofact.reconciler.verify_cut import CATCH_UP_S, PATIENCE_S, CommonCut, Cutter
from chronofact.reconciler.verify_parts import Comparer
from chronofact.reconciler.verify_ports import Feeding, Side, Snapshots, Verifications
from chronofact.reconciler.verify_sums import Sums
from chronofact.reconciler.verify_telling import Progress, Telling

Work: TypeAlias = Callable[[Comparer], None]


@dataclass(frozen=True, slots=True)
class Verified:
    """A finished verification."""

    verification_id: int
    identical: bool
    facts: int
    """Of both sides together."""
    differences: int
    """Facts that differ, and what differs of no one fact."""
    lines: int
    seconds: float
    """The comparison alone, without the wait for the cut."""
    waited_s: float
    next_offsets: Mapping[int, int]
    by_aspect: Counter[str] = field(default_factory=Counter)


class Verifier:
    """Runs verifications."""

    def __init__(
        self,
        verifications: Verifications,
        snapshots: Snapshots,
        feeding: Feeding,
        *,
        workers: int = 2,
        patience_s: float = PATIENCE_S,
        catch_up_s: float = CATCH_UP_S,
    ) -> None:
        self._verifications = verifications
        self._snapshots = snapshots
        self._workers = workers
        self._why: Exception | None = None
        self._cutter = Cutter(snapshots, feeding, patience_s=patience_s, catch_up_s=catch_up_s, go_on=self._go_on)

    def stop(self, why: Exception) -> None:
        """Gives up what is running, soon, and says why."""
        self._why = why

    def verify(
        self,
        left: str,
        right: str,
        *,
        aspects: str = "all",
        held: str | None = None,
        progress: Progress = lambda _tally: None,
        begun: Callable[[int], None] = lambda _verification_id: None,
    ) -> Verified:
        """One verification from beginning to end.

        Args:
            left: A projection.
            right: Another one.
            aspects: ``all``, or ``said``: only what no rule decides.
            held: Which one waits at the cut for the other; None: one that serves nobody.
            progress: Told how far it has come.
            begun: Told its number.

        Raises:
            VerificationRunning: another one is at work on one of the two.
            Transient, Unfit: it came to nothing, and is kept as failed.
        """
        wanted = VerifyWanted(left, right, Aspects(aspects), held)
        started = time.monotonic()
        with self._verifications.begin(wanted) as run:
            begun(run.verification_id)
            telling = Telling(run, progress, self._go_on)
            with self._cutter.common(wanted) as common:
                run.took_cut(common.cut.topic_id, common.cut.next_offsets)
                met = time.monotonic()
                self._compare(wanted, common, telling)
            telling.tell()
            run.finish(telling.tally)
        return _verified(run.verification_id, telling, common, met - started, time.monotonic() - met)

    def _compare(self, wanted: VerifyWanted, common: CommonCut, telling: Telling) -> None:
        with ExitStack() as stack:
            pairs = [stack.enter_context(_sides(wanted, common)) for _ in range(self._workers)]
            pool = stack.enter_context(ThreadPoolExecutor(self._workers, "verify"))
            heads = [pool.submit(side.heads) for side in (pairs[0][0], pairs[-1][1])]
            mine, theirs = [one.result() for one in heads]
            sums = Sums(mine, theirs, wanted.aspects, partitions=_partitions(common, wanted))
            telling.expect(sums.facts)
            comparers = [Comparer(left, right, wanted.aspects, sums, telling) for left, right in pairs]
            # before any fact: what is parked of one that differs is told with it
            comparers[0].places()
            _share(pool, [partial(Comparer.sum, unit=one) for one in sums.units()], comparers, telling)
            differing = sums.differing().items()
            walks = [partial(Comparer.walk, partition=partition, differing=tables) for partition, tables in differing]
            _share(pool, walks, comparers, telling)

    def _go_on(self) -> None:
        if self._why is not None:
            raise self._why


@contextmanager
def _sides(wanted: VerifyWanted, common: CommonCut) -> Iterator[tuple[Side, Side]]:
    """One worker's looks at both; on one connection where that can be, since each has to map the server's memory anew."""
    partitions = _partitions(common, wanted)
    look_left = partial(common.left.sides, aspects=wanted.aspects, partitions=partitions)
    look_right = partial(common.right.sides, aspects=wanted.aspects, partitions=partitions)
    if common.left is common.right:
        with look_left(wanted.left, wanted.right) as (left, right):
            yield left, right
        return
    with look_left(wanted.left) as (left,), look_right(wanted.right) as (right,):
        yield left, right


def _share(pool: Executor, works: Sequence[Work], comparers: Sequence[Comparer], telling: Telling) -> None:
    """Works all off, each comparer by itself."""
    queue: SimpleQueue[Work] = SimpleQueue()
    for one in works:
        queue.put(one)
    working = [pool.submit(_work_off, queue, one, telling) for one in comparers]
    done, _ = wait(working, return_when=FIRST_EXCEPTION)
    failed = [one for one in done if one.exception() is not None]
    if failed:
        telling.give_up()
        failed[0].result()


def _work_off(queue: SimpleQueue[Work], comparer: Comparer, telling: Telling) -> None:
    while not queue.empty():
        try:
            work = queue.get_nowait()
        except Empty:
            return
        telling.go_on()
        work(comparer)


def _partitions(common: CommonCut, wanted: VerifyWanted) -> int:
    return max(common.left.cuts[wanted.left].partitions, common.right.cuts[wanted.right].partitions, 1)


def _verified(verification_id: int, telling: Telling, common: CommonCut, waited_s: float, seconds: float) -> Verified:
    tally: VerifyTally = telling.tally
    return Verified(
        verification_id,
        identical=tally.differences == 0,
        facts=tally.facts,
        differences=tally.differences,
        lines=tally.lines,
        seconds=seconds,
        waited_s=waited_s,
        next_offsets=common.cut.next_offsets,
        by_aspect=telling.by_aspect,
    )
