"""Who reads texts in this writer, and whether it takes any."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Literal

from chronofact.contracts.log import QueueFull
from chronofact.domain.errors import Rejected
from chronofact.runtime.metrics import Metrics
from chronofact.text.frames import Frame
from chronofact.text.installed import check_installed
from chronofact.text.sentences import Sentence
from chronofact.text.worker import Models, Reading, TextWorker


def why_not(setting: Literal["auto", "on", "off"]) -> Rejected | None:
    """Why this writer takes no texts: ``texts_off`` or ``text_not_installed``; None where it does."""
    if setting == "off":
        return Rejected("texts_off", "this writer takes no memories: CHRONOFACT_TEXTS is off")
    try:
        check_installed()
    except Rejected as refusal:
        return refusal
    return None


class Texts:
    """Reads texts by models that are made when the first one comes, so that a writer of facts alone stays small."""

    def __init__(self, make: Callable[[], Models], metrics: Metrics, *, texts_max: int) -> None:
        self._worker = TextWorker(make, texts_max=texts_max)
        self._seconds = metrics.histogram("chronofact_writer_text_seconds")
        self._read = metrics.counter("chronofact_writer_texts_total")
        self._stumbles = metrics.counter("chronofact_writer_texts_stumbled_total")
        self._stumbled = 0
        metrics.gauge("chronofact_writer_texts_waiting").set_function(lambda: self._worker.waiting)

    async def read(self, texts: Sequence[str]) -> list[Reading]:
        """What is derived of each text, in order.

        Raises:
            Rejected: ``queue_full``, ``shutting_down``.
        """
        started = time.perf_counter()
        try:
            readings = await self._worker.derive(texts)
        except QueueFull:
            raise Rejected("queue_full", "too many texts wait to be read; nothing was sent") from None
        self._seconds.observe(time.perf_counter() - started)
        with_frames = sum(bool(one.frames) for one in readings)
        self._read.labels("some").inc(with_frames)
        self._read.labels("none").inc(len(readings) - with_frames)
        self._count_stumbles()
        return readings

    async def split(self, texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
        """The sentences of each text, in order.

        Raises:
            Rejected: ``queue_full``, ``shutting_down``.
        """
        try:
            return await self._worker.split(texts)
        except QueueFull:
            raise Rejected("queue_full", "too many texts wait to be read; nothing was sent") from None

    async def frames(self, texts: Sequence[str]) -> list[tuple[Frame, ...]]:
        """The frames of each text, of which nothing is kept.

        Raises:
            Rejected: ``shutting_down``.
        """
        return await self._worker.frames(texts)

    def _count_stumbles(self) -> None:
        stumbled = self._worker.stumbled
        self._stumbles.inc(stumbled - self._stumbled)
        self._stumbled = stumbled

    async def load(self) -> None:
        """Makes the models now."""
        await self._worker.load()

    def close(self) -> None:
        """Refuses what is not begun."""
        self._worker.close()


def made() -> Models:
    """The models of the text extra, which must be installed."""
    from chronofact.text.models import make_models  # noqa: PLC0415 - there only where the extra is installed

    models = make_models()
    # vocabularies stay for ever: collections need not look at them
    gc.collect()
    gc.freeze()
    return models
