"""One process that is kept running: started again, with growing pauses, when it leaves by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.process import KeptProcess

PAUSE_MIN_S = 0.5
PAUSE_MAX_S = 30.0
STEADY_AFTER_S = 60.0


@dataclass(slots=True)
class Unit:
    """`launch` starts a fresh process each time."""

    name: str
    launch: Callable[[], KeptProcess]
    process: KeptProcess | None = None
    deaths: int = 0
    leavings: int = 0
    last_code: int | None = None
    last_words: str = ""
    """How often it left by itself, how the last time, and what it then said."""
    launched_at_s: float = 0.0
    not_before_s: float = 0.0

    def start(self) -> KeptProcess:
        """Launch it now."""
        self.launched_at_s = time.monotonic()
        self.process = self.launch()
        return self.process

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.exit_code() is None

    def tick(self) -> str | None:
        """Notice a death, start it again when its pause is over; what happened, in words."""
        if self.is_alive:
            return None
        if self.process is not None:
            self.leavings += 1
            self.last_code = self.process.stop()
            self.last_words = self.process.last_words()
            return self._note_death(f"left with code {self.last_code}")
        if time.monotonic() < self.not_before_s:
            return None
        try:
            self.start()
        except (EmbeddedError, OSError) as error:
            return self._note_death(str(error))
        return f"{self.name} started again"

    def _note_death(self, how: str) -> str:
        now_s = time.monotonic()
        was_steady = now_s - self.launched_at_s > STEADY_AFTER_S
        self.deaths = 1 if was_steady else self.deaths + 1
        pause_s = min(PAUSE_MAX_S, PAUSE_MIN_S * 2 ** (self.deaths - 1))
        self.not_before_s = now_s + pause_s
        self.process = None
        return f"{self.name} {how}; again in {pause_s:g} s"

    def ask_to_stop(self) -> None:
        """Ask and return at once."""
        if self.process is not None:
            self.process.ask_to_stop()

    def stop(self) -> None:
        """Stop it and wait; harmless when it doesn't run."""
        if self.process is not None:
            self.process.stop()
            self.process = None
