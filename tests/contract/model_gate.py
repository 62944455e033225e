"""A gate over a real address, with a ledger in memory and a clock that does not wait."""

from __future__ import annotations

import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from chronofact.text.budget import Call, Price, Spent
from chronofact.text.calling import Model
from chronofact.text.endpoint import Endpoint
from chronofact.text.gate import Gate, Limits
from tests.integration.model_server import ModelServer, Rule, all_unrelated, model_server


class Memory(NamedTuple):
    """As the gate is told of one."""

    version_id: bytes
    text: str
    valid_from: int | None = None
    valid_from_known: bool = False
    valid_to: int | None = None


def memory(number: int, text: str, valid_from: int | None = None) -> Memory:
    return Memory(bytes([number]) * 16, text, valid_from, valid_from is not None)


@dataclass
class MemoryLedger:
    """What the port promises, for one day and one process."""

    calls_max: int = 1_000
    tokens_max: int = 10_000_000
    calls: int = 0
    tokens: int = 0
    kept: list[Call] = field(default_factory=list)

    async def reserve(self, tokens: int) -> int | Spent:
        if self.calls + 1 > self.calls_max:
            return Spent.CALLS
        if self.tokens + tokens > self.tokens_max:
            return Spent.TOKENS
        self.calls += 1
        self.tokens += tokens
        return tokens

    async def settle(self, reserved: int, call: Call) -> None:
        self.tokens += call.tokens_read + call.tokens_written - reserved
        self.kept.append(call)


@dataclass
class Waits:
    """A clock that sleeping moves."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class World:
    gate: Gate
    ledger: MemoryLedger
    waits: Waits
    told: list[Call]

    @property
    def outcomes(self) -> list[str]:
        return [str(call.outcome) for call in self.ledger.kept]


@asynccontextmanager
async def asking(
    rule: Rule = all_unrelated,
    *,
    url: str | None = None,
    timeout_s: float = 5.0,
    limits: Limits | None = None,
    ledger: MemoryLedger | None = None,
    price: Price | None = None,
    key: str | None = None,
) -> AsyncIterator[tuple[ModelServer, World]]:
    """A model that answers by the rule, and a gate before it."""
    with model_server(rule) as server:
        ledger, waits, told = ledger or MemoryLedger(), Waits(), list[Call]()
        counter = itertools.count()
        gate = Gate(
            Endpoint(Model(url or server.url, "small-model", key=key, timeout_s=timeout_s)),
            ledger,
            limits=limits,
            price=price,
            told=told.append,
            token=lambda: f"{next(counter):04x}",
            dice=random.Random(5),
            monotonic=waits.monotonic,
            sleep=waits.sleep,
        )
        yield server, World(gate, ledger, waits, told)
        await gate.close()
