"""Who judges which memory: a lock of a connection, so that no claim outlives its process, or one that stands still for long."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection

from chronofact.postgres.errors import failures_named
from chronofact.postgres.session import CONNECT_TIMEOUT_S, conninfo_for
from chronofact.runtime.failures import Corruption, Transient, Unfit
from chronofact.runtime.together import Together

SIGN_S: Final = 1.0
TOGETHER_MAX: Final = 256
STILL_S: Final = 6.0
"""Postgres ends a connection that asked for nothing for so long, as the group does with a member that is as silent."""
_SPACE: Final = 0x6A756467
"""Of our advisory locks; a memory is one of 2^32 within it, and two that share a number only wait for one another."""

_TAKE: Final = "select n, pg_try_advisory_lock(%s::integer, n) from unnest(%s::integer[]) as n"
_GIVE_BACK: Final = "select pg_advisory_unlock(%s::integer, n) from unnest(%s::integer[]) as n"
_SIGN: Final = "select true"


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """Of one memory, by whoever was given it and by nobody else in the process."""

    number: int


class Claims:
    """Which memories this process judges."""

    def __init__(self, conninfo: str, *, still_s: float = STILL_S, sign_s: float = SIGN_S) -> None:
        self._conninfo = conninfo_for(conninfo, "adjudicator claims", idle_session_timeout=int(still_s * 1_000))
        self._sign_s = sign_s
        self._connection: AsyncConnection[Any] | None = None
        self._signs: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._mine: dict[int, Claim] = {}
        self._taking = Together(self._take, most=TOGETHER_MAX)
        self._giving_back = Together(self._give_back, most=TOGETHER_MAX)

    async def take(self, version_id: bytes) -> Claim | None:
        """The memory is ours to judge now; None while somebody else does, here or elsewhere.

        Raises:
            Transient, Unfit: Postgres is away.
        """
        return await self._taking.ask(_number(version_id))

    async def _take(self, numbers: Sequence[int]) -> list[Claim | None]:
        async with self._turn:
            free = [number for number in dict.fromkeys(numbers) if number not in self._mine]
            told = await self._told(_TAKE, _SPACE, free) if free else []
            claims = {number: Claim(number) for number, is_taken in told if is_taken}
            self._mine |= claims
        # one of those that ask for the same is the first
        return [claims.pop(number, None) for number in numbers]

    async def check(self, claim: Claim) -> None:
        """Returns where it is ours still; who stood still for a while finds that it is not.

        Raises:
            Transient: ``claim_lost``, or Postgres is away and has it no more.
            Unfit: Postgres refuses us.
        """
        async with self._turn:
            await self._told(_SIGN)
            if self._mine.get(claim.number) is not claim:
                raise Transient("claim_lost", "another process may judge the memory by now")

    async def give_back(self, claim: Claim) -> None:
        """Others may judge it; nothing is raised, since a connection that is gone has given all back."""
        await self._giving_back.ask(claim)

    async def _give_back(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        async with self._turn:
            mine = [one.number for one in claims if self._mine.get(one.number) is one]
            for number in mine:
                del self._mine[number]
            if mine:
                with suppress(Transient, Unfit, Corruption):
                    await self._told(_GIVE_BACK, _SPACE, mine)
        return claims

    async def close(self) -> None:
        """Gives back all."""
        async with self._turn:
            await self._drop()

    async def _told(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with failures_named():
            try:
                connection = await self._open()
                async with asyncio.timeout(CONNECT_TIMEOUT_S):
                    return await (await connection.execute(statement, values)).fetchall()
            except TimeoutError:
                await self._drop()
                raise psycopg.OperationalError("no answer in time") from None
            except psycopg.Error:
                await self._drop()
                raise

    async def _open(self) -> AsyncConnection[Any]:
        if self._connection is None or self._connection.closed:
            await self._drop()
            self._connection = await AsyncConnection.connect(self._conninfo, autocommit=True)
            self._signs = asyncio.create_task(self._give_signs(self._connection))
        return self._connection

    async def _drop(self) -> None:
        self._mine.clear()
        if self._signs is not None and self._signs is not asyncio.current_task():
            self._signs.cancel()
        self._signs = None
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _give_signs(self, connection: AsyncConnection[Any]) -> None:
        """Of the loop that judges: where it stands still, so do they, and all is given up."""
        while True:
            await asyncio.sleep(self._sign_s)
            async with self._turn:
                if connection is not self._connection:
                    return
                with suppress(Transient, Unfit, Corruption):
                    await self._told(_SIGN)


def _number(version_id: bytes) -> int:
    """Four bytes of an id that is a hash already, as Postgres takes them: signed."""
    return int.from_bytes(version_id[:4], "big", signed=True)
