"""What the reconciler does by itself, again and again, whatever befalls a single time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from chronofact.runtime.failures import Corruption, Transient, Unfit


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do; ``pause_s`` tells how long to wait before the next time."""

    name: str
    work: Callable[[], Awaitable[None]]
    pause_s: Callable[[], float]


async def repeat(job: Job) -> None:
    """Until cancelled: pause, work, and log what the surroundings refuse."""
    log = structlog.get_logger()
    while True:
        await asyncio.sleep(job.pause_s())
        try:
            await job.work()
        except (Transient, Unfit, Corruption) as failure:
            code = getattr(failure, "code", "corruption")
            log.warning("job_failed", job=job.name, code=code, message=str(failure))
