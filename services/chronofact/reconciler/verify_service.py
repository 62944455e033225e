"""Runs verifications in the background, each in a thread of its own, and clears away those whose process died."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeAlias

import structlog

from chronofact.contracts.verification import Difference, Verification, VerificationRunning, VerifyWanted
from chronofact.domain.errors import Rejected
from chronofact.reconciler.verify import Verified, Verifier
from chronofact.reconciler.verify_ports import KeptVerifications
from chronofact.runtime.failures import Corruption, Transient, Unfit

AT_ONCE: Final = 2
"""Verifications that one reconciler runs at a time."""
LOOK_S: Final = 2.0
STOP_S: Final = 10.0

MakeVerifier: TypeAlias = Callable[[float], Verifier]
"""A verifier that gives one so many seconds to catch up with the other."""


class Verifying:
    """The verifications of one database."""

    def __init__(self, kept: KeptVerifications, make: MakeVerifier) -> None:
        self._kept = kept
        self._make = make
        self._pool = ThreadPoolExecutor(AT_ONCE, "verification")
        self._running: dict[asyncio.Task[None], Verifier] = {}

    async def start(self, wanted: VerifyWanted, *, wait_s: float) -> Verification:
        """Begins one and does not wait for its end.

        Raises:
            Rejected: ``verification_running``, ``projection_unknown``.
        """
        if len(self._running) >= AT_ONCE:
            raise Rejected("verification_running", f"{AT_ONCE} verifications are at work here; wait until one is over")
        begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        verifier = self._make(wait_s)
        task = asyncio.create_task(self._verify(verifier, wanted, begun))
        self._running[task] = verifier
        task.add_done_callback(self._running.pop)
        either: set[asyncio.Future[Any]] = {task, begun}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            begun.cancel()
            await task  # which raises why it could not begin
        return await self.verification(begun.result())

    async def verifications(self, *, before: int | None, limit: int) -> list[Verification]:
        """Newest first."""
        return await asyncio.to_thread(self._kept.verifications, before=before, limit=limit)

    async def verification(self, verification_id: int) -> Verification:
        """One of them.

        Raises:
            Rejected: ``not_found``.
        """
        found = await asyncio.to_thread(self._kept.verification, verification_id)
        if found is None:
            raise Rejected("not_found", "no verification has this number", field="verification_id")
        return found

    async def differences(self, verification_id: int, *, after: int, limit: int) -> list[tuple[int, Difference]]:
        """What it found and keeps, by number."""
        return await asyncio.to_thread(self._kept.differences, verification_id, after=after, limit=limit)

    def pause_s(self) -> float:
        """Until the next look."""
        return LOOK_S

    async def look(self) -> None:
        """Marks failed what nobody works on any more, whoever began it."""
        await asyncio.to_thread(self._kept.bury)

    async def stop(self) -> None:
        """Ends what is running; it is marked failed."""
        for verifier in self._running.values():
            verifier.stop(Transient("shutting_down", "the process is about to stop"))
        if self._running:
            await asyncio.wait(list(self._running), timeout=STOP_S)
        self._pool.shutdown(wait=False)

    async def _verify(self, verifier: Verifier, wanted: VerifyWanted, begun: asyncio.Future[int]) -> None:
        loop = asyncio.get_running_loop()

        def tell(verification_id: int) -> None:
            loop.call_soon_threadsafe(_settle, begun, verification_id)

        aspects, held = wanted.aspects.value, wanted.held
        work = partial(verifier.verify, wanted.left, wanted.right, aspects=aspects, held=held, begun=tell)
        log = structlog.get_logger().bind(left=wanted.left, right=wanted.right)
        try:
            outcome = await loop.run_in_executor(self._pool, work)
        except VerificationRunning as busy:
            raise Rejected("verification_running", str(busy)) from None
        except (Transient, Unfit, Corruption) as failure:
            if not begun.done():
                raise _not_begun(failure) from failure
            log.warning("verification_failed", code=getattr(failure, "code", "corruption"), message=str(failure))
        else:
            _log(log, outcome)


def _log(log: structlog.stdlib.BoundLogger, outcome: Verified) -> None:
    log.log(
        logging.INFO if outcome.identical else logging.ERROR,
        "verified",
        verification=outcome.verification_id,
        facts=outcome.facts,
        differences=outcome.differences,
    )


def _not_begun(failure: Exception) -> Exception:
    if isinstance(failure, Unfit) and failure.code == "projection_missing":
        return Rejected("projection_unknown", str(failure).removesuffix(f"; {failure.remedy}"))
    return failure


def _settle(begun: asyncio.Future[int], verification_id: int) -> None:
    if not begun.done():  # nobody waits any more
        begun.set_result(verification_id)
