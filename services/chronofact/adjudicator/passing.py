"""Waits until a tenant's projection has applied all that the log holds now, so that no verdict in it is overlooked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from chronofact.adjudicator.ports import Ends, LogEnds, Memories
from chronofact.kafka.partitioning import partition_of
from chronofact.postgres.errors import not_routed
from chronofact.postgres.judging_store import Place, Standing
from chronofact.postgres.looking import Ref
from chronofact.runtime.failures import Transient
from chronofact.runtime.together import Together

FIRST_PAUSE_S: Final = 0.01
PAUSE_MAX_S: Final = 0.2
PATIENCE_S: Final = 30.0
STANDING_MAX: Final = 256


class Passing:
    """All waits of one process; those that begin together share a look at the log's end, and at how far projections are."""

    def __init__(
        self,
        memories: Memories,
        ends: LogEnds,
        *,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._ends = ends
        self._monotonic = monotonic
        self._sleep = sleep
        self._next: asyncio.Task[Ends] | None = None
        self._running: asyncio.Task[Ends] | None = None
        self._memories = memories
        self._standing: Together[Place, Standing | None] = Together(self._stand, most=STANDING_MAX)

    async def passed(self, ref: Ref) -> str:
        """The tenant's projection, once it has passed the end of the memory's partition as of this call.

        Raises:
            Transient: ``projection_behind`` after a while, or something is away.
            Unfit: the tenant reads nothing, or the topic is gone.
        """
        ends = await self._end_from_now_on()
        partition = partition_of(ref.fact_id, len(ends.next_offsets))
        until = self._monotonic() + PATIENCE_S
        pause_s = FIRST_PAUSE_S
        while True:
            # asked anew each time: a switch may come while we wait
            standing = await self._standing.ask(Place(ref.tenant_id, ends.topic_id, partition))
            if standing is None:
                raise not_routed()
            if standing.next_offset >= ends.next_offsets[partition]:
                return standing.projection
            if self._monotonic() > until:
                raise Transient(
                    "projection_behind",
                    f"{standing.projection} has not applied what the log held {PATIENCE_S:.0f} s ago",
                )
            await self._sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    async def _stand(self, asked: Sequence[Place]) -> Sequence[Standing | None]:
        return await self._memories.standing(asked)

    async def _end_from_now_on(self) -> Ends:
        """A look that runs already may have begun too early; the next one serves all who wait for it."""
        if self._next is None:
            self._next = asyncio.create_task(self._look_after(self._running))
        return await asyncio.shield(self._next)

    async def _look_after(self, before: asyncio.Task[Ends] | None) -> Ends:
        if before is not None:
            await asyncio.wait([before])
        self._running, self._next = self._next, None
        return await self._ends()
