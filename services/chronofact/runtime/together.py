"""What several ask for while others are being served is done in one go."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

A = TypeVar("A")
B = TypeVar("B")


class Together(Generic[A, B]):
    """``work`` answers up to ``most`` at once, in their order; what it raises, each of them is told.

    Up to ``lanes`` goes run side by side. Who leaves meanwhile takes nobody else along.
    """

    def __init__(self, work: Callable[[Sequence[A]], Awaitable[Sequence[B]]], *, most: int, lanes: int = 1) -> None:
        self._work = work
        self._most = most
        self._lanes = lanes
        self._waiting: deque[tuple[A, asyncio.Future[B]]] = deque()
        self._serving = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._serving > 0

    async def ask(self, one: A) -> B:
        """Its answer, of a go that begins after this call."""
        answer: asyncio.Future[B] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, answer))
        if self._serving < self._lanes:
            self._serving += 1
            task = asyncio.create_task(self._serve())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await answer

    async def _serve(self) -> None:
        # those who ask in the same turn of the loop come along
        await asyncio.sleep(0)
        while self._waiting:
            asked = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
            asked = [(one, answer) for one, answer in asked if not answer.done()]
            if asked:
                await self._go(asked)
        # in the same step as the last look: who asks from now on begins another
        self._serving -= 1

    async def _go(self, asked: Sequence[tuple[A, asyncio.Future[B]]]) -> None:
        (found,) = await asyncio.gather(self._work([one for one, _ in asked]), return_exceptions=True)
        waiting = [(place, answer) for place, (_, answer) in enumerate(asked) if not answer.done()]
        for place, answer in waiting:
            if isinstance(found, BaseException):
                answer.set_exception(found)
            else:
                answer.set_result(found[place])
