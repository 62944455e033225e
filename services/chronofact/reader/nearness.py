"""Where a query lies among texts: by the model that places texts at write time, if it is installed here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from chronofact.domain.errors import Rejected
from chronofact.text.installed import check_installed


class Placed(NamedTuple):
    """An embedding and the model that made it; only those of one model can be compared."""

    embedder: str
    embedding: bytes


class Nearness(Protocol):
    """Places queries among texts."""

    async def place(self, query: str) -> Placed:
        """The query's place.

        Raises:
            Rejected: ``text_not_installed``, ``texts_off``.
        """
        ...


class WordsAlone:
    """Where the reader is to stay small."""

    async def place(self, query: str) -> Placed:  # noqa: ARG002 - as whoever asks says it
        """Never places anything.

        Raises:
            Rejected: ``texts_off``.
        """
        raise Rejected("texts_off", "this reader loads no model: CHRONOFACT_TEXTS is off")


class ModelNearness:
    """By the embedding model, which is read from its files when the first query comes, on a thread of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="queries")
        self._place: Callable[[str], Placed] = self._load

    async def place(self, query: str) -> Placed:
        """The query's place.

        Raises:
            Rejected: ``text_not_installed``.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._blocking, query)

    def _blocking(self, query: str) -> Placed:
        return self._place(query)

    def _load(self, query: str) -> Placed:
        check_installed()
        from chronofact.text.embed import Embedder  # noqa: PLC0415 - there only where the extra is installed

        embedder = Embedder()

        def place(text: str) -> Placed:
            return Placed(embedder.version, embedder.embed(text))

        self._place = place
        return place(query)
