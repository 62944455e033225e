"""A writer that takes texts, with twins of the models and of the topic that tells of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chronofact.contracts.derived import EMBEDDING_BYTES
from chronofact.runtime.metrics import Metrics
from chronofact.text.frames import Frame
from chronofact.text.worker import Models
from chronofact.writer.notices import Notices
from chronofact.writer.text_side import TextSide
from chronofact.writer.texts import Texts
from tests.contract.append_log import MemoryAppendLog
from tests.contract.writing import WriterInProcess


class TwinModels:
    """A frame a text that has a verb in its middle: ``user``, the verb, the rest; and an embedding of zeros."""

    version = "twin/1"

    def __init__(self) -> None:
        self.read: list[str] = []
        self.stumbled = 0

    def frames_of_many(self, texts: Sequence[str]) -> list[tuple[Frame, ...]]:
        self.read += texts
        return [self._frames(text.split()) for text in texts]

    def embed_many(self, texts: Sequence[str]) -> list[bytes]:
        return [bytes(EMBEDDING_BYTES)] * len(texts)

    def _frames(self, words: Sequence[str]) -> tuple[Frame, ...]:
        if len(words) < 3 or words[0] != "User":
            return ()
        return (Frame("user", words[1], " ".join(words[2:])),)


class RememberingWriter(WriterInProcess):
    """``told`` is the topic of texts, in memory; each text that the twins read is in ``models.read``."""

    def __init__(self, make: Callable[[], Models] | None = None, *, texts_max: int = 20_000, **settings: Any) -> None:
        self.told, self.models = MemoryAppendLog(), TwinModels()
        self._make = make or (lambda: Models(self.models, self.models))
        self._texts_max = texts_max
        super().__init__(texts=self._side, **settings)

    def _side(self, metrics: Metrics) -> TextSide:
        texts = Texts(self._make, metrics, texts_max=self._texts_max)
        return TextSide(texts, Notices(self.told, metrics, partitions=12), lambda: None)


def memory(**said: Any) -> dict[str, Any]:
    """A memory that is right, but for what the test says otherwise; ``...`` leaves a field out."""
    plain = {
        "subject": "ada",
        "category": "preference",
        "text": "User prefers Python",
        "valid_from": "2026-03-01T00:00:00Z",
        "source": {"id": "chat-1", "text": "I prefer Python."},
    }
    return {name: found for name, found in (plain | said).items() if found is not ...}
