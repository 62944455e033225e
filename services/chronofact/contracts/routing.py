"""Which projection a tenant's reads go to: what is asked, what speaks against it, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID


class Kind(StrEnum):
    """How a route was changed."""

    SWITCH = "switch"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class RouteWanted:
    """Tenants, or with ``everyone`` the line for all others and every line that names the same projection."""

    tenant_ids: Sequence[UUID]
    everyone: bool
    changed_by: str
    to_projection: str | None = None
    """None takes each back to where it was before."""
    is_forced: bool = False
    reason: str | None = None

    @property
    def kind(self) -> Kind:
        """A switch, or a rollback."""
        return Kind.ROLLBACK if self.to_projection is None else Kind.SWITCH


class Line(NamedTuple):
    """Where reads of a tenant go; without a tenant, of all that have no line of their own."""

    tenant_id: UUID | None
    projection: str
    has_line: bool


class Move(NamedTuple):
    """One line's change."""

    tenant_id: UUID | None
    from_projection: str
    to_projection: str
    undoes: int | None = None
    left_at: datetime | None = None
    """When the switch that is taken back left the projection."""


class Undoable(NamedTuple):
    """A switch that no rollback has taken back."""

    number: int
    from_projection: str
    to_projection: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """A projection as the list of them has it."""

    name: str
    state: str
    rule: int
    live_since: datetime | None
    is_there: bool
    """Whether its schema is."""

    @property
    def was_live(self) -> bool:
        """Whether tenants have read it."""
        return self.state == "live" or self.live_since is not None

    def is_what_was_left(self, left_at: datetime) -> bool:
        """Whether it is the one that reads left then: a name may come again."""
        return self.was_live and (self.live_since is None or self.live_since <= left_at)


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known of a projection beside the one that reads go to now."""

    is_begun: bool
    is_of_other_topic: bool
    is_held: bool
    lag_events: int
    applied_since: int | None
    """Messages that the old one has applied since both were found to be the same across topics; None: they never were."""
    is_rebuilt: bool
    compared_with: str | None
    verification_id: int | None
    beside: str | None
    identical: bool | None
    clean_check: int | None
    shadow_id: int | None
    old_projection: str | None
    is_over: bool | None
    until: datetime | None
    shadow_failure: str | None
    unknown: int | None

    @property
    def is_unverified(self) -> bool:
        """Whether it was rebuilt and nobody has held it against another, nor against the log where there is no other."""
        if not self.is_rebuilt or self.verification_id is not None:
            return False
        return self.compared_with is not None or self.clean_check is None


class Refusal(NamedTuple):
    """Why a route stays as it is; some an operator may override."""

    code: str
    message: str
    can_be_forced: bool = True


class RouteRefused(Exception):
    """Nothing was changed; ``refusals`` has at least one."""

    def __init__(self, refusals: Sequence[Refusal]) -> None:
        super().__init__("; ".join(one.message for one in refusals))
        self.refusals = tuple(refusals)


@dataclass(frozen=True, slots=True)
class Routed:
    """What became of it."""

    moves: Sequence[Move]
    unchanged: Sequence[Line]
    elsewhere: Mapping[str, int]
    """Tenants with a line of their own that names neither side, by projection; they stay."""
    stay: Sequence[Line]
    """Lines that a rollback of everyone has nothing to take back of."""
    overridden: Sequence[Refusal]
    seconds: float = 0.0
    """Of the whole call, its connection included."""
    transaction_s: float = 0.0

    @property
    def projection(self) -> str | None:
        """Where the lines go now; None where not all go to the same."""
        found = {one.to_projection for one in self.moves} or {one.projection for one in self.unchanged}
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class RouteChange:
    """One kept change."""

    number: int
    tenant_id: UUID | None
    from_projection: str
    to_projection: str
    kind: str
    undoes: int | None
    is_forced: bool
    overridden: Sequence[str]
    reason: str | None
    changed_by: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Route:
    """One line, with its last change where there was one."""

    tenant_id: UUID | None
    projection: str
    rule: int
    state: str
    number: int | None = None
    kind: str | None = None
    is_forced: bool | None = None
    reason: str | None = None
    changed_by: str | None = None
    changed_at: datetime | None = field(default=None)
