"""What is counted of a tenant's open conflicts."""

from __future__ import annotations

from typing import NamedTuple


class TenantConflicts(NamedTuple):
    """One tenant's: pairs, facts, and the age of the oldest pair."""

    tenant_id: str
    conflicts: int
    facts: int
    oldest_s: float
