"""Looks at the facts topic again and again, so that /readyz and refusals name what is wrong with it."""

from __future__ import annotations

import asyncio
from typing import Final

from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.writer.ports import TopicLook

PART: Final = "log"
_HINDERED_PAUSE_S: Final = 1.0


class Watch:
    """Keeps the topic's id, and health up to date."""

    def __init__(self, look: TopicLook, health: Health, *, check_s: float) -> None:
        self._look = look
        self._health = health
        self._check_s = check_s
        self._soon = asyncio.Event()
        self.topic_id = bytes(16)

    def soon(self) -> None:
        """An append failed: look now."""
        self._soon.set()

    async def run(self) -> None:
        """For ever."""
        while True:
            pause_s = self._check_s if await self.look() else min(_HINDERED_PAUSE_S, self._check_s)
            try:
                await asyncio.wait_for(self._soon.wait(), pause_s)
            except TimeoutError:
                continue
            finally:
                self._soon.clear()

    async def look(self) -> bool:
        """Whether the topic is fit now."""
        try:
            self.topic_id = await asyncio.to_thread(self._look)
        except (Transient, Unfit) as failure:
            self._health.hindered(PART, failure)
            return False
        self._health.ready(PART)
        return True
