"""What becomes of transactions whose client is gone, and how one waits for another's line: on the twin, and on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from tests.contract.memory_store import MemoryBatch, MemoryStore
from tests.contract.memory_transactions import Place, Transaction
from tests.simulation.audit import Written
from tests.simulation.faults import LOCK_TIMEOUT
from tests.simulation.scheduler import Task

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World

T = TypeVar("T")
RELEASES: Final = -1
"""The one lock that is not of a partition: releases are numbered one transaction at a time."""


class Locking(Protocol):
    """Between a process and its store."""

    ghosts: int
    """How many transactions of lost clients are open."""

    def call(self, process: Process, partitions: Sequence[int], call: Callable[[], T], *, keeps: bool = False) -> T:
        """A call that may have to wait for another transaction; ``keeps`` when it then holds the partitions itself."""
        ...

    def began(self, process: Process, written: Written, batch: Any) -> None: ...

    def ended(self, process: Process) -> None: ...

    def committed(self, written: Written) -> None: ...

    def terminate(self) -> None:
        """The server ends a session in the midst of a transaction; its client hears of it with its next call."""
        ...


class TwinLocking:
    """A lost client's transaction may stay open for a while, and then end either way."""

    def __init__(self, world: World, store: MemoryStore) -> None:
        self._world = world
        self._waiting: dict[Place, list[Task]] = {}
        self._open: list[tuple[MemoryBatch, Process]] = []
        self.ghosts = 0
        store.left = self._left
        store.fault = self._step
        store.database.wait = self._wait
        store.database.released = self._released
        store.ended_holder = self._ended_holder

    def call(self, process: Process, partitions: Sequence[int], call: Callable[[], T], *, keeps: bool = False) -> T:
        return call()

    def began(self, process: Process, written: Written, batch: MemoryBatch) -> None:
        batch.transaction.committed = lambda: self._world.audit.committed(written)
        self._open = [(one, owner) for one, owner in self._open if one.transaction.is_open]
        self._open.append((batch, process))

    def ended(self, process: Process) -> None:
        """The twin knows by itself."""

    def committed(self, written: Written) -> None:
        """The transaction has told it, maybe late."""

    def terminate(self) -> None:
        living = [batch for batch, _ in self._open if batch.transaction.is_open]
        if living:
            self._world.scheduler.counts["session terminated"] += 1
            self._world.dice.pick(living).transaction.rollback()

    def end_all(self) -> None:
        """The server goes down and takes every session with it."""
        for batch, _ in self._open:
            batch.transaction.rollback()

    def _step(self, label: str) -> None:
        if label == "claim locked":
            self._world.current().step(label)

    def _wait(self, place: Place, transaction: Transaction) -> None:
        world = self._world
        world.scheduler.counts["waited for a line"] += 1
        self._waiting.setdefault(place, []).append(world.scheduler.current)
        if not world.scheduler.block("wait for a line", timeout_s=transaction.lock_timeout_s):
            world.scheduler.counts[LOCK_TIMEOUT.name] += 1
            raise LOCK_TIMEOUT.make()

    def _ended_holder(self) -> None:
        self._world.scheduler.counts["ended who stood still"] += 1

    def _released(self, transaction: Transaction) -> None:
        for place in transaction.held:
            for task in self._waiting.pop(place, ()):
                self._world.scheduler.wake(task)

    def _left(self, batch: MemoryBatch) -> None:
        process, scheduler, dice = self._world.current(), self._world.scheduler, self._world.dice
        is_lost = scheduler.current.is_killed or (process.fault is not None and process.fault.is_lost)
        if not is_lost or self._world.is_calm or not dice.chance(60):
            batch.transaction.rollback()
            return
        is_committing = process.last_step == "commit" and dice.chance(70)
        scheduler.counts["committed after its client was gone" if is_committing else "rolled back late"] += 1
        self.ghosts += 1
        scheduler.at(dice.wait_s(4.0), lambda: self._end_late(batch.transaction, is_committing=is_committing))

    def _end_late(self, transaction: Transaction, *, is_committing: bool) -> None:
        self.ghosts -= 1
        if is_committing and transaction.is_open:
            transaction.commit()
        else:
            transaction.rollback()
