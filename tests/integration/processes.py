"""Finds what a stack left running, whoever its parent is now."""

from __future__ import annotations

import time
from pathlib import Path

import psutil


def processes_of(folder: Path) -> list[psutil.Process]:
    """Every process that works in the folder, names it, or descends from one that does."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        try:
            named = any(str(folder) in argument for argument in process.cmdline())
            if named or Path(process.cwd()).is_relative_to(folder):
                found |= {one.pid: one for one in (process, *process.children(recursive=True))}
        except psutil.Error:
            continue
    return [process for process in found.values() if is_running(process)]


def is_running(process: psutil.Process) -> bool:
    """Whether it still does something (a dead process that nobody has waited for doesn't)."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def wait_until_gone(folder: Path, timeout_s: float) -> list[psutil.Process]:
    """What is still there once the time is over; empty as soon as all have left."""
    deadline = time.monotonic() + timeout_s
    while (left := processes_of(folder)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left
