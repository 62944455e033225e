"""Which versions there are and how each stands (semantics §1 stamps, §3 Standing, Taking back)."""

from __future__ import annotations

from dataclasses import dataclass

from .says import OActivate, OAssert, OEnd, OEvent, OLog, OResolve, ORevoke, OSupersede


@dataclass(frozen=True)
class Version:
    """One asserted version as the set of events makes it."""

    version_id: bytes
    value: str
    valid_from: int | None
    valid_to: int | None
    end: int | None
    valid_from_known: bool
    cardinality: str
    succession: str
    confidence: float | None
    is_ever_active: bool
    is_revoked: bool
    heard: tuple[OAssert, ...]

    @property
    def is_active(self) -> bool:
        """Ever active and not revoked."""
        return self.is_ever_active and not self.is_revoked

    def claims(self, t: int) -> bool:
        """Whether ``t`` lies in its interval as asserted."""
        return lies_in(t, self.valid_from, self.valid_to)

    def holds(self, t: int) -> bool:
        """Whether ``t`` lies in ``[valid_from, end)``."""
        return lies_in(t, self.valid_from, self.end)

    @property
    def ends_after_its_start(self) -> bool:
        """Whether there is any instant at which it could hold."""
        return self.valid_from is None or self.end is None or self.end > self.valid_from


def lies_in(t: int, start: int | None, stop: int | None) -> bool:
    """Whether ``t`` lies in ``[start, stop)``, None being an open bound."""
    return (start is None or start <= t) and (stop is None or t < stop)


def starts_before(first: int | None, second: int | None) -> bool:
    """Whether one ``valid_from`` is earlier than another; None is since ever."""
    if first is None:
        return second is not None
    return second is not None and first < second


def later_start(first: int | None, second: int | None) -> int | None:
    """The later of two lower bounds."""
    return second if starts_before(first, second) else first


def earlier_stop(first: int | None, second: int | None) -> int | None:
    """The earlier of two upper bounds."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def not_taken_back(log: OLog) -> OLog:
    """The events without those ends, supersessions and decisions that a revocation names."""
    named = {event.event for event in log if isinstance(event, ORevoke)}
    return [e for e in log if not (isinstance(e, OEnd | OSupersede | OResolve) and e.event_id in named)]


def versions_of(log: OLog) -> dict[bytes, Version]:
    """Every version that was asserted, active or not."""
    ids = {event.version for event in log if isinstance(event, OAssert)}
    return {version_id: _version(version_id, log) for version_id in sorted(ids)}


def _version(version_id: bytes, log: OLog) -> Version:
    said = [e for e in log if isinstance(e, OAssert) and e.version == version_id]
    heard = _heard(said, log)
    ends = [e.effective_at for e in not_taken_back(log) if isinstance(e, OEnd) and e.version == version_id]
    end = said[0].valid_to
    for effective_at in ends:
        end = earlier_stop(end, effective_at)
    return Version(
        version_id=version_id,
        value=said[0].value,
        valid_from=said[0].valid_from,
        valid_to=said[0].valid_to,
        end=end,
        valid_from_known=any(e.valid_from_known for e in heard),
        cardinality="one" if any(e.cardinality == "one" for e in heard) else "many",
        succession="automatic" if any(e.succession == "automatic" for e in heard) else "explicit",
        confidence=max((e.confidence for e in heard if e.confidence is not None), default=None),
        is_ever_active=bool(heard),
        is_revoked=any(isinstance(e, ORevoke) and e.version == version_id for e in log),
        heard=tuple(heard),
    )


def _heard(said: list[OAssert], log: list[OEvent]) -> list[OAssert]:
    """The assertions whose stamps and ``supersedes`` count: the ACTIVE ones, or all once it is activated."""
    if any(isinstance(e, OActivate) and e.version == said[0].version for e in log):
        return said
    return [e for e in said if e.lifecycle == "ACTIVE"]
