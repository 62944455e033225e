"""A topic copied into one of more partitions while it is written to: exactly, in order, with its append times (ADR 33)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import TracebackType
from typing import Any, Final, NamedTuple, Self, TypeAlias

from chronofact.contracts.topics import CLOSED, GIVEN, SIZES, STAMPS, Topic
from chronofact.kafka.admin import Admin, TopicState, check, faults, were_added
from chronofact.kafka.copy_ends import Back, Front, committed
from chronofact.kafka.copy_places import Copied, Moving, Place, came_from
from chronofact.kafka.refill import Refill
from chronofact.runtime.failures import Transient, Unfit

ROUND_MESSAGES: Final = 20_000
ROUND_BYTES: Final = 64 * 2**20
NEAR_S: Final = 1.0
"""A pass that took no longer than this has caught up: what came meanwhile is a moment's."""
PASSES_MAX: Final = 20
SETTLE_S: Final = 1.0
"""How long after a topic was closed all its brokers know."""
SEAL_S: Final = 30.0

Progress: TypeAlias = Callable[[int, int], None]
"""Messages of the old topic that the new one holds, and how many there were at the last look."""


class _Stream(NamedTuple):
    """What the new topic holds beyond the last commit, of one partition to another: its last offset, and a hash."""

    last: int
    told: bytes


@dataclass(slots=True)
class Tally:
    """What one run did."""

    copied: int = 0
    found: int = 0
    """Messages that an earlier run had appended and not committed."""
    drops: int = 0
    """Drops that name a new place."""
    seconds: float = 0.0
    messages: int = 0
    """All that the new topic holds now."""


@dataclass(slots=True)
class _Known:
    """What an earlier run left behind its last commit."""

    streams: dict[tuple[int, int], _Stream] = field(default_factory=dict)
    hashes: dict[tuple[int, int], Any] = field(default_factory=dict)


class TopicCopy:
    """One copy, by one process at a time; killed at any moment, the next run goes on where the new topic ends."""

    def __init__(
        self,
        bootstrap: str,
        source: Topic,
        target: Topic,
        *,
        options: Mapping[str, str] | None = None,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        self._bootstrap = bootstrap
        self._source = source
        self._target = target
        self._options = options
        self._progress = progress
        self._admin = Admin(bootstrap, options=options)
        self.tally = Tally()

    def __enter__(self) -> Self:
        """Makes the new topic where there is none, and finds out how far it is.

        Raises:
            Unfit: ``topic_missing``, ``log_truncated``, ``partition_count_differs`` and so on of either topic;
                ``copy_sealed``, ``copy_running``, ``copy_differs``.
            Transient: Kafka is away.
        """
        old = self._admin.state(self._source)
        self._refuse_unfit(old)
        self._make(old)
        new = self._admin.settled(self._target, passing=(Transient, Unfit))
        check(self._target, new, is_written=False)
        if new.config[STAMPS] != GIVEN:
            raise Unfit(
                "copy_sealed",
                f"the topic {self._target.name} is sealed: it is no copy, or its move is over",
                remedy="nothing is left to be copied; writers may write to it",
            )
        counts = (old.partitions, new.topic_id, new.partitions, self._source.partitions)
        self._moving = Moving(old.topic_id, *counts)
        self._front = Front(self._bootstrap, self._source.name, self._target.name, self._moving, self._options)
        try:
            self._open(new)
        except BaseException:
            self._front.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._refill.close()
        self._back.close()
        self._front.close()

    @property
    def topic_id(self) -> bytes:
        """Of the new topic."""
        return self._moving.new_id

    def catch_up(self) -> Tally:
        """Copies until no more is left than what was written within the last moment; writers may go on.

        Raises:
            Unfit: ``copy_differs``, ``message_size_limited``.
            Transient: Kafka is away; say it again.
        """
        for _ in range(PASSES_MAX):
            began = time.monotonic()
            self._pass(self._ends())
            if time.monotonic() - began <= NEAR_S:
                break
        return self.tally

    def seal(self) -> float:
        """Closes the old topic, copies what is left and opens the new one; for how many seconds neither was written to.

        Raises:
            Unfit: ``copy_differs``, ``message_size_limited``; the old topic is closed, and both stay as they are.
            Transient: Kafka is away, as well.
        """
        self.catch_up()
        closed = time.monotonic()
        self._admin.configure(self._source.name, {SIZES: CLOSED})
        while True:
            looked = time.monotonic()
            ends = self._ends()
            self._pass(ends)
            if looked - closed >= SETTLE_S:
                break
            time.sleep(max(0.0, closed + SETTLE_S - time.monotonic()))
        self._admin.configure(self._target.name, {STAMPS: self._target.config[STAMPS]})
        self._await_sealed(closed + SEAL_S)
        return time.monotonic() - closed

    def _await_sealed(self, until: float) -> None:
        wanted = self._target.config[STAMPS]
        while self._admin.state(self._target).config[STAMPS] != wanted:
            if time.monotonic() > until:
                raise Transient("kafka_unreachable", "Kafka does not seal the new topic in time")
            time.sleep(0.05)

    def _refuse_unfit(self, old: TopicState) -> None:
        """One that is closed already is as good: a seal was cut off. So is one whose added partitions are empty."""
        passing = {"topic_closed", *(("partition_count_differs",) if were_added(self._source, old) else ())}
        for fault in faults(self._source, old):
            if fault.code not in passing:
                raise fault

    def _make(self, old: TopicState) -> None:
        size = max(int(self._source.config[SIZES]), int(old.config[SIZES]))
        filled = {**self._target.config, STAMPS: GIVEN, SIZES: str(size)}
        self._admin.create([replace(self._target, config=filled)])

    def _open(self, new: TopicState) -> None:
        reached = self._front.join()
        starts = {one: reached.target.get(one, 0) for one in range(new.partitions)}
        if lost := [one for one, start in starts.items() if new.high_watermarks[one] < start]:
            raise _differs(self._target.name, f"partitions {lost} have lost messages that were there")
        self._back = Back(self._bootstrap, self._target.name, starts, self._options)
        self._next = starts
        self._reached = dict(reached.source)
        self._known = _Known()
        self._refill = Refill(self._bootstrap, self._target.name, options=self._options)
        try:
            self._read_left(new)
        except BaseException:
            self._refill.close()
            self._back.close()
            raise
        self._front.start(self._reached)

    def _read_left(self, new: TopicState) -> None:
        """What lies behind the last commit: of each partition to each, up to where, and what."""
        last: dict[tuple[int, int], int] = {}
        for one in self._back.read(self._next, new.high_watermarks):
            partition, offset = self._origin(one)
            stream = partition, one.partition()
            if offset <= last.get(stream, -1):
                raise _differs(self._target.name, f"it holds offset {offset} of partition {partition} twice")
            last[stream] = offset
            self._add(stream, _told(one.key(), one.value(), one.timestamp()[1], offset))
        self._known.streams = {
            stream: _Stream(offset, self._known.hashes[stream].digest()) for stream, offset in last.items()
        }
        self._known.hashes = {}
        self._next = dict(new.high_watermarks)
        self.tally.messages = sum(self._next.values())

    def _add(self, stream: tuple[int, int], told: bytes) -> None:
        hashed = self._known.hashes.get(stream)
        if hashed is None:
            hashed = self._known.hashes[stream] = blake2b(digest_size=16)
        hashed.update(told)

    def _origin(self, message: Any) -> Place:
        place = came_from(message.headers(), self._moving.old_id)
        if place is None:
            where = f"{message.partition()}:{message.offset()}"
            raise _differs(self._target.name, f"the message {where} was not copied from {self._source.name}")
        return place

    def _ends(self) -> Mapping[int, int]:
        return self._admin.state(self._source).high_watermarks

    def _pass(self, ends: Mapping[int, int]) -> None:
        """Up to these offsets of the old topic, at least."""
        began = time.monotonic()
        total = sum(ends.values())
        while not self._front.has_passed(ends):
            messages = self._front.messages(ROUND_MESSAGES, ROUND_BYTES)
            self._round(messages)
            self._progress(sum(self._front.reached.values()), total)
        if self._known.streams:
            (partition, _), stream = next(iter(self._known.streams.items()))
            raise _differs(self._target.name, f"offset {stream.last} of partition {partition} came from nowhere")
        self.tally.seconds += time.monotonic() - began

    def _round(self, messages: list[Copied]) -> None:
        """Appended, read back, and only then committed."""
        sent: dict[int, list[Copied]] = {}
        places: dict[Place, int] = {}

        def find(place: Place, goes_to: int) -> int | None:
            at = places.get(place)
            return self._front.offset_of(place, goes_to) if at is None else at

        moving, append = self._moving, self._refill.append
        for message in messages:
            partition = moving.partition(message.key, message.partition)
            value = moving.value(message, partition, find)
            one = message
            if value is not message.value:
                self.tally.drops += 1
                one = message._replace(value=value)
            if self._known.streams and self._is_there(one, partition):
                continue
            append(partition, one.key, one.value, one.stamp, one.came(moving.old_id))
            here = sent.setdefault(partition, [])
            places[one.partition, one.offset] = self._next[partition] + len(here)
            here.append(one)
        self._refill.flush()
        self._read_back(sent)
        self._front.commit(self._next)

    def _is_there(self, one: Copied, partition: int) -> bool:
        stream = one.partition, partition
        known = self._known.streams.get(stream)
        if known is None or one.offset > known.last:
            return False
        self._add(stream, _told(one.key, one.value, one.stamp, one.offset))
        self.tally.found += 1
        if one.offset == known.last:
            if self._known.hashes.pop(stream).digest() != known.told:
                raise _differs(self._target.name, f"what came from partition {one.partition} is not what lies there")
            del self._known.streams[stream]
        return True

    def _read_back(self, sent: Mapping[int, list[Copied]]) -> None:
        ends = {partition: self._next[partition] + len(here) for partition, here in sent.items()}
        for one in self._back.read(self._next, ends):
            partition = one.partition()
            said = sent[partition][one.offset() - self._next[partition]]
            found = self._origin(one), one.key(), one.value(), one.timestamp()[1]
            if found != ((said.partition, said.offset), said.key, said.value, said.stamp):
                raise _differs(self._target.name, f"{partition}:{one.offset()} is not what was appended")
        self._next |= ends
        appended = sum(map(len, sent.values()))
        self.tally.copied += appended
        self.tally.messages += appended


def reopen(bootstrap: str, source: Topic, target: Topic, *, options: Mapping[str, str] | None = None) -> None:
    """Takes a seal back: the old topic is written to again, the new one is a copy once more.

    Raises:
        Unfit: ``copy_unknown``; ``copy_written``: the new topic holds more than was copied; nothing was changed.
        Transient: Kafka is away.
    """
    admin = Admin(bootstrap, options=options)
    old, new = admin.state(source), admin.state(target)
    moving = Moving(old.topic_id, old.partitions, new.topic_id, new.partitions, source.partitions)
    copied = committed(bootstrap, source.name, target.name, moving, options).target
    if not copied:
        raise Unfit(
            "copy_unknown",
            f"nobody knows of a copy of {source.name} into {target.name}",
            remedy="name the topic that it was copied into by --to",
        )
    _refuse_written(target, new, copied)
    admin.configure(target.name, {STAMPS: GIVEN})
    # from here on no writer that looks at it writes to it
    try:
        _refuse_written(target, admin.state(target), copied)
    except Unfit:
        admin.configure(target.name, {STAMPS: target.config[STAMPS]})
        raise
    admin.configure(source.name, {SIZES: new.config[SIZES]})


def _refuse_written(target: Topic, new: TopicState, copied: Mapping[int, int]) -> None:
    if more := sum(new.high_watermarks.values()) - sum(copied.values()):
        raise Unfit(
            "copy_written",
            f"{more:,} messages were written to {target.name} since it was sealed, and {target.name} alone has them",
            remedy="go on with it",
        )


def _told(key: bytes | None, value: bytes | None, stamp: int, offset: int) -> bytes:
    hashed = blake2b(b"%d %d %d %d " % (offset, stamp, *(-1 if one is None else len(one) for one in (key, value))))
    hashed.update(key or b"")
    hashed.update(value or b"")
    return hashed.digest()


def _differs(name: str, told: str) -> Unfit:
    return Unfit(
        "copy_differs",
        f"the topic {name} is not what this copy made: {told}",
        remedy="see that nobody else writes to it, delete it, and copy anew",
    )
