"""Waits out what passes by itself: Kafka or Postgres away, a full disk, a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from chronofact.runtime.failures import Transient
from chronofact.runtime.health import reason_of
from chronofact.runtime.hindrances import Hindrances

T = TypeVar("T")

PAUSE_MIN_S: Final = 0.1
PAUSE_MAX_S: Final = 5.0


class Patience:
    """Repeats, after pauses that grow until something succeeds."""

    def __init__(self, sleep: Callable[[float], object], *, name: str) -> None:
        self._sleep = sleep
        self._name = name
        self._pause_s = 0.0
        self._hindrances = Hindrances()

    def __call__(self, call: Callable[[], T]) -> T:
        """The call's answer, once it has one."""
        while True:
            try:
                answer = call()
            except Transient as failure:
                self.pause(failure)
            else:
                self._pause_s = 0.0
                self._hindrances.passed(self._name)
                return answer

    def pause(self, failure: Transient) -> None:
        """Wait a while."""
        self._pause_s = min(max(2 * self._pause_s, PAUSE_MIN_S), PAUSE_MAX_S)
        reason = reason_of(failure)
        self._hindrances.tell(self._name, code=reason.code, message=reason.message, remedy=reason.remedy)
        self._sleep(self._pause_s)
