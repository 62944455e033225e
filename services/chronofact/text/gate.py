"""Asks a model about the pairs that the rule could not decide: one call a memory, within limits, and never in doubt.

Whatever goes wrong, the pairs stay undecided with the reason; nothing here raises for what a model or its network does.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from chronofact.text.answers import BadAnswer, Decided, Fault, PairVerdict, decided_by, envelope_of, usage_of
from chronofact.text.budget import Call, Ledger, Price, Spent
from chronofact.text.calling import CallFailed, Calls, Failure, written_max
from chronofact.text.prompt import VERSION, Prompt, Told, prompt_of

ANSWERED: Final = "answered"
NOT_CONFIGURED: Final = "model_not_configured"
GIVEN_UP: Final = "given_up"
"""A call that whoever asked did not wait for: the process ends."""
MORE_THAN_A_CALL: Final = "more_than_a_call"
"""Pairs beyond what one call may have: they are asked about the next time."""
RETRY_AFTER_S_MAX: Final = 3_600.0
PAUSE_S_MAX: Final = 60.0
BAD_IN_A_ROW: Final = 12
"""Answers that were not believed, of whatever memories: then nobody asks for a while, as each costs money."""
CHARS_A_TOKEN: Final = 3
"""Few, so that what is reserved is rather too much; settled by what the server counted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one gate; ``attempts_max`` counts all calls about one memory in one go, ``patience_s`` is the longest pause between."""

    concurrency: int = 4
    attempts_max: int = 3
    pairs_max: int = 32
    first_pause_s: float = 0.5
    patience_s: float = 10.0


class Undecided(NamedTuple):
    """A pair that stays open, and why."""

    other: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking about one memory; each of its pairs is in ``verdicts`` or in ``undecided``."""

    verdicts: tuple[PairVerdict, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    calls: int = 0
    model: str | None = None


Clock = Callable[[], float]


class Gate:
    """All questions of this process to one model."""

    def __init__(
        self,
        endpoint: Calls,
        ledger: Ledger,
        *,
        limits: Limits | None = None,
        price: Price | None = None,
        told: Callable[[Call], None] = lambda _call: None,
        token: Callable[[], str],
        dice: random.Random,
        monotonic: Clock = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._ledger = ledger
        self._limits = limits or Limits()
        self._price = price or Price()
        self._told = told
        self._token = token
        self._dice = dice
        self._monotonic = monotonic
        self._sleep = sleep
        self._turns = asyncio.Semaphore(self._limits.concurrency)
        self._silent_until = 0.0
        self._silent_why = ""
        self._failures = 0
        self._bad = 0

    @property
    def opens_in_s(self) -> float:
        """How long no question is asked, since the last ones failed."""
        return max(0.0, self._silent_until - self._monotonic())

    @property
    def silent_why(self) -> str | None:
        """Why none is asked."""
        return self._silent_why if self.opens_in_s > 0 else None

    async def ask(self, new: Told, others: Sequence[Told]) -> Asked:
        """The relations of a memory to others, nearest first; by one call if all goes well, and none if there is no other."""
        if not others:
            return Asked()
        now, later = others[: self._limits.pairs_max], others[self._limits.pairs_max :]
        async with self._turns:
            asked = await self._attempts(new, now)
        beyond = tuple(Undecided(one.version_id, MORE_THAN_A_CALL) for one in later)
        return Asked(asked.verdicts, asked.undecided + beyond, asked.calls, asked.model)

    async def _attempts(self, new: Told, others: Sequence[Told]) -> Asked:
        calls = 0
        why = ""
        while calls < self._limits.attempts_max:
            if (silent := self.silent_why) is not None:
                why = silent
                break
            # names and marks are drawn anew for each call
            prompt = prompt_of(new, others, token=self._token, dice=self._dice)
            reserved = await self._ledger.reserve(_tokens_at_most(prompt))
            if isinstance(reserved, Spent):
                why = reserved.value
                self._be_silent(PAUSE_S_MAX, why)
                break
            calls += 1
            try:
                decided, model = await self._call(new, len(others), prompt, reserved)
            except BadAnswer as bad:
                why = bad.fault.value
                self._bad += 1
                if self._bad >= BAD_IN_A_ROW:
                    self._bad = 0
                    self._be_silent(self._jittered(PAUSE_S_MAX), why)
                continue
            except CallFailed as failed:
                why = failed.failure.value
                if not await self._may_try_again(failed, calls):
                    break
                continue
            self._failures = self._bad = 0
            doubted = tuple(Undecided(other, Fault.AGAINST_TIME.value) for other in decided.doubted)
            return Asked(decided.verdicts, doubted, calls, model)
        return Asked((), tuple(Undecided(one.version_id, why) for one in others), calls)

    async def _call(self, new: Told, pairs: int, prompt: Prompt, reserved: int) -> tuple[Decided, str]:
        """One call, counted and kept however it ends."""
        begun = self._monotonic()
        raw: bytes | None = None
        outcome = GIVEN_UP
        model = self._endpoint.model.name
        try:
            raw = await self._endpoint.ask(prompt)
            envelope = envelope_of(raw)
            model = envelope.named(model)
            decided = decided_by(envelope, prompt)
            outcome = ANSWERED
        except CallFailed as failed:
            outcome = failed.failure.value
            raise
        except BadAnswer as bad:
            outcome = bad.fault.value
            raise
        finally:
            # not to be lost by a cancellation: the call was made, and the budget is to know
            call = self._counted(new, pairs, prompt, outcome, model, raw, self._monotonic() - begun)
            self._told(call)
            await asyncio.shield(self._ledger.settle(reserved, call))
        return decided, model

    def _counted(
        self, new: Told, pairs: int, prompt: Prompt, outcome: str, model: str, raw: bytes | None, seconds: float
    ) -> Call:
        read = written = 0
        if raw is not None:
            read, written, _ = usage_of(raw, asked_chars=_chars(prompt))
        elif outcome in {Failure.SLOW, GIVEN_UP}:
            # it may have been worked on all the same
            read = _chars(prompt) // CHARS_A_TOKEN
        cost = self._price.cost(read, written)
        return Call(new.version_id, pairs, outcome, model, VERSION, read, written, cost, seconds, raw)

    async def _may_try_again(self, failed: CallFailed, calls: int) -> bool:
        """Waits before another attempt; where there is none, no memory asks for a while, growing as failures go on."""
        growing = self._limits.first_pause_s * 2.0 ** min(self._failures, 16)
        self._failures += 1
        pause_s = self._jittered(min(PAUSE_S_MAX, growing))
        if failed.retry_after_s is not None:
            # what the server asks for is waited for at least, and not by all at the same moment
            pause_s = min(RETRY_AFTER_S_MAX, failed.retry_after_s) + self._jittered(self._limits.first_pause_s)
        if failed.is_passing and calls < self._limits.attempts_max and pause_s <= self._limits.patience_s:
            await self._sleep(pause_s)
            return True
        if not failed.is_passing:
            pause_s = self._jittered(PAUSE_S_MAX)
        self._be_silent(pause_s, failed.failure.value)
        return False

    def _be_silent(self, pause_s: float, why: str) -> None:
        self._silent_until = max(self._silent_until, self._monotonic() + pause_s)
        self._silent_why = why

    def _jittered(self, pause_s: float) -> float:
        return pause_s * (0.5 + self._dice.random() / 2)

    async def close(self) -> None:
        """Gives the connections back."""
        await self._endpoint.close()


def _chars(prompt: Prompt) -> int:
    return len(prompt.instructions) + len(prompt.question)


def _tokens_at_most(prompt: Prompt) -> int:
    return _chars(prompt) // CHARS_A_TOKEN + written_max(prompt)
