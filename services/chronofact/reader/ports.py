"""What the reader needs from outside: projections to read, and how far the log goes."""

from __future__ import annotations

from collections.abc import Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol
from uuid import UUID

from chronofact.contracts.context import (
    AsKnown,
    ChainFact,
    ContextWanted,
    Contradiction,
    Proposal,
    Undecided,
    WantedCheck,
)
from chronofact.contracts.memories import (
    Asked,
    MemoriesWanted,
    MemoryFact,
    MemoryLine,
    MemoryPlace,
    Ranked,
    RelationLine,
    RelationsWanted,
    UndecidedLine,
    WantedMemory,
)
from chronofact.contracts.reading import (
    Ask,
    Claim,
    Edge,
    EdgesWanted,
    EventLine,
    FactHead,
    FactsWanted,
    Found,
    HeldFact,
    ListedFact,
    Rectangle,
    Silence,
    Standing,
    StoredHistory,
    VersionLine,
    WantedClaim,
    Watermarks,
)
from chronofact.contracts.tail import Stretch, Tail, TailBounds, TailMessage


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

    async def held_facts(
        self, tenant_id: UUID, subject_id: UUID | None, fact_id: bytes | None
    ) -> tuple[list[HeldFact], bool]:
        """The facts of which messages are parked: the tenant's, and all that have no event; and whether there are more."""
        ...

    async def held_samples(self, fact_ids: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """One parked message of each of those facts, by fact."""
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

    async def timeline(self, fact_no: int, *, system_as_of: int | None, after: int, limit: int) -> list[Rectangle]:
        """A page by when it became known, as known then; ``after`` counts rectangles."""
        ...

    async def chain(self, wanted: ContextWanted) -> list[ChainFact]:
        """The facts of a chain of scopes, nearest scope first, then by key."""
        ...

    async def proposals(self, asked: Sequence[AsKnown], *, valid_at: int, limit: int) -> list[Proposal]:
        """Versions of those facts that wait for their activation and are not over at the instant."""
        ...

    async def contradictions(self, asked: Sequence[AsKnown]) -> list[Contradiction]:
        """Pairs of those facts that contradict each other, unsettled."""
        ...

    async def undecided_of(self, asked: Sequence[AsKnown]) -> list[Undecided]:
        """Pairs of memories of those facts that wait for a verdict."""
        ...

    async def unchecked_of(self, asked: Sequence[WantedCheck]) -> list[str]:
        """Of those text memories the ones that nobody had held against the others, by version id."""
        ...

    async def claims_of(self, fact_no: int, version_nos: Sequence[int]) -> Mapping[int, tuple[str, bytes]]:
        """Id and value of some of a fact's versions, by number."""
        ...

    async def stored(self, fact_ids: Sequence[bytes], *, events_max: int, bytes_max: int) -> list[StoredHistory] | None:
        """Those of the facts that are known, of any tenant, with all their events; None: more than so many."""
        ...

    async def parked_of(self, fact_ids: Sequence[bytes]) -> list[TailMessage]:
        """The parked messages of those facts, in offset order."""
        ...

    async def dropped(self, topic_id: bytes, messages: Sequence[TailMessage]) -> frozenset[tuple[int, int]]:
        """The partition and offset of those that were given up."""
        ...

    async def edges(self, wanted: EdgesWanted) -> list[Edge]:
        """A page of conflict edges, oldest first."""
        ...

    async def memory_facts(self, wanted: MemoriesWanted) -> list[MemoryFact]:
        """The subject's facts of memories, by scope and key, each with what holds of it and what does not."""
        ...

    async def memories_ranked(
        self, among: Mapping[int, Sequence[int]], asked: Asked, *, passed: int, limit: int
    ) -> list[Ranked]:
        """Those of the memories, version numbers by fact, that the query finds, best first, behind so many."""
        ...

    async def memories(self, wanted: Sequence[WantedMemory]) -> list[MemoryLine]:
        """In the order asked for."""
        ...

    async def memory_places(self, tenant_id: UUID, version_id: bytes) -> list[MemoryPlace]:
        """The tenant's fact where something was said of that memory; at most one."""
        ...

    async def relations(self, wanted: RelationsWanted, fact_nos: Sequence[int]) -> list[RelationLine]:
        """A page by fact and pair; ``fact_nos`` are where the one memory is, where one is asked for."""
        ...

    async def undecided(self, wanted: RelationsWanted, fact_nos: Sequence[int]) -> list[UndecidedLine]:
        """Pairs that wait for a verdict, the longest so first."""
        ...

    async def has_unchecked(self, wanted: RelationsWanted) -> bool:
        """Whether some memory of the subject has not been checked yet."""
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


class LogTail(Protocol):
    """Reads the facts topic near its end; blocks, and may be called from several threads at once."""

    partitions: int
    """How many partitions the topic has."""

    def partition_of(self, fact_id: bytes) -> int:
        """Where the events of a fact lie."""
        ...

    def read(self, wanted: Sequence[Stretch], keys: Collection[bytes], bounds: TailBounds) -> Tail:
        """The messages of those keys, each partition from its start to its end as known when the reading began.

        Stops early where a bound is met: ``next_offsets`` tells how far it came, ``is_cut`` that it was a bound.

        Raises:
            Transient: Kafka can't be reached.
            Unfit: the topic is gone, or lacks the offset to start from.
        """
        ...

    def close(self) -> None:
        """Lets go of every connection."""
        ...
