"""Waits until a tenant's projection has passed a position; waiters of one tenant share their looks."""

from __future__ import annotations

import asyncio
import time
from typing import Final
from uuid import UUID

from chronofact.contracts.position import Position
from chronofact.contracts.reading import Standing, Watermarks
from chronofact.domain.errors import Rejected
from chronofact.reader.freshness import LogWatch
from chronofact.reader.ports import Projections
from chronofact.reader.questions import Wait

FIRST_PAUSE_S: Final = 0.002
PAUSE_MAX_S: Final = 0.02
TENANTS_REMEMBERED: Final = 10_000


class Waiting:
    """Remembers how far each tenant's projection was seen to be, so that most waits need no look."""

    def __init__(self, projections: Projections, watch: LogWatch) -> None:
        self._projections = projections
        self._watch = watch
        self._seen: dict[UUID, Standing] = {}
        self._looks: dict[UUID, asyncio.Task[Standing]] = {}

    def has_seen(self, tenant_id: UUID, after: Position) -> bool:
        """Whether the tenant's projection is known to have passed a position.

        Raises:
            Rejected: ``position_of_other_topic``.
        """
        standing = self._seen.get(tenant_id)
        return standing is not None and has_passed(standing, after)

    async def until_passed(self, tenant_id: UUID, wait: Wait) -> Standing | None:
        """Returns once the position is passed, or the wait is over: then with how far the projection is instead.

        Raises:
            Rejected: ``position_of_other_topic``, ``position_beyond_log``.
        """
        if wait.after is None or self.has_seen(tenant_id, wait.after):
            return None
        began = time.monotonic()
        until = began + wait.wait_ms / 1_000
        pause_s = FIRST_PAUSE_S
        while True:
            standing = await self._look(tenant_id)
            if has_passed(standing, wait.after):
                return None
            left_s = until - time.monotonic()
            if left_s <= 0:
                return standing
            if (ends := self._watch.ends_since(began)) is not None:
                check_within(wait.after, ends)
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


def has_passed(standing: Standing, after: Position) -> bool:
    """Whether a projection has applied everything before a position.

    Raises:
        Rejected: ``position_of_other_topic``.
    """
    if standing.position is None:
        return not any(after.next_offsets.values())
    if standing.position.topic_id != after.topic_id:
        raise of_other_topic()
    return after.is_passed_by(standing.position.next_offsets)


def check_within(after: Position, ends: Watermarks) -> None:
    """Refuses a position that the log has not reached: nothing that was ever written lies before it.

    Raises:
        Rejected: ``position_of_other_topic``, ``position_beyond_log``.
    """
    if after.topic_id != ends.topic_id:
        raise of_other_topic()
    if not after.is_passed_by(ends.next_offsets):
        raise beyond_log()


def check_partitions(after: Position, partitions: int, ends: Watermarks | None = None) -> None:
    """Refuses a position that speaks of partitions which the topic does not have.

    Raises:
        Rejected: ``position_partition_unknown``; ``position_of_other_topic`` where the topic is known to be another.
    """
    unknown = [one for one in after.next_offsets if one >= partitions]
    if unknown and ends is not None and ends.topic_id != after.topic_id:
        raise of_other_topic()
    if unknown:
        raise Rejected("position_partition_unknown", f"the log has {partitions} partitions, from 0 on", field="after")


def of_other_topic() -> Rejected:
    """The refusal of a position that can't be compared with ours."""
    return Rejected(
        "position_of_other_topic", "the position is of another topic than the one that is read", field="after"
    )


def beyond_log() -> Rejected:
    """The refusal of a position that the log has not reached."""
    return Rejected("position_beyond_log", "the log has no such offset: it ends before this position", field="after")
