"""What the feed of changed answers needs from outside: a projection's events by offset, and what they painted."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from chronofact.contracts.changes import (
    ChangesWanted,
    EventApplied,
    Place,
    Release,
    Said,
    Stroke,
    Window,
)


class ChangesSource(Protocol):
    """Every projection that serves. Each call sees what was committed before it, and may raise ``Transient``."""

    async def projection_of(self, tenant_id: UUID) -> str:
        """The projection that serves the tenant."""
        ...

    async def served(self, projection: str, tenant_ids: Collection[UUID]) -> set[UUID]:
        """Which of the tenants it still serves."""
        ...

    async def standing(self, projection: str) -> Place | None:
        """How far the projection has come; None before a projector has begun with it."""
        ...

    async def events(
        self, place: Place, windows: Sequence[Window], wanted: ChangesWanted, *, limit: int
    ) -> list[EventApplied]:
        """Events by offset, at most ``limit`` of each window; not those that were parked before."""
        ...

    async def releases(self, place: Place, partition: int, *, upto: int) -> list[Release]:
        """A partition's releases behind the place."""
        ...

    async def released_since(self, place: Place, next_offsets: Mapping[int, int]) -> Mapping[int, int]:
        """For each partition that released a message at or after an offset, the release before the first such one."""
        ...

    async def released(
        self, projection: str, numbers: Sequence[int], wanted: ChangesWanted
    ) -> Mapping[int, EventApplied]:
        """The events of releases, by number."""
        ...

    async def painted(self, projection: str, events: Sequence[EventApplied]) -> list[Stroke]:
        """What events painted on lane 0."""
        ...

    async def lane_before(self, projection: str, event: EventApplied, *, limit: int) -> list[Stroke]:
        """Lane 0 before an event, newest first."""
        ...

    async def lanes(self, projection: str, event: EventApplied, *, first_seq: int, limit: int) -> list[Stroke]:
        """All lanes of the event's fact, from ``first_seq`` up to the event, in no particular order."""
        ...

    async def said(self, projection: str, versions: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], Said]:
        """What versions say, by fact and number."""
        ...
