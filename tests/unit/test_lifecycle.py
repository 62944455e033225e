"""How a process leaves."""

from __future__ import annotations

import subprocess
import sys

from chronofact.runtime.lifecycle import CUT_SHORT

WAITS = "import threading; from chronofact.runtime.lifecycle import leave_within; leave_within({seconds}); {work}"


def left_with(seconds: float, work: str) -> int:
    line = [sys.executable, "-c", WAITS.format(seconds=seconds, work=work)]
    return subprocess.run(line, timeout=15, check=False).returncode


def test_a_thread_that_waits_for_ever_holds_nobody_up() -> None:
    assert left_with(0.3, "threading.Thread(target=threading.Event().wait).start()") == CUT_SHORT


def test_who_is_done_before_leaves_at_once() -> None:
    assert left_with(600, "print()") == 0
