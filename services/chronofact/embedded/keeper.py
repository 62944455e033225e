"""Runs one command and never lets it outlive the process that asked for it.

    python -I -S keeper.py FD STOP_SIGNAL STOP_TIMEOUT_S UID:GID|- COMMAND...

FD is the reading end of a pipe whose writing end the asker holds: its end of file, or SIGTERM, stops the
command by STOP_SIGNAL, and by SIGKILL once that time is over. On Linux the kernel also kills the command
when this keeper dies. It imports the standard library only and runs as a file, so that it stays small.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any

PR_SET_PDEATHSIG = 1
START_FAILED = 127


def start(command: list[str], user: str) -> subprocess.Popen[bytes]:
    """Start the command, as the given user; the kernel kills it when this process is gone."""
    keeper_pid = os.getpid()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def die_with_keeper() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper_pid:
                os._exit(START_FAILED)

    identity: dict[str, Any] = {}
    if user != "-":
        uid, gid = map(int, user.split(":"))
        identity = {"user": uid, "group": gid, "extra_groups": []}
    return subprocess.Popen(command, preexec_fn=die_with_keeper, **identity)  # noqa: PLW1509


def notice_signals() -> int:
    """Have signals written to a pipe, from now on, and nothing else; its reading end."""
    told, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.set_wakeup_fd(telling)
    # Not SIG_IGN, which the command would inherit.
    for noticed in (signal.SIGTERM, signal.SIGCHLD, signal.SIGINT, signal.SIGHUP):
        signal.signal(noticed, lambda *_: None)
    return told


def keep(child: subprocess.Popen[bytes], told: int, asker: int, stop_signal: int, timeout_s: float) -> int:
    """Wait until the child has left, by itself or because it was stopped; its exit code."""
    stop_by: float | None = None
    while child.poll() is None:
        waiting = [told] if stop_by is not None else [told, asker]
        left_s = None if stop_by is None else max(0.0, stop_by - time.monotonic())
        ready, _, _ = select.select(waiting, [], [], left_s)
        is_told = told in ready and signal.SIGTERM in os.read(told, 64)
        if stop_by is None and (is_told or asker in ready):
            child.send_signal(stop_signal)
            stop_by = time.monotonic() + timeout_s
        elif stop_by is not None and time.monotonic() >= stop_by:
            child.kill()
            stop_by = time.monotonic() + timeout_s
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def main(arguments: list[str]) -> int:
    """Start and keep; 127 when the command can't be started."""
    asker, stop_signal, timeout_s, user, *command = arguments
    told = notice_signals()
    try:
        child = start(command, user)
    except OSError as error:
        print(f"can't start {command[0]}: {error}", file=sys.stderr)
        return START_FAILED
    return keep(child, told, int(asker), int(stop_signal), float(timeout_s))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
