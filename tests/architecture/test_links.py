"""Every relative link of the pages leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = [
        target for target in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()
    ]
    assert not missing
