"""Each test that docs/reference/field-reports.md names is there."""

from __future__ import annotations

import re

from tests.architecture.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "field-reports.md"
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_named_test_exists() -> None:
    named = set(NAMED.findall(PAGE.read_text(encoding="utf-8")))
    assert len(named) > 30
    missing = {
        f"{file}::{name}"
        for file, name in named
        if not re.search(rf"def {name}\(", (ROOT / file).read_text(encoding="utf-8") if (ROOT / file).exists() else "")
    }
    assert not missing


def test_every_test_of_a_report_is_named() -> None:
    page = PAGE.read_text(encoding="utf-8")
    defined = {
        name
        for file in (ROOT / "tests" / "integration" / "field_reports").glob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text(encoding="utf-8"))
    }
    assert {name for name in defined if name not in page} == set()
