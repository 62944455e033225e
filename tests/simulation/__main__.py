"""`python -m tests.simulation SEED`: a world's whole schedule, and what is wrong at its end.

`python -m tests.simulation FIRST END STEP` runs many and tells of the wrong ones.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.simulation.running import run
from tests.simulation.scheduler import Scheduler

WRONG_MAX = 10


def one(seed: int) -> int:
    """All of it."""
    Scheduler.kept = None
    report = run(seed, steps_kept=sys.maxsize)
    print("\n".join(report.tail))
    print(report.told() if report.problems else f"seed {seed} ({report.weather}) ended right")
    return int(bool(report.problems))


def many(seeds: range) -> int:
    """Until ten are wrong."""
    wrong: list[int] = []
    counts: Counter[str] = Counter()
    for seed in seeds:
        report = run(seed)
        counts += report.counts
        if report.problems:
            wrong.append(seed)
            print(report.told(), flush=True)
        if len(wrong) == WRONG_MAX:
            break
    print(f"{len(seeds)} seeds, wrong: {wrong}; {dict(sorted(counts.items()))}")
    return int(bool(wrong))


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(one(*numbers) if len(numbers) == 1 else many(range(*numbers)))
