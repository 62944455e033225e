"""Runs a seed and tells what came of it; a failing one with the command that runs it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice

from tests.simulation.checks import problems
from tests.simulation.sides import Side
from tests.simulation.world import World

TOLD_STEPS = 60
TOLD_CHARACTERS = 600


@dataclass(frozen=True)
class Report:
    """One run."""

    seed: int
    weather: str
    messages: int
    steps: int
    fingerprint: int
    counts: Counter[str]
    problems: tuple[str, ...]
    tail: tuple[str, ...]

    def told(self) -> str:
        """To be read by whoever has to find out why."""
        lines = [one if len(one) <= TOLD_CHARACTERS else f"{one[:TOLD_CHARACTERS]} …" for one in self.problems]
        return "\n".join(
            [
                f"seed {self.seed} ({self.weather}, {self.messages} messages) ended wrong:",
                *(f"  {line}" for line in lines),
                f"again, with its whole schedule: .venv/bin/python -m tests.simulation {self.seed}",
                "the last steps of its schedule:",
                *(f"  {line}" for line in self.tail[-TOLD_STEPS:]),
            ]
        )


def run(seed: int, side: Callable[[World], Side] | None = None, *, steps_kept: int = TOLD_STEPS) -> Report:
    """A world from its seed to its end, and what is wrong with it then."""
    world = World(seed, side)
    scheduler = world.scheduler
    found: list[str] = []
    try:
        with world.lived():
            found = problems(world)
    except Exception as failure:  # noqa: BLE001 - whatever ended it is what was found
        found = [*world.audit.problems, f"{type(failure).__name__}: {failure}"]
    tail = islice(reversed(scheduler.tail), steps_kept)
    return Report(
        seed,
        world.weather_name,
        len(world.messages),
        scheduler.steps,
        scheduler.fingerprint,
        scheduler.counts + world.hindrances(),
        tuple(found),
        tuple(f"{at:9.3f} {name:12} {label}" for at, name, label in tail)[::-1],
    )


@cache
def report_of(seed: int) -> Report:
    """Of the twin, run once a process."""
    return run(seed)
