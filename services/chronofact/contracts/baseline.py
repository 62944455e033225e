"""A user's own table of keys and values, held against our answers at an instant (ADR 30)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from chronofact.contracts.shadow import Sample, Sort

COLUMNS: Final = ("tenant", "subject", "scope", "key", "value")


class BaselineUnreadable(Exception):
    """The statement can't be read as a table of keys and values; the message says why, and is for who wrote it."""


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line of the user's table as it was selected; the value is JSON text, None what is NULL there."""

    number: int
    tenant: str | None
    subject: str | None
    scope: str | None
    key: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Theirs:
    """One line in our terms."""

    number: int
    fact_id: bytes
    tenant_id: UUID
    subject_id: UUID
    subject: str
    scope_kind: str
    scope_key: str
    key: str
    shown: str
    """The value as JSON, cut where it is long."""
    value_keys: tuple[bytes, ...]
    """What it shares with values that are one by the rule, however it may be read: a text may be JSON, too."""
    part_keys: tuple[bytes, ...] | None
    """The same of the parts of an array, ascending."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that names no fact, or has no value; it is not compared."""

    number: int
    field: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Why:
    """So many facts of a tenant that differ for the same reason."""

    tenant_id: UUID
    sort: Sort
    reason: str
    facts: int


@dataclass(slots=True)
class BaselineReport:
    """What was found."""

    projection: str
    rule: int
    valid_at: datetime
    lines: int = 0
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)
    """The first of them."""
    columns_ignored: Sequence[str] = ()
    both: int = 0
    equal: int = 0
    only_theirs: int = 0
    only_ours: int = 0
    tenants: int = 0
    tenants_not_named: int = 0
    """Tenants of ours that the table does not name: nothing of theirs was compared."""
    whys: list[Why] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def unknown(self) -> int:
        """Differences that nobody can explain."""
        return sum(one.facts for one in self.whys if one.sort is Sort.UNKNOWN)
