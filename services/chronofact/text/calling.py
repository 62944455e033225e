"""What a call of a model is and how it fails, without the client that makes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from chronofact.text.prompt import Prompt

WRITTEN_BASE: Final = 2_000
WRITTEN_A_PAIR: Final = 120
"""Tokens that an answer may have: room for a model that thinks first, and its pairs."""


class Failure(StrEnum):
    """Why a call brought no answer."""

    UNREACHABLE = "model_unreachable"
    SLOW = "model_slow"
    LIMITED = "model_limited"
    FAILED = "model_failed"
    REFUSED = "model_refused"
    TOO_LONG = "model_too_long"


class CallFailed(Exception):
    """No answer; ``is_passing`` when the same call may succeed later, ``retry_after_s`` if the server said when."""

    def __init__(self, failure: Failure, *, is_passing: bool, retry_after_s: float | None = None) -> None:
        super().__init__(failure.value)
        self.failure = failure
        self.is_passing = is_passing
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Model:
    """Where it is asked and what it is called; ``temperature`` None sends none, as some models take none."""

    url: str
    name: str
    key: str | None = None
    timeout_s: float = 30.0
    temperature: float | None = 0.0


class Calls(Protocol):
    """Asks one model; an attempt a call."""

    @property
    def model(self) -> Model: ...

    async def ask(self, prompt: Prompt) -> bytes:
        """The body of the answer.

        Raises:
            CallFailed: there is none.
        """
        ...

    async def close(self) -> None: ...


def written_max(prompt: Prompt) -> int:
    """Tokens that the answer may have."""
    return WRITTEN_BASE + WRITTEN_A_PAIR * len(prompt.pairs)
