"""What asking a model may cost a day, and what it did cost: the gate's port to where that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

TOKENS_A_PRICE_IS_OF = 1_000_000


class Spent(StrEnum):
    """Which limit of the day is reached."""

    CALLS = "budget_calls"
    TOKENS = "budget_tokens"


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in whatever currency the operator counts; zero where none is configured."""

    read: float = 0.0
    written: float = 0.0

    def cost(self, read: int, written: int) -> float:
        """Of one call."""
        return (read * self.read + written * self.written) / TOKENS_A_PRICE_IS_OF


class Call(NamedTuple):
    """One call as it went; ``raw`` is the answer's body, whatever it was, and None where none came."""

    version_id: bytes
    pairs: int
    outcome: str
    model: str
    prompt_version: str
    tokens_read: int
    tokens_written: int
    cost: float
    seconds: float
    raw: bytes | None


class Ledger(Protocol):
    """Keeps a day's calls and tokens beyond the life of this process, for all that share the budget."""

    async def reserve(self, tokens: int) -> int | Spent:
        """Counts a call and so many tokens before they are spent; what to settle it by, or the limit it would break."""
        ...

    async def settle(self, reserved: int, call: Call) -> None:
        """The call is over: its true tokens count from now on, and its answer is kept."""
        ...
