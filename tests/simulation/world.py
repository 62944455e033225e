"""A seeded world: a log, a store, two or three projectors, and all that happens to them until it is calm again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Final
from unittest import mock

from chronofact.contracts import codec
from chronofact.contracts.projection import Lines
from chronofact.projector.loop import Limits
from tests.simulation.audit import Audit
from tests.simulation.dice import Dice
from tests.simulation.faults import WEATHERS, Weather
from tests.simulation.group import MARKER, SimTopic
from tests.simulation.operator import Operator
from tests.simulation.picture import held_behind_nothing
from tests.simulation.process import Process
from tests.simulation.scheduler import Scheduler, Task
from tests.simulation.sides import Side, TwinSide
from tests.simulation.verifier import Verifier
from tests.simulation.workload import BORN_US, FUTURE, Kind, Planned, workload

SESSION_TIMEOUT_S: Final = 6.0
SETTLE_S: Final = 600.0
"""Virtual time in which everything has to be done once nothing goes wrong any more."""


RULE_2_SHARE = 0.3
"""Of the worlds, whose projection is of rule 2, and whose values are spelled in many ways."""


class World:
    """One run."""

    def __init__(self, seed: int, side: Callable[[World], Side] | None = None) -> None:
        self.seed = seed
        # not by the dice: with or without a rule, a seed is the same schedule
        self.rule = 2 if Random(f"rule {seed}").random() < RULE_2_SHARE else 1
        self.dice = Dice(Random(seed))
        self.scheduler = Scheduler(self.dice.random)
        self.messages: dict[tuple[int, int], Planned] = {}
        self.audit = Audit(self.messages)
        self.weather_name = self.dice.pick(tuple(WEATHERS))
        self.weather: Weather = WEATHERS[self.weather_name]
        self.topic = SimTopic(self.dice.count(1, 4), self.scheduler, self.dice)
        self.side: Side = side(self) if side else TwinSide(self)
        self.limits = _limits(self.dice)
        self.processes: dict[str, Process] = {}
        self.by_task: dict[Task, Process] = {}
        self.is_calm = False
        self.is_mended = False
        self.mends = self.dice.chance(80)
        self.lasts_s = self.dice.random.uniform(5.0, 40.0)
        self._clock_skew_s = 0.0
        self._planned: list[Planned] = []
        self.comes_at_once = self.dice.chance(60 if self.weather.restores else 15)
        self.is_ending = False
        self._workers: list[Task] = []
        self.operator = Operator(self)
        self.verifier = Verifier(self)

    @contextmanager
    def lived(self) -> Iterator[None]:
        """Lives until everything is applied, or no more will be; the block looks at what is left."""
        with mock.patch.dict(codec._codec().older):
            self._planned = workload(
                self.dice,
                partitions=len(self.topic.partitions),
                is_spelled=self.rule == 2,
                poison_percent=self.dice.pick((4, 10) if self.weather.restores else (0, 0, 4, 10)),
            )
            try:
                self._schedule()
                self._go_on(self.lasts_s)
                self._settle()
                yield
            finally:
                self._end()
                self.side.close()

    def hindrances(self) -> Counter[str]:
        """What the projectors told of it."""
        told = Counter(code for one in self.by_task.values() for code in one.witness.hindrances)
        for process in self.by_task.values():
            told["released"] += process.witness.total.released
            told["dropped"] += process.witness.total.dropped
        return told

    def _upgrade(self) -> None:
        """The release that runs from now on knows the schema of the future, and the database can hold what it refused."""
        self.is_mended = True
        known = codec._codec()
        known.older[FUTURE] = known.newest

    def refuses(self, lines: Lines) -> bool:
        """Whether the database can't hold one of these events before its migration."""
        return not self.is_mended and any(
            self.messages[line.kafka_partition, line.kafka_offset].kind is Kind.REFUSED for line in lines.events
        )

    def current(self) -> Process:
        """The process that runs now."""
        return self.by_task[self.scheduler.current]

    def append(self, planned: Planned) -> None:
        """As the broker does, by its clock."""
        if self.dice.chance(6):
            self.topic.append_marker(planned.partition)
            self.scheduler.counts["offset without a message"] += 1
        place = (planned.partition, len(self.topic.partitions[planned.partition]))
        self.messages[place] = planned
        self.topic.append_raw(planned.partition, planned.key, planned.value, appended_at=self._broker_us())

    def end_of(self, partition: int) -> int:
        """Behind the last message that can be delivered."""
        found = [one.offset + 1 for one in self.topic.partitions[partition] if one.key != MARKER]
        return found[-1] if found else 0

    # -- what happens --------------------------------------------------------------------------

    def _schedule(self) -> None:
        dice, scheduler = self.dice, self.scheduler
        for number in range(self.side.processes_max if dice.chance(30) else 2):
            self._start(f"projector-{number}")
        groups = _in_groups(dice, self._planned)
        times = sorted(dice.random.uniform(0.0, 0.9 * self.lasts_s) for _ in groups)
        for at, some in zip(times, groups, strict=True):
            scheduler.at(0.0 if self.comes_at_once else at, self._appends(some))
        self._often(self.weather.rebalances, self._rebalance)
        self._often(self.weather.kills, self._kill)
        self._often(self.weather.terminations, self.side.locking.terminate)
        self._often(self.weather.restarts, self._stop)
        self._often(self.weather.restores, lambda: self.restore_later(self.dice.wait_s(5.0)))
        self._workers.append(scheduler.start("operator", self.operator.work))
        if self.verifier.is_there:
            self._workers.append(scheduler.start("verifier", self.verifier.work))
        if self.mends:
            scheduler.at(dice.random.uniform(0.1, 0.8) * self.lasts_s, self._mend)

    def _appends(self, some: list[Planned]) -> Callable[[], None]:
        def append() -> None:
            if self.dice.chance(8):
                self._clock_skew_s -= self.dice.wait_s(5.0)
                self.scheduler.counts["broker time went back"] += 1
            for one in some:
                self.append(one)

        return append

    def _often(self, times: int, act: Callable[[], None]) -> None:
        for _ in range(times):
            self.scheduler.at(self.dice.random.uniform(0.0, self.lasts_s), act)

    def _broker_us(self) -> int:
        # whole milliseconds, as Kafka has them
        return BORN_US + round((self.scheduler.now_s + self._clock_skew_s) * 1_000) * 1_000

    def _mend(self) -> None:
        self.scheduler.counts["mended"] += 1
        self._upgrade()

    def restore_later(self, after_s: float) -> None:
        """The database will go on from a copy taken now, unless the world has come to rest by then."""
        copy = self.side.copy()

        def restore() -> None:
            if not self.is_calm:
                self.side.restore(copy)

        self.scheduler.at(after_s, restore)

    def _rebalance(self) -> None:
        self.scheduler.counts["rebalance"] += 1
        if any(one.written for one in self.processes.values()):
            self.scheduler.counts["rebalance inside a transaction"] += 1
        self.topic.rebalance()

    # -- births and deaths ---------------------------------------------------------------------

    def _start(self, name: str) -> None:
        former = self.processes.get(name)
        process = self.processes[name] = Process(self, name)
        if former is not None and former.log in self.topic.members and self.dice.chance(50):
            # a static member that is back within its session: the coordinator tells nobody
            self.scheduler.counts["came back within its session"] += 1
            self.topic.members[self.topic.members.index(former.log)] = process.log
            process.log.give(former.log.share)
        else:
            if former is not None and former.log in self.topic.members:
                self.topic.members.remove(former.log)
            self.topic.admit(process.log)
        process.task = self.scheduler.start(name, process.run, after_s=self.dice.wait_s(0.5))
        self.by_task[process.task] = process

    def _running(self) -> list[Process]:
        return [one for one in self.processes.values() if not one.is_gone]

    def _kill(self) -> None:
        if victims := [one for one in self._running() if one.task is not self.scheduler.current]:
            victim = self.dice.pick(victims)
            self.scheduler.counts["killed inside a transaction" if victim.written else "killed"] += 1
            assert victim.task is not None
            self.scheduler.kill(victim.task)

    def _stop(self) -> None:
        """SIGTERM, and a new process when the old one has left."""
        if self._running():
            self.scheduler.counts["told to stop"] += 1
            self.dice.pick(self._running()).is_stopping = True

    def died(self, process: Process) -> None:
        """Its memory is gone; the coordinator takes it for a member until its session ends."""
        process.is_gone = True
        if self.is_ending:
            return
        self._evict_after(process, SESSION_TIMEOUT_S)
        self.scheduler.at(self.dice.wait_s(4.0), lambda: self._start(process.name))

    def left(self, process: Process) -> None:
        """It ended as it was told to."""
        process.is_gone = True
        if not self.is_ending:
            self.scheduler.at(self.dice.wait_s(2.0), lambda: self._start(process.name))

    def evict_later(self, process: Process) -> None:
        """A member that is not heard of for a session's time is one no more."""
        self._evict_after(process, SESSION_TIMEOUT_S)

    def _evict_after(self, process: Process, after_s: float) -> None:
        def evict() -> None:
            if (process.is_gone or process.is_napping) and process.log in self.topic.members:
                self.scheduler.counts["evicted"] += 1
                self.topic.dismiss(process.log)

        self.scheduler.at(after_s, evict)

    # -- the end -------------------------------------------------------------------------------

    def _go_on(self, for_s: float) -> None:
        until = self.scheduler.now_s + for_s
        while self.scheduler.now_s < until:
            self.scheduler.pause("time passes", takes_s=until - self.scheduler.now_s)
            if self.scheduler.failures:
                raise self.scheduler.failures[0]

    def _settle(self) -> None:
        self.is_calm = True
        self._await_calm()
        self.audit.problems += held_behind_nothing(self.side.picture())
        if self.mends:
            self._upgrade()
            self.operator.release_everything()
            self._await_calm()

    def _await_calm(self) -> None:
        until = self.scheduler.now_s + SETTLE_S
        while unsettled := self.unsettled():
            if self.scheduler.now_s > until:
                raise AssertionError(f"never settled: {unsettled}")
            self._go_on(2.0)

    def unsettled(self) -> list[str]:
        """What is still to be done."""
        found = [f"{one.name} is away" for one in self.processes.values() if one.is_gone]
        found += [f"{one.name} is not ready" for one in self._running() if not one.witness.is_ready]
        found += ["the operator or a verifier is at work" for one in self._workers if not one.is_done]
        if self.side.locking.ghosts:
            found.append("transactions of the dead are open")
        if found:
            return found
        checkpoints, asks = self.side.progress()
        ends = {one: self.end_of(one) for one in self.topic.partitions}
        if {one: checkpoints.get(one, 0) for one in ends} != ends:
            found.append(f"checkpoints {checkpoints} of {ends}")
        owned = [one for process in self._running() for one in (process.projector.owned if process.projector else ())]
        if sorted(owned) != sorted(self.topic.partitions):
            found.append(f"owned {sorted(owned)}")
        return [*found, f"{asks} asks"] if asks else found

    def _end(self) -> None:
        """Every thread ends, whatever has happened."""
        self.is_ending = True
        tasks = [*self.by_task, *self._workers]
        for task in tasks:
            self.scheduler.kill(task)
        while not all(task.is_done for task in tasks):
            self.scheduler.pause("the end", takes_s=1.0)


def _in_groups(dice: Dice, planned: list[Planned]) -> list[list[Planned]]:
    groups = []
    while planned:
        count = dice.count(1, 8)
        groups.append(planned[:count])
        planned = planned[count:]
    return groups


def _limits(dice: Dice) -> Limits:
    return Limits(
        batch_events_max=dice.pick((1, 1, 2, 3, 5, 10, 50)),
        batch_wait_s=dice.pick((0.1, 1.0, 5.0)),
        pause_min_s=0.05,
        pause_max_s=dice.pick((0.5, 5.0)),
        commit_every_s=dice.pick((0.5, 5.0)),
        look_every_s=dice.pick((0.5, 10.0)),
        cache_bytes_max=dice.pick((0, 5_000, 30_000, 10_000_000, 10_000_000)),
    )
