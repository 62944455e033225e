"""One partition of a rebuild: read whole, folded bucket by bucket, each bucket and its checkpoint in one transaction."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from chronofact.contracts.codec import is_drop, is_of_unknown_schema
from chronofact.contracts.projection import Lines
from chronofact.domain.errors import Rejected
from chronofact.kafka.consumer import RawMessage
from chronofact.kafka.whole_log import WholeLog
from chronofact.postgres.load_work import AsideMessage, Bucket, BucketWriter, Encoded, LoadWork, PartClaim
from chronofact.postgres.packed import PackedLines
from chronofact.projecting.parking import WINDOW_EVENTS, ParkingLimits
from chronofact.projecting.release import drop_of
from chronofact.projecting.whole import fold_whole
from chronofact.reconciler.rebuilding.patience import Patience
from chronofact.reconciler.rebuilding.spill import Facts, Size, Spill, bucket_count, weight
from chronofact.runtime.failures import ConstraintBroken, Transient, Unfit

LINES_FACTS: Final = 256
"""Facts folded before their lines are encoded."""
ENCODED_BYTES_MAX: Final = 64 * 2**20
"""Encoded lines in memory; a bucket of more is written in pieces, still in one transaction."""
ASIDE_MESSAGES: Final = 1_000
TELL_EVERY: Final = 20_000
"""Messages read between two looks at whether to go on."""


class Limits(NamedTuple):
    """How much at once."""

    bucket_bytes: int
    memory_bytes: int
    folder: Path | None
    parking: ParkingLimits


class Fold(NamedTuple):
    """What is folded, and how."""

    topic_id: bytes
    partitions: int
    rule: int


@dataclass(slots=True)
class Tally:
    """What a bucket comes to."""

    messages: int = 0
    events: int = 0
    facts: int = 0
    aside: int = 0
    failing: int = 0
    """Facts set aside that no drop may yet put right."""
    asides: list[RawMessage] = field(default_factory=list)


class PartLoad:
    """Loads one claimed partition."""

    def __init__(
        self, work: LoadWork, log: WholeLog, claim: PartClaim, *, fold: Fold, limits: Limits, patiently: Patience
    ) -> None:
        self._work = work
        self._log = log
        self._claim = claim
        self._fold = fold
        self._limits = limits
        self._patiently = patiently
        self._buckets = claim.buckets
        self._fact_no_last = claim.fact_no_last
        self._refused: set[bytes] = set()
        self._failing = 0

    def load(self) -> None:
        """From wherever it was left to its end.

        Raises:
            RebuildLost, RebuildCancelled: the part is not ours any more.
            Unfit: ``schema_unknown``, ``parking_limit``, ``rebuild_folder``, or a fault of the topic.
        """
        spill = self._read()
        # what was read has no cycles, and a look at all of it a bucket cost 1.5 µs an event; each goes with its last use
        gc.freeze()
        try:
            for number in range(self._claim.buckets_done, self._buckets):
                self._load_bucket(spill, number)
                spill.done(number)
                gc.collect()
        finally:
            spill.close()

    # -- reading ---------------------------------------------------------------------------------------

    def _read(self) -> Spill:
        claim = self._claim
        dropped = self._patiently(lambda: self._work.dropped(self._fold.topic_id, claim.partition))
        batches = self._messages()
        first = next(batches, [])
        spill = self._opened(first)
        try:
            self._fill(spill, chain((first,), batches), dropped)
            self._tell(claim.target, "folding")
        except BaseException:
            spill.close()
            raise
        return spill

    def _fill(self, spill: Spill, batches: Iterable[Sequence[RawMessage]], dropped: frozenset[int]) -> None:
        told = count = 0
        for messages in batches:
            count += len(messages)
            self._work.step()
            spill.add([one for one in messages if one.offset not in dropped] if dropped else messages)
            if count - told >= TELL_EVERY:
                told = count
                self._tell(messages[-1].offset + 1, "reading")

    def _messages(self) -> Iterator[list[RawMessage]]:
        """All of the partition below the target, over any absence of Kafka, and of the one topic from first to last."""
        claim, at = self._claim, 0
        self._look()
        while True:
            try:
                for messages in self._log.read(claim.partition, at, claim.target):
                    yield messages
                    at = messages[-1].offset + 1
            except Transient as failure:
                self._patiently.pause(failure)
            except Unfit:
                self._look()  # which knows what became of the topic
                raise
            else:
                self._look()  # one made anew meanwhile would have gone on from these very offsets
                return
            self._look()

    def _look(self) -> None:
        """Whether it is still the topic that the rebuild began with."""
        state = self._patiently(lambda: self._log.look(self._fold.topic_id))
        if (high := state.high_watermarks[self._claim.partition]) < self._claim.target:
            raise _shortened(self._claim, high)

    def _opened(self, first: Sequence[RawMessage]) -> Spill:
        """As many buckets as the first messages make expect, or as were fixed before."""
        expected = weight(first) * self._claim.target // len(first) if first else 0
        self._buckets = self._buckets or bucket_count(expected, self._limits.bucket_bytes)
        self._tell(0, "reading")
        memory_bytes = self._limits.memory_bytes
        return Spill(self._claim.partition, self._buckets, Size(memory_bytes, memory_bytes // 2), self._limits.folder)

    def _tell(self, messages_read: int, state: str) -> None:
        partition, buckets = self._claim.partition, self._buckets
        self._buckets = self._patiently(lambda: self._work.read(partition, messages_read, buckets=buckets, state=state))

    # -- folding ---------------------------------------------------------------------------------------

    def _load_bucket(self, spill: Spill, number: int) -> None:
        """One bucket; facts that the database will never take are found and set aside."""
        while True:
            try:
                self._fact_no_last = self._patiently(lambda: self._attempt(spill, number))
            except ConstraintBroken:
                self._refused |= self._culprits(spill, number)
            else:
                return

    def _attempt(self, spill: Spill, number: int) -> int:
        tally, last = Tally(), self._fact_no_last
        with self._work.bucket(self._claim.partition, number) as writer:
            encoded = Encoded()
            for facts in spill.facts(number):
                last = self._folded(facts, last, tally, encoded, writer)
            writer.write(encoded)
            self._refuse_unknown(spill.large(number))
            for message in spill.large(number):
                tally.asides.append(message)
                self._set_aside(tally, writer, ASIDE_MESSAGES)
            self._set_aside(tally, writer, 0)
            writer.done(Bucket(tally.messages, tally.events, tally.facts, tally.aside, last))
        self._count_failing(tally)
        return last

    def _folded(self, facts: Facts, last: int, tally: Tally, encoded: Encoded, writer: BucketWriter) -> int:
        lines, folded = PackedLines(), 0
        for key, messages in facts.items():
            events = self._fold_one(key, messages, lines, last + 1, tally)
            if events:
                last += 1
                folded += 1
                tally.facts += 1
                tally.events += events
            if folded >= LINES_FACTS:
                encoded.add(lines)
                lines, folded = PackedLines(), 0
                self._work.step()
                if encoded.size > ENCODED_BYTES_MAX:
                    writer.write(encoded)
            self._set_aside(tally, writer, ASIDE_MESSAGES)
        encoded.add(lines)
        return last

    def _fold_one(self, key: bytes, messages: list[RawMessage], lines: Lines, fact_no: int, tally: Tally) -> int:
        """Fold a fact, or keep all its messages for later; how many events counted."""
        tally.messages += len(messages)
        if key not in self._refused:
            try:
                return fold_whole(messages, lines, fact_no, partitions=self._fold.partitions, rule=self._fold.rule)
            except Rejected:
                self._refuse_unknown(messages)
        tally.messages -= len(messages)
        tally.failing += not any(is_drop(one.value) for one in messages)
        tally.asides += messages
        return 0

    def _set_aside(self, tally: Tally, writer: BucketWriter, at_least: int) -> None:
        if len(tally.asides) > at_least:
            writer.set_aside(AsideMessage(*one) for one in tally.asides)
            tally.messages += len(tally.asides)
            tally.aside += len(tally.asides)
            tally.asides.clear()

    def _refuse_unknown(self, messages: Iterable[RawMessage]) -> None:
        """A newer writer's message would park here, and count where the code is newer: whoever runs this has to decide."""
        unknown: dict[int, str] = {}
        for one in messages:
            if is_of_unknown_schema(one.value):
                unknown[one.offset] = one.value[2:10].hex()
            elif unknown and (offset := _given_up(one, self._fold.topic_id)) is not None:
                unknown.pop(offset, None)
        if unknown:
            offset = min(unknown)
            raise Unfit(
                "schema_unknown",
                f"partition {self._claim.partition}, offset {offset}: the schema {unknown[offset]} is unknown here",
                remedy="run newer code, or give the message up: `chronofact parked drop`",
            )

    def _count_failing(self, tally: Tally) -> None:
        """More than can come to an end within the limits of parking: the fault must be ours, so stop early."""
        self._failing += tally.failing
        windows = self._claim.target // WINDOW_EVENTS + 1
        if self._failing > windows * WINDOW_EVENTS * self._limits.parking.share_max:
            raise Unfit(
                "parking_limit",
                f"partition {self._claim.partition}: {self._failing} facts and more can't be folded",
                remedy="see what is wrong with us, or with the topic: docs/operations/parked.md",
            )

    def _culprits(self, spill: Spill, number: int) -> set[bytes]:
        """The facts of a bucket that the database will never take, by halves; nothing of it stays."""
        found: set[bytes] = set()
        for facts in spill.facts(number):
            pending = [[*facts]]
            while pending:
                keys = pending.pop()
                part = {key: facts[key] for key in keys if key not in self._refused}
                if not part or self._patiently(lambda part=part: self._is_taken(part, number)):  # type: ignore[misc]
                    continue
                if len(part) == 1:
                    found |= part.keys()
                else:
                    middle = len(keys) // 2
                    pending += [keys[:middle], keys[middle:]]
        if not found:
            raise Transient("postgres_unexpected", "Postgres refused a bucket, and then every part of it was right")
        return found

    def _is_taken(self, facts: Facts, number: int) -> bool:
        try:
            with self._work.bucket(self._claim.partition, number) as writer:
                encoded = Encoded()
                self._folded(facts, self._fact_no_last, Tally(), encoded, writer)
                writer.write(encoded)
        except ConstraintBroken:
            return False
        return True


def _given_up(message: RawMessage, topic_id: bytes) -> int | None:
    """Which offset a drop gives up; None where the message is none that counts."""
    if not is_drop(message.value):
        return None
    try:
        return drop_of(message, topic_id=topic_id).offset
    except Rejected:
        return None


def _shortened(claim: PartClaim, high: int) -> Unfit:
    return Unfit(
        "log_shortened",
        f"partition {claim.partition} of the facts topic ends at {high}, and ended at {claim.target} when the rebuild began",
        remedy="restore the topic, or cancel the rebuild and start anew from what is left",
    )
