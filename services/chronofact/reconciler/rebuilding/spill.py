"""A partition's messages, dealt by key into buckets: in memory while they are few, else in one file without a name."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from struct import Struct
from typing import IO, Final, NamedTuple, TypeAlias
from zlib import crc32

from chronofact.kafka.consumer import RawMessage
from chronofact.runtime.failures import Unfit

MESSAGE_BYTES: Final = 250
"""Rough weight of a message in memory besides its key and value."""
SEGMENT_BYTES_MAX: Final = 256 * 1024
SEGMENT_BYTES_MIN: Final = 4 * 1024
_HEAD: Final = Struct("<qqII")

Facts: TypeAlias = "dict[bytes, list[RawMessage]]"
"""Messages by key, each key's by offset."""


class Size(NamedTuple):
    """What may be in memory at once, and how much of it one fact may be."""

    memory_bytes: int
    fact_bytes: int


def bucket_count(bytes_expected: int, bucket_bytes: int) -> int:
    """So many buckets that each is about so large."""
    return max(1, -(-bytes_expected // bucket_bytes))


class Spill:
    """Takes messages in the order of the log; gives them back bucket by bucket."""

    def __init__(self, partition: int, buckets: int, size: Size, folder: Path | None) -> None:
        self._partition = partition
        self._buckets = buckets
        self._size = size
        self._folder = folder
        self._facts: Facts = {}
        self._dealt: list[Facts] = []
        self._bytes = 0
        self._file: _File | None = None

    @property
    def is_in_file(self) -> bool:
        """Whether there were too many for memory."""
        return self._file is not None

    def add(self, messages: Sequence[RawMessage]) -> None:
        """The next messages of the log.

        Raises:
            Unfit: ``rebuild_folder``: the file can't be made or written.
        """
        if self._file is not None:
            self._file.add(messages)
            return
        _gather(self._facts, messages)
        self._bytes += weight(messages)
        if self._bytes > self._size.memory_bytes:
            self._leave_memory()

    def facts(self, bucket: int) -> Iterator[Facts]:
        """One bucket's messages, in one piece or as many as memory asks for, but for facts that are too large."""
        if self._file is None:
            yield self._deal()[bucket]
            return
        large, pieces = self._file.large(bucket), self._file.pieces(bucket)
        for piece in range(pieces):
            facts: Facts = {}
            found: Iterable[RawMessage] = self._file.read(bucket)
            if pieces > 1 or large:
                found = (one for one in found if crc32(one.key, 1) % pieces == piece and one.key not in large)
            _gather(facts, found)
            yield facts

    def done(self, bucket: int) -> None:
        """Nobody asks for the bucket again."""
        if self._file is None:
            self._dealt[bucket] = {}

    def large(self, bucket: int) -> Iterator[RawMessage]:
        """Messages of the bucket's facts that are too large to be held at once, by offset."""
        if self._file is not None and (large := self._file.large(bucket)):
            yield from (message for message in self._file.read(bucket) if message.key in large)

    def close(self) -> None:
        """Let go of all."""
        self._facts, self._dealt = {}, []
        if self._file is not None:
            self._file.close()

    def _deal(self) -> list[Facts]:
        """Facts by bucket, each in the order of first sight."""
        if not self._dealt:
            self._dealt = [{} for _ in range(self._buckets)]
            for key, messages in self._facts.items():
                self._dealt[crc32(key) % self._buckets][key] = messages
            self._facts = {}
        return self._dealt

    def _leave_memory(self) -> None:
        self._file = _File(self._partition, self._buckets, self._size, self._folder)
        messages = [message for said in self._facts.values() for message in said]
        self._facts = {}
        messages.sort(key=itemgetter(1))
        self._file.add(messages)


class _File:
    """Segments of one file, each of one bucket; the system removes it with its last user, however that ends."""

    def __init__(self, partition: int, buckets: int, size: Size, folder: Path | None) -> None:
        self._partition = partition
        self._buckets = buckets
        self._size = size
        share = size.memory_bytes // 2 // buckets
        self._segment_bytes = max(SEGMENT_BYTES_MIN, min(SEGMENT_BYTES_MAX, share))
        self._pending = [bytearray() for _ in range(buckets)]
        self._segments: list[list[tuple[int, int]]] = [[] for _ in range(buckets)]
        self._bytes = [0] * buckets
        self._end = 0
        self._large: dict[int, frozenset[bytes]] = {}
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - it lives as long as we
        except OSError as error:
            raise _unwritable(error) from error

    def add(self, messages: Iterable[RawMessage]) -> None:
        pack, pending, buckets, segment_bytes = _HEAD.pack, self._pending, self._buckets, self._segment_bytes
        for _, offset, key, value, appended_at in messages:
            bucket = crc32(key) % buckets
            mine = pending[bucket]
            mine += pack(offset, appended_at, len(key), len(value))
            mine += key
            mine += value
            if len(mine) >= segment_bytes:
                self._write(bucket)

    def _write(self, bucket: int) -> None:
        segment = self._pending[bucket]
        try:
            written = 0
            with memoryview(segment) as whole:
                while written < len(segment):
                    written += os.pwrite(self._file.fileno(), whole[written:], self._end + written)
        except OSError as error:
            raise _unwritable(error) from error
        self._segments[bucket].append((self._end, written))
        self._end += written
        self._bytes[bucket] += written
        self._pending[bucket] = bytearray()

    def read(self, bucket: int) -> Iterator[RawMessage]:
        if self._pending[bucket]:
            self._write(bucket)
        for at, size in self._segments[bucket]:
            yield from _messages(self._partition, self._whole(at, size))

    def _whole(self, at: int, size: int) -> bytes:
        found = os.pread(self._file.fileno(), size, at)
        while len(found) < size:
            more = os.pread(self._file.fileno(), size - len(found), at + len(found))
            if not more:
                raise OSError("the spill file is shorter than what was written to it")
            found += more
        return found

    def large(self, bucket: int) -> frozenset[bytes]:
        """Facts of more bytes than one may have; none where the whole bucket has not so many."""
        if bucket not in self._large:
            found: Counter[bytes] = Counter()
            if self._bytes[bucket] + len(self._pending[bucket]) > self._size.fact_bytes:
                for message in self.read(bucket):
                    found[message.key] += len(message.value) + MESSAGE_BYTES
            self._large[bucket] = frozenset(key for key, size in found.items() if size > self._size.fact_bytes)
        return self._large[bucket]

    def pieces(self, bucket: int) -> int:
        """More than one only where messages grew after the count of buckets was fixed."""
        return max(1, (self._bytes[bucket] + len(self._pending[bucket])) // self._size.memory_bytes)

    def close(self) -> None:
        self._file.close()


def weight(messages: Sequence[RawMessage]) -> int:
    """Rough bytes of messages in memory."""
    return sum([len(one[2]) + len(one[3]) for one in messages]) + MESSAGE_BYTES * len(messages)


def _gather(facts: Facts, messages: Iterable[RawMessage]) -> None:
    for message in messages:
        key = message[2]
        if key in facts:
            facts[key].append(message)
        else:
            facts[key] = [message]


def _messages(partition: int, segment: bytes) -> Iterator[RawMessage]:
    at, end, head_bytes, unpack = 0, len(segment), _HEAD.size, _HEAD.unpack_from
    while at < end:
        offset, appended_at, key_bytes, value_bytes = unpack(segment, at)
        at += head_bytes
        value_at = at + key_bytes
        key, at = segment[at:value_at], value_at + value_bytes
        yield RawMessage(partition, offset, key, segment[value_at:at], appended_at)


def _unwritable(error: OSError) -> Unfit:
    return Unfit(
        "rebuild_folder",
        f"messages can't be spilled: {error.strerror}",
        remedy="make room there, or name another folder in CHRONOFACT_REBUILD_FOLDER",
    )
