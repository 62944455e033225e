"""A comparison with a user's table as callers see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from chronofact.contracts.baseline import BaselineReport, Why
from chronofact.contracts.shadow import Sample, Sort
from chronofact.reconciler.shadow_told import TENANTS_MAX, at, sample_body


def baseline_body(report: BaselineReport) -> dict[str, Any]:
    """All of it."""
    tenants: dict[UUID, list[Why]] = {}
    for one in report.whys:
        tenants.setdefault(one.tenant_id, []).append(one)
    listed = sorted(tenants.items(), key=lambda found: (-sum(one.facts for one in found[1]), str(found[0])))
    return {
        "baseline": True,
        "projection": report.projection,
        "rule": report.rule,
        "valid_at": at(report.valid_at),
        "lines": report.lines,
        "bad": report.bad,
        "bad_lines": [
            {"line": one.number, "field": one.field, "code": one.code, "message": one.message}
            for one in report.bad_lines
        ],
        "columns_ignored": list(report.columns_ignored),
        "both": report.both,
        "equal": report.equal,
        "only_baseline": report.only_theirs,
        "only_projection": report.only_ours,
        "differences": sum(one.facts for one in report.whys),
        "unknown": report.unknown,
        "classes": classes_body(report.whys),
        "tenants": [{"tenant": str(tenant), "classes": classes_body(whys)} for tenant, whys in listed[:TENANTS_MAX]],
        "tenants_left_out": max(0, len(listed) - TENANTS_MAX),
        "tenants_not_in_baseline": report.tenants_not_named,
        "samples": [baseline_sample_body(one) for one in report.samples],
        "seconds": round(report.seconds, 3),
    }


def classes_body(whys: Iterable[Why]) -> dict[str, dict[str, Any]]:
    """Facts by class, and in each by reason."""
    found: dict[str, dict[str, Any]] = {sort.value: {"facts": 0, "reasons": {}} for sort in Sort}
    for one in whys:
        line = found[one.sort.value]
        line["facts"] += one.facts
        line["reasons"][one.reason] = line["reasons"].get(one.reason, 0) + one.facts
    return found


def baseline_sample_body(one: Sample) -> dict[str, Any]:
    """One difference; ``old`` is what the table says, ``new`` is our answer."""
    body = sample_body(one)
    for name in ("stretches", "first_seen_at", "last_seen_at"):
        del body[name]
    return body
