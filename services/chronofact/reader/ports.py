"""What the reader needs from outside: projections to read, and how far the log goes."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol
from uuid import UUID

from chronofact.contracts.reading import (
    Ask,
    Claim,
    Edge,
    EdgesWanted,
    EventLine,
    FactHead,
    FactsWanted,
    Found,
    ListedFact,
    Rectangle,
    Silence,
    Standing,
    VersionLine,
    WantedClaim,
    Watermarks,
)


class Snapshot(Protocol):
    """One projection as it was at one moment. Every call may raise ``Transient``."""

    standing: Standing

    async def answers(self, asks: Sequence[Ask]) -> list[Found]:
        """In the order of the asks."""
        ...

    async def claims(self, wanted: Sequence[WantedClaim]) -> list[Claim]:
        """In no particular order."""
        ...

    async def silences(self, asks: Sequence[tuple[int, int, int | None]]) -> list[Silence]:
        """For each fact number, ``valid_at`` and ``system_as_of``, in order."""
        ...

    async def held(self, fact_ids: Sequence[bytes]) -> Mapping[str, int]:
        """How many messages of those facts are parked."""
        ...

    async def fact(self, tenant_id: UUID, fact_id: bytes) -> FactHead | None:
        """The tenant's fact of that id."""
        ...

    async def facts(self, wanted: FactsWanted) -> list[ListedFact]:
        """A page by scope and key."""
        ...

    async def events(self, fact_no: int, *, after: int, limit: int) -> list[EventLine]:
        """A page by ``event_seq``."""
        ...

    async def versions(self, fact_no: int, *, after: int, limit: int) -> list[VersionLine]:
        """A page by number."""
        ...

    async def timeline(self, fact_no: int, *, after: int, limit: int) -> list[Rectangle]:
        """A page by when it became known; ``after`` counts rectangles."""
        ...

    async def claims_of(self, fact_no: int, version_nos: Sequence[int]) -> Mapping[int, tuple[str, bytes]]:
        """Id and value of some of a fact's versions, by number."""
        ...

    async def edges(self, wanted: EdgesWanted) -> list[Edge]:
        """A page of conflict edges."""
        ...


class Projections(Protocol):
    """Where answers come from. Every call may raise ``Transient`` or ``Unfit``."""

    async def answer(self, tenant_id: UUID, ask: Ask) -> tuple[Standing, Found]:
        """One answer, as cheaply as can be."""
        ...

    def snapshot(self, tenant_id: UUID) -> AbstractAsyncContextManager[Snapshot]:
        """The tenant's projection, unchanging while the block runs."""
        ...

    def standing(self, tenant_id: UUID) -> Coroutine[Any, Any, Standing]:
        """How far the tenant's projection has come."""
        ...


class LogEnds(Protocol):
    """Asks the broker; blocks."""

    def __call__(self) -> Watermarks:
        """Raises Transient or Unfit when the broker can't be asked."""
        ...
