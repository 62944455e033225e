"""What the reconciler does by itself, again and again, whatever befalls a single time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.health import reason_of
from chronofact.runtime.hindrances import Hindrances


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do; ``pause_s`` tells how long to wait before the next time."""

    name: str
    work: Callable[[], Awaitable[None]]
    pause_s: Callable[[], float]


async def repeat(job: Job) -> None:
    """Until cancelled: pause, work, and log what the surroundings refuse, once while they do."""
    hindrances = Hindrances()
    while True:
        await asyncio.sleep(job.pause_s())
        try:
            await job.work()
        except (Transient, Unfit) as failure:
            reason = reason_of(failure)
            hindrances.tell(job.name, code=reason.code, message=reason.message, remedy=reason.remedy)
        except Corruption as damage:
            structlog.get_logger().warning("job_failed", job=job.name, code="corruption", message=str(damage))
        else:
            hindrances.passed(job.name)
