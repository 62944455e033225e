"""Waits until a tenant's projection has applied all that the log holds now, so that no verdict in it is overlooked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from chronofact.adjudicator.ports import Ends, LogEnds, Memories, Ref
from chronofact.kafka.partitioning import partition_of
from chronofact.runtime.failures import Transient

FIRST_PAUSE_S: Final = 0.01
PAUSE_MAX_S: Final = 0.2
PATIENCE_S: Final = 30.0


class Passing:
    """All waits of one process; those that begin together share a look at the log's end."""

    def __init__(
        self,
        memories: Memories,
        ends: LogEnds,
        *,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._memories = memories
        self._ends = ends
        self._monotonic = monotonic
        self._sleep = sleep
        self._next: asyncio.Task[Ends] | None = None
        self._running: asyncio.Task[Ends] | None = None

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
            projection = await self._memories.route(ref.tenant_id)
            at = await self._memories.next_offset(projection, ends.topic_id, partition)
            if at >= ends.next_offsets[partition]:
                return projection
            if self._monotonic() > until:
                raise Transient(
                    "projection_behind", f"{projection} has not applied what the log held {PATIENCE_S:.0f} s ago"
                )
            await self._sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

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
