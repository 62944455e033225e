"""A stack's data folder: one owner at a time, its ports, logs and addresses."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

import psutil

from chronofact.embedded.errors import EmbeddedError, FolderInUseError

LOCK_PAUSE_S = 0.1


class DataFolder:
    """The folder of one stack; `take` it before anything in it is started."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self._lock_fd: int | None = None

    @property
    def logs(self) -> Path:
        """Where each process logs to a file of its own."""
        return self.path / "logs"

    @property
    def stack_file(self) -> Path:
        """Addresses and pid of the running stack."""
        return self.path / "stack.json"

    @property
    def lock_fd(self) -> int:
        """Descriptor of the lock; whoever keeps a copy open keeps the folder taken."""
        if self._lock_fd is None:
            raise EmbeddedError(f"{self.path} has not been taken")
        return self._lock_fd

    def take(self, leftover_timeout_s: float = 30.0) -> None:
        """Own the folder; raises FolderInUseError while another process does.

        When the owner is gone and only its processes are still stopping, waits for them.
        """
        self.make()
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + leftover_timeout_s
        while not _lock(lock):
            owner = self.owner()
            if owner is not None or time.monotonic() > deadline:
                os.close(lock)
                raise FolderInUseError(str(self.path), owner)
            time.sleep(LOCK_PAUSE_S)
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()} {_started_at(os.getpid())}".encode(), 0)
        self._lock_fd = lock

    def make(self) -> None:
        """Make the folder and its logs; a new one keeps itself out of the git tree that it may lie in."""
        is_new = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if is_new:
                (self.path / ".gitignore").write_text("*\n")
            self.logs.mkdir(exist_ok=True)
        except OSError as error:
            raise EmbeddedError(
                f"can't use {self.path}: {error.strerror}", remedy="take another --data folder"
            ) from error

    def release(self) -> None:
        """Give the folder up."""
        if self._lock_fd is not None:
            os.ftruncate(self._lock_fd, 0)
            os.close(self._lock_fd)
            self._lock_fd = None

    def owner(self) -> int | None:
        """Pid of the living owner."""
        try:
            pid, started_at = (self.path / "lock").read_text().split()
        except (OSError, ValueError):
            return None
        return int(pid) if _started_at(int(pid)) == started_at else None

    def is_taken(self) -> bool:
        """Whether somebody, an owner or what it left behind, holds the folder."""
        try:
            lock = os.open(self.path / "lock", os.O_RDWR)
        except OSError:
            return False
        try:
            return not _lock(lock)
        finally:
            os.close(lock)

    def read(self, name: str) -> dict[str, Any]:
        """A JSON file of the folder, empty when missing or damaged."""
        try:
            found = json.loads((self.path / name).read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, name: str, content: dict[str, Any]) -> None:
        """Replace a JSON file in one step, readable by its owner only."""
        target = self.path / name
        fresh = target.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(content, file, indent=1)
            file.write("\n")
        fresh.replace(target)


def has_ended(pid: int) -> bool:
    """Whether a process does nothing any more (one that nobody waited for has ended too)."""
    return _started_at(pid) is None


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _started_at(pid: int) -> str | None:
    """Tells a process from a later one of the same pid; None when it has ended."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else str(process.create_time())
    except psutil.Error:
        return None
