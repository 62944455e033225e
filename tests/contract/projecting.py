"""A projector for tests: told what happened, never waiting, and run until nothing is left to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chronofact.projecting.ports import Applied, Store
from chronofact.projector.loop import Limits, Projector
from chronofact.projector.ports import Log
from chronofact.runtime.failures import Transient, Unfit

STEPS_MAX = 10_000


class Witness:
    """Remembers what a projector told."""

    def __init__(self) -> None:
        self.hindrances: list[str] = []
        self.claims: list[tuple[int, ...]] = []
        self.total = Applied()
        self.is_ready = False
        self.parked_now = (0, 0)

    def hindered(self, failure: Transient | Unfit) -> None:
        self.is_ready = False
        self.hindrances.append(failure.code)

    def ready(self, partitions: Sequence[int]) -> None:
        self.is_ready = True
        self.claims.append(tuple(partitions))

    def applied(self, result: Applied) -> None:
        self.total.add(result)

    def parking(self, *, messages: int, facts: int) -> None:
        self.parked_now = (messages, facts)

    def lag(self, events: Mapping[int, int], *, newest_appended_at: int) -> None:
        pass


class Stopwatch:
    """A clock that moves on with every look, so that no pause is ever waited for."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 0.01
        return self.now_s


def projector_on(log: Log, store: Store, **limits: float) -> tuple[Projector, Witness]:
    witness = Witness()
    made = Projector(
        log,
        store,
        observer=witness,
        monotonic=Stopwatch(),
        jitter=lambda: 0.5,
        limits=Limits(**limits),  # type: ignore[arg-type]
    )
    return made, witness


def run_until_idle(projector: Projector, *, idle_steps: int = 3) -> None:
    """Steps until it owns its partitions and has had nothing to do for a while."""
    idle = 0
    for _ in range(STEPS_MAX):
        done = projector.step()
        idle = idle + 1 if done is None and projector.owned else 0
        if idle >= idle_steps:
            return
    raise AssertionError("never idle")
