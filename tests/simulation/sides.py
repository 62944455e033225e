"""The store of a world: the twin, or Postgres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from chronofact.projecting.ports import Store
from tests.contract.memory_log import TOPIC_ID
from tests.contract.memory_store import MemoryStore
from tests.simulation.locking import Locking, TwinLocking
from tests.simulation.picture import Picture, picture_of

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World


class Side(Protocol):
    """What a world needs to know of its store."""

    processes_max: int
    expires: bool
    """Whether its clock is the world's."""

    @property
    def locking(self) -> Locking:
        """How its transactions wait for one another."""
        ...

    def store_for(self, process: Process) -> Store:
        """What a new process opens."""
        ...

    def picture(self) -> Picture:
        """All that is committed."""
        ...

    def progress(self) -> tuple[dict[int, int], int]:
        """The checkpoints, and how many messages wait to be tried again."""
        ...

    def ask(self, place: tuple[int, int], fact_id: bytes | None) -> None:
        """As ``chronofact parked release`` does."""
        ...

    def hold(self, stop_at: Mapping[int, int]) -> None:
        """As a verification does.

        Raises:
            Transient: a batch under way took too long; nothing is held.
        """
        ...

    def let_go(self) -> None:
        """The same way."""
        ...

    def expire(self) -> None:
        """The time of all holds is over, by the database's clock."""
        ...

    def copy(self) -> Any:
        """All that is committed."""
        ...

    def restore(self, copy: Any) -> None:
        """The copy is all that there is, as after a restart from an older dump."""
        ...

    def close(self) -> None: ...


class TwinSide:
    """One twin for all."""

    processes_max = 3
    expires = True

    def __init__(self, world: World) -> None:
        self.store = MemoryStore(rule=world.rule)
        self.locking = TwinLocking(world, self.store)
        self._world = world

    def store_for(self, process: Process) -> Store:
        return self.store

    def picture(self) -> Picture:
        return picture_of(self.store)

    def progress(self) -> tuple[dict[int, int], int]:
        tables = self.store.tables
        return {partition: at for (_, partition), (at, _) in tables.checkpoints.items()}, len(tables.asked)

    def ask(self, place: tuple[int, int], fact_id: bytes | None) -> None:
        partition, offset = place
        self.store.ask(TOPIC_ID, partition, fact_id=fact_id, offset=offset)

    def hold(self, stop_at: Mapping[int, int]) -> None:
        def told(held: list[int]) -> None:
            self._world.audit.held(self.progress()[0], {one: stop_at[one] for one in held})

        self.store.hold(TOPIC_ID, stop_at, told=told)

    def let_go(self) -> None:
        self.store.let_go(TOPIC_ID, told=self._world.audit.let_go)

    def expire(self) -> None:
        self.store.stop_at.clear()
        self._world.audit.let_go()

    def copy(self) -> Any:
        return dict(self.store.database.tables)

    def restore(self, copy: Any) -> None:
        self._world.scheduler.counts["restored from an older copy"] += 1
        self.locking.end_all()
        for process in self._world.processes.values():
            process.is_cut = True
        self.store.database.tables = dict(copy)
        self.store.stop_at.clear()
        epochs = {one: epoch for (_, one), (_, epoch) in self.store.tables.checkpoints.items()}
        self._world.audit.begin_anew(epochs, list(self.store.events()), self.picture().parked)

    def close(self) -> None:
        pass
