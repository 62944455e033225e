"""What can go wrong at which step, as the real adapters name it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import psycopg
from psycopg import errors

from chronofact.postgres.errors import named
from chronofact.runtime.failures import Transient, Unfit

DATABASE_STEPS: Final = (
    *("claim", "claim locked", "claimed", "begin", "advance", "load", "write", "written", "commit", "committed"),
    *("asked", "drop", "parked"),
)
LOG_STEPS: Final = ("poll", "look", "ends")


class Fault(NamedTuple):
    """One kind of failure; ``is_lost`` when the session ends without an answer, so that nobody knows what became of it."""

    name: str
    steps: tuple[str, ...]
    make: Callable[[], Exception]
    is_lost: bool = False


def _by_state(name: str, error: type[psycopg.Error], *steps: str, is_lost: bool = False) -> Fault:
    return Fault(name, steps, lambda: named(error("made up")), is_lost)


FAULTS: Final = (
    _by_state("connection lost", psycopg.OperationalError, *DATABASE_STEPS, is_lost=True),
    _by_state("admin shutdown (57P01)", errors.AdminShutdown, *DATABASE_STEPS, is_lost=True),
    _by_state("server starting (57P03)", errors.CannotConnectNow, "claim", "begin"),
    _by_state("too many connections (53300)", errors.TooManyConnections, "claim", "begin"),
    _by_state("deadlock (40P01)", errors.DeadlockDetected, "claim locked", "advance", "write"),
    _by_state("serialization (40001)", errors.SerializationFailure, "claim locked", "advance", "write", "commit"),
    _by_state("disk full (53100)", errors.DiskFull, "claim locked", "write", "commit"),
    _by_state("statement timeout (57014)", errors.QueryCanceled, "claim locked", "advance", "load", "write"),
    _by_state("input/output error (58030)", errors.IoError, "claim locked", "load", "write"),
    _by_state("table missing (42P01)", errors.UndefinedTable, "claim", "advance", "load", "write"),
    _by_state("damage (XX001)", errors.DataCorrupted, "load"),
    Fault("consumer failed", ("poll",), lambda: Transient("kafka_consumer", "made up")),
    Fault("offset out of range", ("poll",), lambda: Unfit("offset_out_of_range", "made up", remedy="none")),
    Fault("broker away", ("look", "ends"), lambda: Transient("kafka_unreachable", "made up")),
)
CUT: Final = FAULTS[0]
LOCK_TIMEOUT: Final = _by_state("lock timeout (55P03)", errors.LockNotAvailable)
REFUSED: Final = _by_state("constraint broken (23505)", errors.UniqueViolation)

AT: Final = {step: [fault for fault in FAULTS if step in fault.steps] for step in (*DATABASE_STEPS, *LOG_STEPS)}


@dataclass(frozen=True)
class Weather:
    """How often what happens: per step, or (what is counted) in a whole run."""

    database: float = 0.01
    log: float = 0.005
    crash: float = 0.002
    nap: float = 0.002
    slow: float = 0.02
    rebalances: int = 2
    kills: int = 1
    terminations: int = 1
    restarts: int = 1
    restores: int = 0


WEATHERS: Final = {
    "fair": Weather(0.0, 0.0, 0.0, 0.0, 0.005, 1, 0, 0, 0),
    "mixed": Weather(),
    "database": Weather(database=0.06, log=0.0, crash=0.0, terminations=4),
    "crashes": Weather(crash=0.02, kills=4),
    "zombies": Weather(nap=0.02, slow=0.05, rebalances=4),
    "rebalances": Weather(rebalances=12, restarts=3, slow=0.05),
    "handovers": Weather(database=0.003, log=0.0, crash=0.0, nap=0.001, rebalances=30, kills=0),
    "restores": Weather(database=0.005, crash=0.001, restores=2, rebalances=3),
    "storm": Weather(database=0.03, log=0.03, crash=0.01, nap=0.01, slow=0.05, rebalances=6, kills=3, terminations=3),
}
