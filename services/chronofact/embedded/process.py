"""A process of the stack: it logs to a file, runs under a keeper and can't outlive us."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

KEEPER = Path(__file__).with_name("keeper.py")
KILL_GRACE_S = 5.0
WORDS_BYTES_MAX = 65_536


@dataclass(frozen=True, slots=True)
class Command:
    """What to run and how to stop it."""

    name: str
    arguments: Sequence[str]
    log: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_s: float = 7.0
    user: tuple[int, int] | None = None
    working_folder: Path | None = None


class KeptProcess:
    """One running command; `held_fds` stay open in its keeper, such as a folder's lock."""

    def __init__(self, command: Command, held_fds: Sequence[int] = ()) -> None:
        self.command = command
        self._log_begins = command.log.stat().st_size if command.log.exists() else 0
        asked, self._asking = os.pipe()
        try:
            with command.log.open("ab") as log:
                self._keeper = subprocess.Popen(
                    self._keeper_line(asked),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=dict(command.environ),
                    cwd=command.working_folder,
                    pass_fds=(asked, *held_fds),
                    start_new_session=True,
                )
        except OSError:
            os.close(self._asking)
            raise
        finally:
            os.close(asked)

    def _keeper_line(self, asked: int) -> list[str]:
        command = self.command
        user = f"{command.user[0]}:{command.user[1]}" if command.user else "-"
        limits = [str(int(command.stop_signal)), str(command.stop_timeout_s)]
        keeper = [sys.executable, "-I", "-S", str(KEEPER), str(asked), *limits, user]
        return [*keeper, *command.arguments]

    @property
    def pid(self) -> int:
        """Pid of the keeper; the command is its only child."""
        return self._keeper.pid

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._keeper.poll()

    def ask_to_stop(self) -> None:
        """Ask and return at once."""
        if self._keeper.poll() is None:
            self._keeper.terminate()

    def stop(self) -> int:
        """Ask, wait until it has left (killed when its time is over), and return its exit code."""
        self.ask_to_stop()
        try:
            return self._keeper.wait(self.command.stop_timeout_s + KILL_GRACE_S)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            return self._keeper.wait()
        finally:
            self._close()

    def _close(self) -> None:
        if self._asking >= 0:
            os.close(self._asking)
            self._asking = -1

    def last_words(self) -> str:
        """The last fault that this process logged, else its last line; empty when it said nothing."""
        with self.command.log.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._log_begins, end - WORDS_BYTES_MAX))
            lines = [_words(one) for one in log.read().decode(errors="replace").splitlines() if one.strip()]
        faults = [told for told, is_fault in lines if is_fault]
        return (faults or [told for told, _ in lines] or [""])[-1]

    def log_tail(self, lines_max: int = 20) -> str:
        """The last lines it logged."""
        lines = self.command.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-lines_max:])


def _words(line: str) -> tuple[str, bool]:
    """A line of a log as a person reads it, and whether it tells of a fault."""
    try:
        said = json.loads(line)
    except ValueError:
        return line, False
    if not isinstance(said, dict) or "event" not in said:
        return line, False
    is_fault = said.get("level") == "critical"
    event = said.get("code", said["event"]) if is_fault else said["event"]
    further = [said.get("message")] if is_fault else [said.get("part"), said.get("code"), said.get("message")]
    return ": ".join(str(one) for one in (event, *further) if one is not None), is_fault
