"""A comparison as callers see it: by class, by tenant, with samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from chronofact.contracts.shadow import Counted, Report, Sample, Shadow, Sort
from chronofact.domain.interval import format_instant, instant_of

TENANTS_MAX: Final = 1_000
"""Tenants that a report lists, those with the most unknown differences first, then with the most."""


def report_body(report: Report) -> dict[str, Any]:
    """All of it."""
    shadow = report.shadow
    listed = by_tenant(report.counted)
    return {
        **shadow_body(shadow),
        "differences": sum(one.differences for one in report.counted) + shadow.facts_beyond,
        "unknown": unknown_of(report),
        "classes": classes_body(report.counted),
        "tenants": [
            {"tenant": str(tenant_id), "classes": classes_body(counted)} for tenant_id, counted in listed[:TENANTS_MAX]
        ],
        "tenants_left_out": max(0, len(listed) - TENANTS_MAX),
        "samples": [sample_body(one) for one in report.samples],
    }


def shadow_body(shadow: Shadow) -> dict[str, Any]:
    """The window and the last sweep."""
    return {
        "id": str(shadow.shadow_id),
        "projection": shadow.new,
        "against": shadow.old,
        "state": shadow.state,
        "started_at": at(shadow.started_at),
        "until": at(shadow.until),
        "ended_at": at(shadow.ended_at),
        "window_left_s": left_s(shadow, datetime.now(UTC)),
        "sweeps": shadow.sweeps,
        "last_compared_at": at(shadow.last_compared_at),
        "last_sweep_s": None if shadow.last_sweep_s is None else round(shadow.last_sweep_s, 3),
        "facts": shadow.facts,
        "facts_in_flight": shadow.facts_in_flight,
        "facts_differing": shadow.facts_differing,
        "facts_beyond": shadow.facts_beyond,
        "failure": shadow.failure,
    }


def classes_body(counted: Iterable[Counted]) -> dict[str, dict[str, int]]:
    """Every class, those without any too."""
    found = {sort.value: {"differences": 0, "facts": 0, "settled": 0} for sort in Sort}
    for one in counted:
        line = found[one.sort.value]
        line["differences"] += one.differences
        line["facts"] += one.facts
        line["settled"] += one.settled
    return found


def by_tenant(counted: Sequence[Counted]) -> list[tuple[UUID, list[Counted]]]:
    """The same by tenant, the gravest first; tenants of whom all has settled are left out."""
    tenants: dict[UUID, list[Counted]] = {}
    for one in counted:
        tenants.setdefault(one.tenant_id, []).append(one)
    there = [(tenant, lines) for tenant, lines in tenants.items() if any(one.differences for one in lines)]

    def gravity(found: tuple[UUID, list[Counted]]) -> tuple[int, int, str]:
        unknown = sum(one.differences for one in found[1] if one.sort is Sort.UNKNOWN)
        return -unknown, -sum(one.differences for one in found[1]), str(found[0])

    return sorted(there, key=gravity)


def unknown_of(report: Report) -> int:
    """Differences that nobody can explain, those among them that nobody has judged."""
    return report.shadow.facts_beyond + sum(one.differences for one in report.counted if one.sort is Sort.UNKNOWN)


def sample_body(one: Sample) -> dict[str, Any]:
    """One difference: the fact, the stretch, both answers, the class and why."""
    return {
        "class": one.sort.value,
        "reason": one.reason,
        "fact": {
            "fact_id": str(one.fact_id),
            "tenant": str(one.tenant_id),
            "subject": one.subject,
            "scope": one.scope,
            "key": one.key,
        },
        "valid_during": None if one.is_behind else [at(one.valid_from), at(one.valid_to)],
        "stretches": one.stretches,
        "old": dict(one.old_said),
        "new": dict(one.new_said),
        "first_seen_at": at(one.first_seen_at),
        "last_seen_at": at(one.last_seen_at),
    }


def left_s(shadow: Shadow, now: datetime) -> float:
    """Until the window is over."""
    return max(0.0, round((shadow.until - now).total_seconds(), 1)) if shadow.state == "open" else 0.0


def at(instant: datetime | None) -> str | None:
    """An instant as RFC 3339."""
    return None if instant is None else format_instant(instant_of(instant))
