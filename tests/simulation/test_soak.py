"""`make soak`: many more worlds, spread over the machine's processors, from seed 0 on or wherever it is told."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from chronofact.embedded.compiled import with_build

SEEDS = int(os.environ.get("CHRONOFACT_SOAK_SEEDS", "20000"))
FIRST = int(os.environ.get("CHRONOFACT_SOAK_FIRST_SEED", "0"))


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_very_many_worlds_end_as_their_logs_say() -> None:
    processes = os.cpu_count() or 1
    started = time.monotonic()
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.simulation", str(FIRST + share), str(FIRST + SEEDS), str(processes)],
            env=with_build({**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}),
            stdout=subprocess.PIPE,
            text=True,
        )
        for share in range(processes)
    ]
    told = [one.communicate()[0] for one in running]
    print(f"\n{SEEDS} worlds in {time.monotonic() - started:.0f} s")
    wrong = [text for one, text in zip(running, told, strict=True) if one.returncode]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
