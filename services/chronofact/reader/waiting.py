"""Waits until a tenant's projection has passed a position; waiters of one tenant share their looks."""

from __future__ import annotations

import asyncio
import time
from typing import Final
from uuid import UUID

from chronofact.contracts.position import Position
from chronofact.contracts.reading import Standing
from chronofact.domain.errors import Rejected
from chronofact.reader.ports import Projections
from chronofact.reader.questions import Wait

FIRST_PAUSE_S: Final = 0.002
PAUSE_MAX_S: Final = 0.02
TENANTS_REMEMBERED: Final = 10_000


class Waiting:
    """Remembers how far each tenant's projection was seen to be, so that most waits need no look."""

    def __init__(self, projections: Projections) -> None:
        self._projections = projections
        self._seen: dict[UUID, Standing] = {}
        self._looks: dict[UUID, asyncio.Task[Standing]] = {}

    async def until_passed(self, tenant_id: UUID, wait: Wait) -> None:
        """Returns once the position is passed, or the wait is over; what is read then tells which.

        Raises:
            Rejected: ``position_of_other_topic``.
        """
        if wait.after is None or self._has_passed(self._seen.get(tenant_id), wait.after):
            return
        until = time.monotonic() + wait.wait_ms / 1_000
        pause_s = FIRST_PAUSE_S
        while not self._has_passed(await self._look(tenant_id), wait.after):
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            await asyncio.sleep(min(pause_s, left_s))
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    def saw(self, tenant_id: UUID, standing: Standing) -> None:
        """What a read has shown."""
        if len(self._seen) > TENANTS_REMEMBERED:
            self._seen.clear()
        self._seen[tenant_id] = standing

    async def _look(self, tenant_id: UUID) -> Standing:
        look = self._looks.get(tenant_id)
        if look is None:
            look = asyncio.create_task(self._projections.standing(tenant_id))
            self._looks[tenant_id] = look
            look.add_done_callback(lambda _: self._looks.pop(tenant_id, None))
        standing = await asyncio.shield(look)
        self.saw(tenant_id, standing)
        return standing

    @staticmethod
    def _has_passed(standing: Standing | None, after: Position) -> bool:
        return standing is not None and has_passed(standing, after)


def has_passed(standing: Standing, after: Position) -> bool:
    """Whether a projection has applied everything before a position.

    Raises:
        Rejected: ``position_of_other_topic``.
    """
    if standing.position is None:
        return not any(after.next_offsets.values())
    if standing.position.topic_id != after.topic_id:
        raise Rejected(
            "position_of_other_topic", "the position is of another topic than the one that is read", field="after"
        )
    return after.is_passed_by(standing.position.next_offsets)
