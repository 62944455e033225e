"""The store of a world: the twin, or Postgres."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chronofact.projector.ports import Store
from tests.contract.memory_log import TOPIC_ID
from tests.contract.memory_store import MemoryStore
from tests.simulation.locking import Locking, TwinLocking
from tests.simulation.picture import Picture, picture_of

if TYPE_CHECKING:
    from tests.simulation.process import Process
    from tests.simulation.world import World


class Side(Protocol):
    """What a world needs to know of its store."""

    locking: Locking
    processes_max: int

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

    def close(self) -> None: ...


class TwinSide:
    """One twin for all."""

    processes_max = 3

    def __init__(self, world: World) -> None:
        self.store = MemoryStore()
        self.locking: Locking = TwinLocking(world, self.store)

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

    def close(self) -> None:
        pass
