"""`python -m tests.simulation SEED`: the whole schedule of one world, and what is wrong at its end."""

from __future__ import annotations

import sys

from tests.simulation.running import run
from tests.simulation.scheduler import Scheduler

if __name__ == "__main__":
    Scheduler.kept = None
    report = run(int(sys.argv[1]), steps_kept=sys.maxsize)
    print("\n".join(report.tail))
    print(report.told() if report.problems else f"seed {report.seed} ({report.weather}) ended right")
    sys.exit(bool(report.problems))
