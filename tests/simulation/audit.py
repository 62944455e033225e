"""Who claimed and who committed what, in the order in which it took effect; kept apart from the store under test."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from chronofact.contracts.projection import HELD, EventLine, Lines, Step
from tests.simulation.workload import CODES, Planned

Place: TypeAlias = "tuple[int, int]"


@dataclass
class Written:
    """What one transaction was told to write."""

    owner: str
    steps: list[Step] = field(default_factory=list)
    lines: list[Lines] = field(default_factory=list)


@dataclass
class Audit:
    """Collects what should not be; ``kinds`` says what each message is."""

    kinds: Mapping[tuple[int, int], Planned]
    epochs: dict[int, tuple[int, str]] = field(default_factory=dict)
    owners: dict[tuple[int, int], str] = field(default_factory=dict)
    applied: set[tuple[int, int]] = field(default_factory=set)
    parked: set[tuple[int, int]] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    batches: int = 0
    holds: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Where a held partition stands, and where it has to stop."""

    def claimed(self, partition: int, epoch: int, owner: str) -> None:
        """A claim took effect."""
        before, former = self.epochs.get(partition, (0, "nobody"))
        if epoch <= before:
            self.problems.append(f"{owner} claimed {partition} at epoch {epoch}, {former} had {before}")
        self.epochs[partition] = (epoch, owner)
        self.owners[partition, epoch] = owner

    def committed(self, written: Written) -> None:
        """A batch took effect."""
        self.batches += 1
        for step in written.steps:
            epoch, owner = self.epochs.get(step.partition, (0, "nobody"))
            if (epoch, owner) != (step.epoch, written.owner):
                self.problems.append(
                    f"{written.owner} wrote {step.partition} at epoch {step.epoch}, owned by {owner} at {epoch}"
                )
            self._keeps_to_its_hold(step)
        for lines in written.lines:
            self._once(self.applied, "applied", [(line.kafka_partition, line.kafka_offset) for line in lines.events])
            self.problems += [
                f"{line.kafka_partition, line.kafka_offset} is parked as {line.code}"
                for line in lines.parked
                if line.code not in {HELD, CODES[self.kinds[line.kafka_partition, line.kafka_offset].kind]}
            ]
            self._once(self.parked, "parked", [(line.kafka_partition, line.kafka_offset) for line in lines.parked])

    def held(self, reached: Mapping[int, int], stop_at: Mapping[int, int]) -> None:
        """From the next batch on."""
        self.holds |= {one: (reached[one], stop) for one, stop in stop_at.items()}

    def let_go(self) -> None:
        """All of it."""
        self.holds.clear()

    def _keeps_to_its_hold(self, step: Step) -> None:
        if (hold := self.holds.get(step.partition)) is not None:
            reached, stop_at = hold
            if not reached < step.next_offset <= stop_at:
                self.problems.append(f"{step.partition} went from {reached} to {step.next_offset}, held at {stop_at}")
            self.holds[step.partition] = step.next_offset, stop_at

    def begin_anew(self, epochs: Mapping[int, int], events: Sequence[EventLine], parked: Collection[Place]) -> None:
        """The database is an older copy of itself: what it does not hold never was."""
        self.epochs = {one: (epoch, self.owners.get((one, epoch), "nobody")) for one, epoch in epochs.items()}
        self.holds.clear()
        self.applied = {(line.kafka_partition, line.kafka_offset) for line in events}
        self.parked = set(parked)

    def _once(self, seen: set[tuple[int, int]], what: str, places: Sequence[tuple[int, int]]) -> None:
        self.problems += [f"{place} was {what} twice" for place in places if place in seen]
        seen.update(places)
