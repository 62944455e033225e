"""Reads texts on a thread of their own, in small batches taken in turn from whoever waits, so that none waits for all."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final, NamedTuple, Protocol, TypeVar

from chronofact.contracts.derived import Derived, decode, encode
from chronofact.contracts.log import QueueFull
from chronofact.domain.errors import Rejected
from chronofact.text.frames import Frame
from chronofact.text.pairs import index_keys
from chronofact.text.sentences import Sentence, whole
from chronofact.text.told import Told, with_told

BATCH_TEXTS_MAX: Final = 8
BATCH_CHARS_MAX: Final = 1_000
"""A batch is what a text that comes next waits for: about 40 ms at most."""


SPLIT_TEXTS_MAX: Final = 16
SPLIT_CHARS_MAX: Final = 4_000
"""What is parted, or read for frames alone, before others have their turn: about 80 ms at most."""
_T = TypeVar("_T")


class Extracts(Protocol):
    """Finds the frames of texts; raises for none."""

    @property
    def version(self) -> str:
        """Of what found them."""
        ...

    @property
    def stumbled(self) -> int:
        """Texts so far on whose parse a rule stumbled; they have no frames."""
        ...

    def frames_of_many(self, texts: Sequence[str]) -> Sequence[tuple[Frame, ...]]:
        """The frames of each, in order."""
        ...


class Embeds(Protocol):
    """Gives texts their places."""

    @property
    def version(self) -> str:
        """Of the model; embeddings of two are no neighbours."""
        ...

    def embed_many(self, texts: Sequence[str]) -> Sequence[bytes]:
        """The embedding of each, in order."""
        ...


class Splits(Protocol):
    """Parts texts into sentences; raises for none."""

    def sentences_of_many(self, texts: Sequence[str]) -> Sequence[tuple[Sentence, ...]]:
        """The sentences of each, in order."""
        ...


class Reading(NamedTuple):
    """What was found in a text: its frames, and all that is derived of it as its event carries it."""

    frames: tuple[Frame, ...]
    derived: bytes

    def telling(self, told: Told) -> Reading:
        """The same, with what else the sentence told."""
        derived = None if told == Told(self.frames) else decode(self.derived)
        if derived is None:
            return self
        return self._replace(derived=encode(replace(derived, frames=with_told(derived.frames, told))))


class Models(NamedTuple):
    """What texts are read with."""

    extractor: Extracts
    embedder: Embeds
    splitter: Splits | None = None

    def derive(self, texts: Sequence[str]) -> list[Reading]:
        """All that is derived of each text, in order."""
        embeddings = self.embedder.embed_many(texts)
        found = self.extractor.frames_of_many(texts)
        return [self._reading(frames, one) for frames, one in zip(found, embeddings, strict=True)]

    def _reading(self, frames: tuple[Frame, ...], embedding: bytes) -> Reading:
        said = [frame.to_json() for frame in frames]
        derived = Derived(self.extractor.version, said, list(index_keys(frames)), self.embedder.version, embedding)
        return Reading(frames, encode(derived))


class _Job:
    """The texts of one caller, and how far they are read."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.begun = 0
        self.readings: list[Reading] = []
        self.done: asyncio.Future[list[Reading]] = asyncio.get_running_loop().create_future()

    def settle(self, readings: list[Reading]) -> None:
        """So many more are read."""
        self.readings += readings
        if len(self.readings) == len(self.texts) and not self.done.done():
            self.done.set_result(self.readings)

    def fail(self, error: BaseException) -> None:
        """None of them can be read."""
        if not self.done.done():
            self.done.set_exception(error)


_Share = tuple[_Job, int]
"""How many texts of a job are in a batch."""


class TextWorker:
    """Called from one event loop; the models are made by the thread when the first text comes, and stay with it."""

    def __init__(self, make: Callable[[], Models], *, texts_max: int) -> None:
        self._make = make
        self._texts_max = texts_max
        self._models: Models | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="texts")
        self._jobs: deque[_Job] = deque()
        self._waiting = 0
        self._reading: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Texts that are not read yet."""
        return self._waiting

    @property
    def stumbled(self) -> int:
        """Texts so far on whose parse a rule stumbled; they have no frames."""
        return 0 if self._models is None else self._models.extractor.stumbled

    async def derive(self, texts: Sequence[str]) -> list[Reading]:
        """What is derived of each text, in order.

        Raises:
            QueueFull: too many texts wait; none of these is read.
            Rejected: ``shutting_down``.
        """
        if self._waiting + len(texts) > self._texts_max:
            raise QueueFull
        if not texts:
            return []
        job = _Job(texts)
        self._jobs.append(job)
        self._waiting += len(texts)
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        try:
            return await job.done
        finally:
            self._waiting -= len(texts)
            if job in self._jobs:
                self._jobs.remove(job)

    async def split(self, texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
        """The sentences of each text, in order; between two batches others are read.

        Raises:
            QueueFull: too many texts wait; none of these is read.
            Rejected: ``shutting_down``.
        """
        if self._waiting + len(texts) > self._texts_max:
            raise QueueFull
        found: list[tuple[Sentence, ...]] = []
        self._waiting += len(texts)
        try:
            for batch in _batches(texts):
                found += await self._on_thread(self._split, batch)
        finally:
            self._waiting -= len(texts)
        return found

    async def frames(self, texts: Sequence[str]) -> list[tuple[Frame, ...]]:
        """The frames alone of each text, which are kept nowhere.

        Raises:
            Rejected: ``shutting_down``.
        """
        found: list[tuple[Frame, ...]] = []
        for batch in _batches(texts):
            found += await self._on_thread(self._frames, batch)
        return found

    async def _on_thread(self, read: Callable[[Sequence[str]], list[_T]], texts: Sequence[str]) -> list[_T]:
        try:
            reading = asyncio.get_running_loop().run_in_executor(self._thread, read, texts)
        except RuntimeError:
            raise Rejected("shutting_down", "the process is about to stop; nothing was sent") from None
        return await reading

    async def load(self) -> None:
        """Makes the models now."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._derive, ())

    def close(self) -> None:
        """What is being read comes to its end; what is not begun is refused."""
        for job in self._jobs:
            job.fail(Rejected("shutting_down", "the process is about to stop; nothing was sent"))
        self._jobs.clear()
        self._thread.shutdown(wait=False)

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            texts = [text for job, count in batch for text in job.texts[job.begun - count : job.begun]]
            reading = loop.run_in_executor(self._thread, self._derive, texts)
            await asyncio.wait((reading,))
            _hand_over(batch, reading)

    def _next_batch(self) -> list[_Share]:
        """One text of each job in turn, until the batch is full; whoever is not through goes to the end."""
        taken: dict[_Job, int] = {}
        texts = chars = 0
        while self._jobs and texts < BATCH_TEXTS_MAX:
            job = self._jobs[0]
            chars += len(job.texts[job.begun])
            if texts and chars > BATCH_CHARS_MAX:
                break
            self._jobs.popleft()
            job.begun += 1
            texts += 1
            taken[job] = taken.get(job, 0) + 1
            if job.begun < len(job.texts):
                self._jobs.append(job)
        return list(taken.items())

    def _derive(self, texts: Sequence[str]) -> list[Reading]:
        models = self._made()
        return models.derive(texts) if texts else []

    def _split(self, texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
        splitter = self._made().splitter
        return [(whole(text),) for text in texts] if splitter is None else list(splitter.sentences_of_many(texts))

    def _frames(self, texts: Sequence[str]) -> list[tuple[Frame, ...]]:
        return list(self._made().extractor.frames_of_many(texts))

    def _made(self) -> Models:
        if self._models is None:
            self._models = self._make()
        return self._models


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """In order, each of a few texts or of one long one."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) == SPLIT_TEXTS_MAX or chars + len(text) > SPLIT_CHARS_MAX):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def _hand_over(batch: list[_Share], reading: asyncio.Future[list[Reading]]) -> None:
    if (error := reading.exception()) is not None:
        for job, _ in batch:
            job.fail(error)
        return
    readings, at = reading.result(), 0
    for job, count in batch:
        job.settle(readings[at : at + count])
        at += count
