"""Runbooks keep up with the code: every way in which a rebuild can fail has its remedy in docs/operations/failed-rebuild.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from chronofact.contracts.error_codes import remedy_of
from tests.architecture.tree import ROOT

SERVICES = ROOT / "services" / "chronofact"
RUNBOOK = ROOT / "docs" / "operations" / "failed-rebuild.md"
PARTS = (
    *sorted((SERVICES / "reconciler" / "rebuilding").glob("*.py")),
    *(SERVICES / "reconciler" / f"{name}.py" for name in ("rebuilds", "rebuild_steps", "verify_cut")),
    *(SERVICES / "postgres" / f"{name}.py" for name in ("load_store", "load_work")),
    *(SERVICES / "kafka" / f"{name}.py" for name in ("whole_log", "admin")),
)
"""What a rebuild runs through; what Postgres refuses is told of in one line."""
ELSEWHERE = {"projection_stands_still", "projection_lags", "topic_not_empty"}
"""Waited for, or of other work."""


def codes(source: Path) -> Iterator[str]:
    """Of every ``Unfit`` that is raised or made, and of what ends a rebuild otherwise."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        at = {"Unfit": 0, "_fail": 1}.get(name)
        if at is not None and len(node.args) > at and isinstance(node.args[at], ast.Constant):
            yield str(ast.literal_eval(node.args[at]))


def test_every_failure_of_a_rebuild_has_its_remedy() -> None:
    told = RUNBOOK.read_text(encoding="utf-8")
    found = {code for part in PARTS for code in codes(part)}
    assert {"rebuild_folder", "rebuild_differs", "internal", "log_truncated"} <= found
    assert sorted(code for code in found - ELSEWHERE if f"`{code}`" not in told) == []


@pytest.mark.parametrize("code", ["rebuild_differs", "rebuild_diverges", "postgres_refuses"])
def test_remedies_name_runbooks_that_are_there(code: str) -> None:
    named = [word.rstrip(";:,.") for word in (remedy_of(code) or "").split() if word.startswith("docs/")]
    assert named
    assert all((ROOT / one).is_file() for one in named)
