"""Why a process is not ready, by name; each part of it says so for itself, and the log once what hinders it from outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from chronofact.contracts.error_codes import remedy_of
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.hindrances import Hindrances


@dataclass(frozen=True, slots=True)
class Reason:
    """What keeps the process from serving, and what to do about it."""

    code: str
    message: str
    remedy: str | None = None


class Health:
    """Ready once every named part is, but for those of which it is told that nobody needs them."""

    def __init__(self, *parts: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        starting = _helped(Reason("starting", "has not looked at its surroundings yet"))
        self._reasons: dict[str, Reason | None] = dict.fromkeys(parts, starting)
        self._beside: frozenset[str] = frozenset()
        self._hindrances = Hindrances(monotonic=monotonic)

    def ready(self, part: str) -> None:
        """Nothing keeps this part from serving."""
        self._reasons[part] = None
        self._hindrances.passed(part)

    def hindered(self, part: str, failure: Transient | Unfit | Reason) -> None:
        """This part can't serve until what is named has passed; a ``Reason`` is our own, as leaving, and no news."""
        if isinstance(failure, Reason):
            self._reasons[part] = _helped(failure)
        else:
            self._hinder(part, reason_of(failure))

    def _hinder(self, part: str, reason: Reason) -> None:
        self._reasons[part] = reason
        self._hindrances.tell(part, code=reason.code, message=reason.message, remedy=reason.remedy)

    def forget(self, part: str) -> None:
        """There is no such part any more."""
        self._reasons.pop(part, None)
        self._hindrances.forget(part)
        self.counts(part, is_needed=True)

    def counts(self, part: str, *, is_needed: bool) -> None:
        """Whether readiness depends on this part."""
        self._beside = self._beside - {part} if is_needed else self._beside | {part}

    def why(self, part: str) -> Reason | None:
        """What hinders a part."""
        return self._reasons[part]

    def reasons(self) -> dict[str, Reason]:
        """What hinders, by part; empty when ready."""
        return self._told(is_beside=False)

    def beside(self) -> dict[str, Reason]:
        """What hinders parts on which readiness does not depend."""
        return self._told(is_beside=True)

    def _told(self, *, is_beside: bool) -> dict[str, Reason]:
        told = list(self._reasons.items())
        return {part: reason for part, reason in told if reason is not None and (part in self._beside) is is_beside}


def reason_of(failure: Transient | Unfit) -> Reason:
    """A failure as a reason, with what helps: its own remedy, else that of its code."""
    return _helped(Reason(failure.code, str(failure), failure.remedy if isinstance(failure, Unfit) else None))


def _helped(reason: Reason) -> Reason:
    return reason if reason.remedy else replace(reason, remedy=remedy_of(reason.code))
