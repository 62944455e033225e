"""Every reason why something of a turn is not taken is explained to users."""

from __future__ import annotations

from pathlib import Path

from chronofact.text.untaken import Untaken

PAGE = Path(__file__).parents[2] / "docs" / "memories.md"


def test_every_reason_is_explained() -> None:
    told = PAGE.read_text(encoding="utf-8").partition("### What is not taken")[2].partition("\n## ")[0]
    assert [reason for reason in Untaken if f"`{reason}`" not in told] == []
