"""Looks at Postgres again and again, so that /readyz names what is wrong and is well again by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.reader.ports import Projections
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.health import Health

CHECK_S: Final = 1.0
ANSWER_S: Final = 5.0
"""A look that takes longer is told as Postgres being away, though it may still come back."""
_CANCEL_AGAIN_S: Final = 0.1


async def watch_projections(projections: Projections, health: Health, part: str) -> None:
    """Until cancelled."""
    while True:
        try:
            await _looked(projections, health, part)
        except (Transient, Unfit) as failure:
            health.hindered(part, failure)
        except Corruption as failure:
            health.hindered(part, Transient("postgres_damaged", str(failure)))
        else:
            health.ready(part)
        await asyncio.sleep(CHECK_S)


async def _looked(projections: Projections, health: Health, part: str) -> None:
    look = asyncio.create_task(projections.standing(DEVELOPMENT_TENANT))
    try:
        done, _ = await asyncio.wait({look}, timeout=ANSWER_S)
        if not done:
            health.hindered(part, Transient("postgres_away", f"Postgres has not answered for {ANSWER_S:.0f} s"))
        await look
    finally:
        look.cancel()


async def stop_all(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancels until all have ended: a statement that fails just then takes the place of its task's cancellation."""
    while left := {task for task in tasks if not task.done()}:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=_CANCEL_AGAIN_S)
