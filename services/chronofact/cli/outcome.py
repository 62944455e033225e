"""How a command ends: 0 done, 1 failed, 2 usage, 3 a service it needs can't be reached."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of every command."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3


class Failure(Exception):
    """A command could not do what it was asked; the message is for the person who typed it."""

    def __init__(self, message: str, *, code: ExitCode = ExitCode.FAILED, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.remedy = remedy
