"""A verification and what it found, as callers see them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from chronofact.contracts.verification import Difference, Verification
from chronofact.domain.interval import format_instant, instant_of


def verification_body(found: Verification) -> dict[str, Any]:
    """One as it stands."""
    tally = found.tally
    failure = {"code": found.failure_code or "internal", "message": found.failure, "remedy": found.remedy}
    return {
        "id": str(found.verification_id),
        "left": found.wanted.left,
        "right": found.wanted.right,
        "aspects": found.wanted.aspects.value,
        "rule_left": found.rules[0],
        "rule_right": found.rules[1],
        "state": found.state.value,
        "started_at": _instant(found.started_at),
        "finished_at": _instant(found.finished_at),
        "cut_at": _instant(found.cut_at),
        "topic_id": None if found.topic_id is None else str(found.topic_id),
        "next_offsets": {str(partition): offset for partition, offset in found.next_offsets.items()},
        "facts": tally.facts,
        "facts_total": tally.facts_total,
        "lines": tally.lines,
        "differences": tally.differences,
        "identical": found.identical,
        "failure": None if found.failure is None else failure,
    }


def difference_body(found: Difference) -> dict[str, Any]:
    """One table of one fact that differs."""
    fact = found.fact
    named = None if fact is None else {
        "tenant_id": str(fact.tenant_id),
        "subject_id": str(fact.subject_id),
        "subject_label": fact.subject_label,
        "scope": f"{fact.scope_kind}:{fact.scope_key}",
        "key": fact.fact_key,
    }  # fmt: skip
    return {
        "fact_id": None if found.fact_id is None else str(found.fact_id),
        "fact": named,
        "table": found.aspect,
        "left_lines": found.left_lines,
        "right_lines": found.right_lines,
        "left": _lines(found.left_said),
        "right": _lines(found.right_said),
    }


def _lines(said: Sequence[str]) -> list[Any]:
    return [json.loads(line) for line in said]


def _instant(moment: datetime | None) -> str | None:
    return None if moment is None else format_instant(instant_of(moment))
