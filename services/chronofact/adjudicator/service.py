"""Judges whatever it is told of until that is done: what passes is waited for, and a fault of ours ends the process."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from typing import Final, NoReturn
from uuid import UUID

import orjson
import structlog

from chronofact.adjudicator.judging import Judge, Outcome
from chronofact.adjudicator.ledger import judged
from chronofact.adjudicator.telling import Telling
from chronofact.adjudicator.unlooked import Left
from chronofact.domain.errors import Rejected
from chronofact.postgres.looking import Ref
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.logging import place_of

PART: Final = "judging"
PAUSE_MAX_S: Final = 10.0
MALFORMED: Final = "malformed"
REFUSED: Final = "refused"


class Adjudicator:
    """One judge, patient with all that is around it."""

    def __init__(
        self,
        judge: Judge,
        health: Health,
        telling: Telling,
        *,
        left: Left | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._judge = judge
        self._health = health
        self._telling = telling
        self._left = left or Left()
        self._sleep = sleep

    async def take(self, message: bytes) -> None:
        """A message of the topic of texts; returns once its memory is done with, as far as the log tells."""
        ref = ref_of(message)
        if ref is None:
            # the sweep finds the memory, if there is one
            self._telling.ended(MALFORMED)
            return
        if await self.judge(ref) is Outcome.NOT_THERE:
            self._left.keep(ref)

    async def judge(self, ref: Ref, *, is_again: bool = False, is_too_old: bool = False) -> Outcome | None:
        """What became of it; None where the writer refuses what we say of it, which the log of this process tells."""
        judged.set(ref)
        pause_s = 0.2
        while True:
            try:
                outcome = await self._judge.judge(ref, is_again=is_again, is_too_old=is_too_old)
            except (Transient, Unfit) as failure:
                self._health.hindered(PART, failure)
                self._telling.retried(failure.code)
                await self._sleep(pause_s * (0.5 + random.random() / 2))  # noqa: S311 - not a secret
                pause_s = min(2 * pause_s, PAUSE_MAX_S)
            except Rejected as refusal:
                _log_refused(ref, refusal)
                self._telling.ended(REFUSED)
                return None
            else:
                self._health.ready(PART)
                self._telling.ended(outcome)
                return outcome


async def attempted(name: str, work: Callable[[], Awaitable[object]], health: Health) -> None:
    """A round of a timer; what the surroundings refuse is told, and the next round comes all the same."""
    try:
        await work()
    except (Transient, Unfit) as failure:
        health.hindered(name, failure)
    except Corruption as damage:
        structlog.get_logger().warning("job_failed", job=name, code="corruption", message=str(damage))
    else:
        health.ready(name)


def end_of_process(error: BaseException) -> NoReturn:
    """A fault of ours: the process is gone without unwinding, since Faust acknowledges what is unwound."""
    structlog.get_logger().critical("failed", code="fault", message=place_of(error))
    os._exit(1)


def ref_of(message: bytes) -> Ref | None:
    """The memory that a message tells of; None where it is no such message."""
    try:
        told = orjson.loads(message)
        return Ref(*(UUID(told[name]).bytes for name in ("tenant_id", "fact_id", "version_id")))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _log_refused(ref: Ref, refusal: Rejected) -> None:
    structlog.get_logger().error(
        "verdict_refused",
        code=refusal.code,
        field=refusal.field,
        fact_id=str(UUID(bytes=ref.fact_id)),
        version_id=str(UUID(bytes=ref.version_id)),
    )
