"""Reads that keep a promise: wait for a position, else fold the unread tail of the named facts, else say stale and why."""

from __future__ import annotations

import asyncio
import time
from collections import Counter as Tally
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, cast
from uuid import UUID

from chronofact.contracts.position import Position
from chronofact.contracts.reading import FactHead, Standing, StoredHistory
from chronofact.contracts.tail import Stretch, Tail, TailBounds
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event
from chronofact.reader.answers import Body
from chronofact.reader.folded import FoldedFact
from chronofact.reader.folded_snapshot import FoldedSnapshot
from chronofact.reader.freshness import BEHIND, LOG_IS_ANOTHER, LogWatch, freshness_body, with_held
from chronofact.reader.ports import LogTail, Projections, Snapshot
from chronofact.reader.questions import Wait
from chronofact.reader.sourced import Source, events_of
from chronofact.reader.waiting import Waiting, beyond_log, check_partitions, check_within, has_passed, of_other_topic
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.metrics import Metrics

TAIL_BUSY: Final = "tail_busy"
TAIL_TOO_LONG: Final = "tail_too_long"
TAIL_TOO_SLOW: Final = "tail_too_slow"
HISTORY_TOO_LONG: Final = "history_too_long"
PROJECTION_CHANGED: Final = "projection_changed"
ROUTES_MAX: Final = 8  # times that one read begins, should its tenant be switched meanwhile; then it says stale
_MANY_FACTS: Final = 500
"""More facts than this are told apart by partition off the event loop."""


@dataclass(frozen=True, slots=True)
class TailLimits:
    """What one read, and all reads at once, may cost."""

    events_max: int = 1_000
    """Unread events of the named facts (api.md)."""
    scan_messages_max: int = 50_000
    """Messages of whatever fact that one read looks at."""
    stored_events_max: int = 20_000
    """Stored events of the named facts, folded again below the unread ones."""
    bytes_max: int = 32 * 2**20
    """Bytes of the unread events, and of the stored ones."""
    work_max: int = 1_000_000
    """Answers times events that one read may take."""
    reads_max: int = 4
    """Reads that fold at once; the others wait."""
    queue_ms: int = 500
    """How long they wait before they say stale instead."""
    timeout_ms: int = 1_000
    """How long the log may take."""


class FactHistory(NamedTuple):
    """All that is known of one fact: its events in log order, each once, with ``recorded_at`` as settled."""

    head: FactHead
    events: Sequence[Event]
    tail_events: int
    """How many of them, the last ones, the projection has not read yet."""
    held: int
    """Messages of it that are parked, or will be."""


class Reading:
    """What one request reads: a snapshot, folded over where it had to be, and how fresh it is."""

    def __init__(
        self,
        snapshot: Snapshot,
        freshness: Body,
        facts: Mapping[bytes, FoldedFact],
        executor: ThreadPoolExecutor,
        limits: TailLimits,
    ) -> None:
        self.snapshot = snapshot
        self.freshness = freshness
        self._facts = facts
        self._executor = executor
        self._limits = limits

    @property
    def cut(self) -> Position | None:
        """What the next page has to be read after, where this one is newer than the projection."""
        return self.snapshot.standing.position if "tail_events" in self.freshness else None

    async def freshness_of(self, fact_ids: Collection[bytes]) -> Body:
        """How fresh an answer from these facts is: held messages make it stale."""
        held = await self.snapshot.held(list(fact_ids)) if self.snapshot.standing.holds else {}
        return with_held(self.freshness, sum(held.values()))

    async def histories(self, tenant_id: UUID, fact_ids: Collection[bytes]) -> Mapping[bytes, FactHistory]:
        """Every event of those of the tenant's facts that are known.

        Raises:
            Rejected: ``history_too_long``.
        """
        held = await self.snapshot.held(list(fact_ids)) if self.snapshot.standing.holds else {}
        rest = [one for one in fact_ids if one not in self._facts]
        stored = await stored_of(self.snapshot, rest, self._limits) if rest else []
        if stored is None:
            raise Rejected(
                HISTORY_TOO_LONG,
                f"more than {self._limits.stored_events_max:,} events; ask for fewer facts, or page through /events",
            )
        loop = asyncio.get_running_loop()
        found = {}
        for one in stored:
            if one.tenant_id == tenant_id:
                events = await loop.run_in_executor(self._executor, events_of, one)
                parked = held.get(str(UUID(bytes=one.fact_id)), 0)
                found[one.fact_id] = FactHistory(one.head, events, 0, parked)
        for fact_id in fact_ids:
            fact = self._facts.get(fact_id)
            if fact is not None and fact.tenant_id == tenant_id:
                parked = held.get(str(UUID(bytes=fact_id)), 0)
                found[fact_id] = FactHistory(fact.head, fact.events, len(fact.unread), parked)
        return found


class Folding:
    """Opens readings; all of a reader's share its limits."""

    def __init__(
        self,
        projections: Projections,
        watch: LogWatch,
        tail: LogTail,
        metrics: Metrics,
        *,
        limits: TailLimits | None = None,
    ) -> None:
        self._projections = projections
        self._watch = watch
        self._tail = tail
        self._limits = limits or TailLimits()
        self.waiting = Waiting(projections, watch)
        self._executor = ThreadPoolExecutor(self._limits.reads_max, "tail")
        self._turns = asyncio.Semaphore(self._limits.reads_max)
        self._stale = metrics.counter("chronofact_reader_stale_total")
        self._folds = metrics.counter("chronofact_reader_tail_folds_total")
        self._seconds = metrics.histogram("chronofact_reader_tail_seconds")
        self._scanned = metrics.counter("chronofact_reader_tail_messages_total")

    async def needed(self, tenant_id: UUID, fact_ids: Sequence[bytes] | None, wait: Wait) -> Wait:
        """The part of a wait that matters to some facts: their own partitions. None is any fact.

        What it says of other partitions goes into the answer's position, so the log must have reached it.

        Raises:
            Rejected: ``position_of_other_topic``, ``position_partition_unknown``, ``position_beyond_log``.
        """
        after = wait.after
        if after is None:
            return wait
        check_partitions(after, self._tail.partitions, self._watch.ends_since(0.0))
        if fact_ids is None or self.waiting.has_seen(tenant_id, after):
            return wait
        if len(fact_ids) > _MANY_FACTS:
            partitions = await asyncio.to_thread(self._partitions_of, fact_ids)
        else:
            partitions = self._partitions_of(fact_ids)
        offsets = {one: offset for one, offset in after.next_offsets.items() if one in partitions}
        others = {one: offset for one, offset in after.next_offsets.items() if one not in partitions}
        if others and not self._watch.has_reached(beside := Position(after.topic_id, others)):
            await self._check_within(beside)
        return replace(wait, after=Position(after.topic_id, offsets))

    def _partitions_of(self, fact_ids: Sequence[bytes]) -> set[int]:
        return {self._tail.partition_of(one) for one in set(fact_ids)}

    @asynccontextmanager
    async def reading(
        self, tenant_id: UUID, fact_ids: Sequence[bytes] | None, wait: Wait, *, slices: bool = False
    ) -> AsyncIterator[Reading]:
        """Waits, then reads in one snapshot.

        Args:
            tenant_id: Whose projection.
            fact_ids: The facts that are asked for, each as often as it is; None: not by name, nothing is folded.
            wait: What the answer must not be older than.
            slices: Whether an answer is needed after each event (a timeline) and not one a mention.

        Raises:
            Rejected: the position is of another topic, or beyond the log.
        """
        for tries_left in reversed(range(ROUTES_MAX)):
            needed = await self.needed(tenant_id, fact_ids, wait)
            behind = await self.waiting.until_passed(tenant_id, needed)
            if behind is None or needed.after is None or fact_ids is None:
                if behind is not None and needed.after is not None:
                    await self._check_within(needed.after)
                async with self._projections.snapshot(tenant_id) as snapshot:
                    if behind is None and tries_left and not self.reaches(tenant_id, snapshot.standing, needed):
                        continue
                    yield self._plain(tenant_id, snapshot, wait, needed)
                return
            wait = replace(wait, wait_ms=0)
            job = _Job(tenant_id, fact_ids, wait.after or needed.after, needed.after, slices=slices)
            async with self._turn() as has_turn:
                tail = await self._read(job, behind) if has_turn else TAIL_BUSY
                async with self._projections.snapshot(tenant_id) as snapshot:
                    folded = await self._fold(job, snapshot, tail) if isinstance(tail, Tail) else tail
                    if folded == PROJECTION_CHANGED and tries_left:
                        continue
                    if isinstance(folded, Reading):
                        self._folds.labels("folded").inc()
                        yield folded
                    else:
                        self._folds.labels(folded).inc()
                        yield self._plain(tenant_id, snapshot, wait, needed, because=folded)
            return

    def reaches(self, tenant_id: UUID, standing: Standing, needed: Wait) -> bool:
        """Whether what was read has passed what was waited for: not where the tenant was switched in between.

        Raises:
            Rejected: ``position_of_other_topic``.
        """
        self.waiting.saw(tenant_id, standing)
        return needed.after is None or has_passed(standing, needed.after)

    def _plain(
        self, tenant_id: UUID, snapshot: Snapshot, wait: Wait, needed: Wait, *, because: str | None = None
    ) -> Reading:
        freshness = self.freshness(tenant_id, snapshot.standing, wait, needed, because=because)
        return Reading(snapshot, freshness, {}, self._executor, self._limits)

    def freshness(
        self, tenant_id: UUID, standing: Standing, wait: Wait, needed: Wait, *, because: str | None = None
    ) -> Body:
        """How fresh what was just read from the projection alone is."""
        self.waiting.saw(tenant_id, standing)
        if needed.after is None:
            return freshness_body(standing, self._watch)
        if not has_passed(standing, needed.after):
            self._stale.inc()
            return freshness_body(standing, self._watch, because=because or BEHIND, lacks=needed.after)
        return freshness_body(_reaching(standing, wait.after or needed.after), self._watch)

    def freshness_at(self, standing: Standing, cut: Position, wait: Wait) -> Body:
        """How fresh a page is whose list was begun at a cut of the log.

        Raises:
            Rejected: ``position_of_other_topic``.
        """
        is_short = wait.after is not None and not has_passed(standing._replace(position=cut), wait.after)
        because = BEHIND if is_short or not has_passed(standing, cut) else None
        lacks = wait.after if is_short else None
        return freshness_body(standing._replace(position=cut), self._watch, because=because, lacks=lacks)

    async def _check_within(self, after: Position) -> None:
        """Asks where the log ends, unless nobody can say soon."""
        if self._watch.is_away:
            return
        began = time.monotonic()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.timeout_ms / 1_000):
                await self._watch.look()
                if self._watch.ends_since(began) is None:
                    await self._watch.look()  # the first was under way already
        if (ends := self._watch.ends_since(began)) is not None:
            check_within(after, ends)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[bool]:
        try:
            async with asyncio.timeout(self._limits.queue_ms / 1_000):
                await self._turns.acquire()
        except TimeoutError:
            yield False
            return
        try:
            yield True
        finally:
            self._turns.release()

    async def _read(self, job: _Job, behind: Standing) -> Tail | str:
        """The unread tail of the facts' partitions, or why there is none.

        Raises:
            Rejected: ``position_of_other_topic``, ``position_beyond_log``.
        """
        reached = {} if behind.position is None else behind.position.next_offsets
        wanted = [
            Stretch(partition, reached.get(partition, 0), offset)
            for partition, offset in sorted(job.needed.next_offsets.items())
            if offset > reached.get(partition, 0)
        ]
        if self._watch.is_away:
            return "kafka_unreachable"
        started = time.perf_counter()
        try:
            tail = await asyncio.get_running_loop().run_in_executor(self._executor, self._blocking_read, wanted, job)
        except (Transient, Unfit) as failure:
            return failure.code
        self._seconds.observe(time.perf_counter() - started)
        self._scanned.inc(tail.scanned)
        if tail.topic_id != job.needed.topic_id:
            if behind.position is None:
                raise of_other_topic()
            return LOG_IS_ANOTHER
        return self._judged(tail, wanted)

    def _blocking_read(self, wanted: Sequence[Stretch], job: _Job) -> Tail:
        limits = self._limits
        bounds = TailBounds(
            limits.scan_messages_max, limits.events_max, limits.bytes_max, timeout_s=limits.timeout_ms / 1_000
        )
        return self._tail.read(wanted, job.keys, bounds)

    def _judged(self, tail: Tail, wanted: Sequence[Stretch]) -> Tail | str:
        short = [one for one in wanted if tail.next_offsets[one.partition] < one.at_least]
        if any(one.partition in tail.ended for one in short):
            raise beyond_log()
        if short:
            return TAIL_TOO_LONG if tail.is_cut else TAIL_TOO_SLOW
        return TAIL_TOO_LONG if len(tail.messages) > self._limits.events_max else tail

    async def _fold(self, job: _Job, snapshot: Snapshot, tail: Tail) -> Reading | str:
        """The facts folded over the snapshot, or why that can't be."""
        standing = snapshot.standing
        self.waiting.saw(job.tenant_id, standing)
        reached = {} if standing.position is None else standing.position.next_offsets
        if standing.position is not None and standing.position.topic_id != tail.topic_id:
            return PROJECTION_CHANGED
        unread = {one for one, offset in job.needed.next_offsets.items() if reached.get(one, 0) < offset}
        if not unread <= tail.next_offsets.keys() or any(reached.get(one, 0) < tail.starts[one] for one in unread):
            return PROJECTION_CHANGED
        messages = [
            one for one in tail.messages if one.partition in unread and one.offset >= reached.get(one.partition, 0)
        ]
        read = {one: max(tail.next_offsets[one], reached.get(one, 0)) for one in unread}
        facts: Mapping[bytes, FoldedFact] = {}
        held: Mapping[bytes, int] = {}
        if messages:
            keys = list({one.key for one in messages})
            stored = await stored_of(snapshot, keys, self._limits)
            if stored is None:
                return HISTORY_TOO_LONG
            parked = await snapshot.parked_of(keys) if standing.holds else []
            dropped = await snapshot.dropped(tail.topic_id, messages)
            source = Source(tail.topic_id, stored, parked, messages, dropped, standing.rule)
            facts, held = await asyncio.get_running_loop().run_in_executor(self._executor, source.counted)
            if job.work(facts) > self._limits.work_max:
                return HISTORY_TOO_LONG
        whole = _reaching(_reaching(standing, Position(tail.topic_id, read)), job.after)
        whole = whole._replace(holds=standing.holds or any(held.values()))
        tail_events = sum(len(fact.unread) for fact in facts.values())
        freshness = freshness_body(whole, self._watch, tail_events=tail_events)
        over = cast(Snapshot, FoldedSnapshot(snapshot, whole, facts, held, self._executor))
        return Reading(over, freshness, facts, self._executor, self._limits)


async def stored_of(
    snapshot: Snapshot, fact_ids: Sequence[bytes], limits: TailLimits
) -> Sequence[StoredHistory] | None:
    """The facts' stored events; None where they are too many."""
    return await snapshot.stored(fact_ids, events_max=limits.stored_events_max, bytes_max=limits.bytes_max)


class _Job:
    """One read whose projection is behind."""

    def __init__(
        self, tenant_id: UUID, fact_ids: Sequence[bytes], after: Position, needed: Position, *, slices: bool
    ) -> None:
        self.tenant_id = tenant_id
        self.after = after
        self.needed = needed
        self.asked = Tally(fact_ids)
        self._slices = slices

    @property
    def keys(self) -> Collection[bytes]:
        """Whose messages are wanted."""
        return self.asked.keys()

    def work(self, facts: Mapping[bytes, FoldedFact]) -> int:
        """Answers times events."""
        return sum(
            len(fact.events) * (len(fact.events) if self._slices else self.asked[fact_id])
            for fact_id, fact in facts.items()
        )


def _reaching(standing: Standing, position: Position) -> Standing:
    """A standing as of that position too."""
    if standing.position is None:
        return standing._replace(position=position)
    return standing._replace(position=standing.position.merge(position))
