"""What a call of the client can raise besides a refusal of its own arguments (``chronofact.domain.errors.Rejected``)."""

from __future__ import annotations


class ClientError(Exception):
    """Every error of this client."""


class Unreachable(ClientError):
    """No answer from the service; whether it took the commands is unknown, and sending them again is safe."""

    def __init__(self, address: str, why: str, *, waited_s: float = 0.0) -> None:
        super().__init__(f"{address} can't be reached: {why}")
        self.address = address
        self.why = why
        self.waited_s = waited_s
        """How long its answer was waited for; 0 where it was gone at once."""


class Refused(ClientError):
    """The service refused the whole request, or the one command it held; ``code`` is of the closed list."""

    def __init__(self, status: int, code: str, message: str, *, field: str | None = None) -> None:
        super().__init__(f"{code}: {message}" if field is None else f"{code} at {field}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.field = field


class Busy(ClientError):
    """The service kept answering 429 or 503 for as long as this client waits."""

    def __init__(self, status: int, code: str, message: str, *, waited_s: float) -> None:
        super().__init__(f"{code}: {message} (waited {waited_s:.1f} s)")
        self.status = status
        self.code = code
        self.waited_s = waited_s
