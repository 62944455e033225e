"""One simulated projector process: the product's loop on ports that can pause, fail and die at each step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chronofact.contracts.projection import Ask, Claim, Lines, ParkedMessage, Step, StoredFact
from chronofact.projecting.parking import ParkingLimit
from chronofact.projecting.ports import Batch, Store
from chronofact.projector.loop import Projector
from chronofact.runtime.failures import Corruption, Held
from tests.contract.projecting import Witness
from tests.simulation.audit import Written
from tests.simulation.faults import AT, CUT, DATABASE_STEPS, REFUSED, Fault
from tests.simulation.group import SimLog
from tests.simulation.locking import RELEASES
from tests.simulation.scheduler import Crash, Task

if TYPE_CHECKING:
    from tests.simulation.world import World


class Process:
    """Lives until it is killed, told to stop, or ends by a failure that was meant to end it."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.log = SimLog(world.topic, self.step)
        self.witness = Witness()
        self.task: Task | None = None
        self.projector: Projector | None = None
        self.last_step = ""
        self.fault: Fault | None = None
        self.written: Written | None = None
        self.is_damaged = False
        self.is_cut = False
        self.is_stopping = False
        self.is_napping = False
        self.is_gone = False

    def run(self) -> None:
        """In a thread of its own."""
        try:
            self.step("born")
            self._serve()
        except (ParkingLimit, Corruption):
            if not self.is_damaged:
                raise
            self.world.died(self)
        except Crash:
            self.world.died(self)
            raise

    def _serve(self) -> None:
        world = self.world
        self.projector = projector = Projector(
            self.log,
            SteppedStore(world.side.store_for(self), self),
            observer=self.witness,
            monotonic=lambda: world.scheduler.now_s,
            jitter=world.dice.random.random,
            limits=world.limits,
        )
        try:
            while not self.is_stopping:
                projector.step()
        finally:
            projector.close()
        world.left(self)

    def step(self, label: str) -> None:
        """Between two calls: others go on, time passes, and something may go wrong."""
        world, scheduler, dice = self.world, self.world.scheduler, self.world.dice
        self.last_step, self.fault = label, None
        scheduler.pause(label, takes_s=self._takes_s(label))
        if self.is_cut and label in DATABASE_STEPS:
            self.is_cut = False
            self.fail(CUT)
        if world.is_calm:
            return
        if dice.happens(world.weather.crash):
            scheduler.counts[f"crash at {label}"] += 1
            scheduler.current.is_killed = True
            raise Crash(self.name)
        rate = world.weather.database if label in DATABASE_STEPS else world.weather.log
        if (faults := AT.get(label)) and dice.happens(rate):
            self.fail(dice.pick(faults))

    def fail(self, fault: Fault) -> None:
        """Raises it."""
        self.fault = fault
        self.is_damaged |= fault.name.startswith("damage")
        self.world.scheduler.counts[fault.name] += 1
        self.world.scheduler.note(f"fault: {fault.name}")
        raise fault.make()

    def _takes_s(self, label: str) -> float:
        world, dice = self.world, self.world.dice
        if world.is_calm:
            return dice.wait_s(0.002)
        if dice.happens(world.weather.nap):
            world.scheduler.counts["nap inside a transaction" if self.written else "nap"] += 1
            self.is_napping = True
            world.evict_later(self)
            return dice.wait_s(12.0)
        self.is_napping = False
        if dice.happens(world.weather.slow):
            world.scheduler.counts["slow commit" if label == "commit" else "slow step"] += 1
            return dice.wait_s(2.0)
        return dice.wait_s(0.005)


class SteppedStore:
    """Pauses before each call, and after those whose effect may be there though their answer was never heard."""

    def __init__(self, inner: Store, process: Process) -> None:
        self._inner = inner
        self._process = process
        self._audit = process.world.audit

    def claim(self, topic_id: bytes, partition: int, *, watermarks: tuple[int, int]) -> Claim:
        self._process.step("claim")
        claim = self._process.world.side.locking.call(
            self._process, [partition], lambda: self._inner.claim(topic_id, partition, watermarks=watermarks)
        )
        self._audit.claimed(partition, claim.epoch, self._process.name)
        self._process.step("claimed")
        return claim

    def lines(self) -> Lines:
        """Plain ones on every side: which events are written decides what is refused, and is audited."""
        return Lines()

    @contextmanager
    def begin(self) -> Iterator[Batch]:
        process = self._process
        process.step("begin")
        process.written = written = Written(process.name)
        try:
            with self._inner.begin() as batch:
                process.world.scheduler.current.is_in_transaction = True
                process.world.side.locking.began(process, written, batch)
                yield SteppedBatch(batch, process, written)
                process.step("commit")
        finally:
            process.written = None
            process.world.scheduler.current.is_in_transaction = False
            process.world.side.locking.ended(process)
        process.world.side.locking.committed(written)
        process.step("committed")

    def asked(self, topic_id: bytes, partitions: Sequence[int]) -> Sequence[Ask]:
        self._process.step("asked")
        found = self._inner.asked(topic_id, partitions)
        if found:
            self._process.world.verifier.hear_of_release()
        return found

    def close(self) -> None:
        self._inner.close()


class SteppedBatch:
    """One transaction of it."""

    def __init__(self, inner: Batch, process: Process, written: Written) -> None:
        self._inner = inner
        self._process = process
        self._written = written

    def advance(self, topic_id: bytes, steps: Sequence[Step]) -> Mapping[int, int]:
        self._process.step("advance")
        self._written.steps += steps
        partitions = [step.partition for step in steps]
        world = self._process.world
        try:
            return world.side.locking.call(
                self._process, partitions, lambda: self._inner.advance(topic_id, steps), keeps=True
            )
        except Held as held:
            is_release = all(step.next_offset == held.before[step.partition] for step in steps)
            world.scheduler.counts["a release met a hold" if is_release else "a batch met a hold"] += 1
            raise

    def load(self, fact_ids: Sequence[bytes]) -> Sequence[StoredFact]:
        self._process.step("load")
        return self._inner.load(fact_ids)

    def parked_of(
        self, partition: int, fact_id: bytes, *, messages_max: int, after: int = -1
    ) -> Sequence[ParkedMessage]:
        self._process.step("parked")
        return self._inner.parked_of(partition, fact_id, messages_max=messages_max, after=after)

    def parked_at(self, partition: int, offset: int) -> ParkedMessage | None:
        self._process.step("parked")
        return self._inner.parked_at(partition, offset)

    def write(self, lines: Lines) -> None:
        self._process.step("write")
        if self._process.world.refuses(lines):
            self._process.fail(REFUSED)
        releases = [RELEASES] if lines.released else []
        self._process.world.side.locking.call(self._process, releases, lambda: self._inner.write(lines), keeps=True)
        self._written.lines.append(lines)
        self._process.step("written")
