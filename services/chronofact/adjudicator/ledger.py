"""The gate's ledger over a table: a day's calls and tokens survive a restart and are shared by all adjudicators."""

from __future__ import annotations

import asyncio
import itertools
from contextvars import ContextVar
from datetime import date
from typing import Final

import structlog

from chronofact.adjudicator.ports import Claims, Spending
from chronofact.postgres.claims import Claim
from chronofact.postgres.looking import Ref
from chronofact.postgres.model_store import AnswerLine
from chronofact.runtime.failures import Transient, Unfit
from chronofact.text.budget import Call, Spent

judged: Final[ContextVar[Ref]] = ContextVar("judged")
"""The memory that is asked about."""
claimed: Final[ContextVar[Claim]] = ContextVar("claimed")
"""By which it is ours to ask about."""
_SETTLE_TRIES: Final = 5
_SETTLE_PAUSE_S: Final = 1.0


class DayLedger:
    """Counts before a call and settles after it, over whatever keeps the days."""

    def __init__(self, store: Spending, *, calls_max: int, tokens_max: int, claims: Claims | None = None) -> None:
        self._store = store
        self._claims = claims
        self._calls_max = calls_max
        self._tokens_max = tokens_max
        self._numbers = itertools.count(1)
        self._open: dict[int, tuple[date, int]] = {}

    async def reserve(self, tokens: int) -> int | Spent:
        """As the port says.

        Raises:
            Transient, Unfit: the table can't be reached, or the memory is another's by now, so no call is made.
        """
        if self._claims is not None:
            # a turn may have been waited for long, and who stood still meanwhile is not to ask what another has asked
            await self._claims.check(claimed.get())
        day = await self._store.reserve(tokens, calls_max=self._calls_max, tokens_max=self._tokens_max)
        if day is None:
            calls, _ = await self._store.spent()
            return Spent.CALLS if calls >= self._calls_max else Spent.TOKENS
        number = next(self._numbers)
        self._open[number] = day, tokens
        return number

    async def settle(self, reserved: int, call: Call) -> None:
        """As the port says; what can't be settled stays counted as it was reserved, which is rather too much."""
        day, tokens = self._open.pop(reserved)
        ref = judged.get()
        line = AnswerLine(ref.tenant_id, ref.fact_id, *call)
        for tries_left in reversed(range(_SETTLE_TRIES)):
            try:
                await self._store.settle(day, tokens, line)
            except (Transient, Unfit) as failure:
                if not tries_left:
                    structlog.get_logger().warning("job_failed", job="settle", code=failure.code, message=str(failure))
                    return
                await asyncio.sleep(_SETTLE_PAUSE_S)
            else:
                return
