"""Each reason is explained on the user's page, and can come about."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronofact.text.reasons import Reason
from tests.labelled_pairs import pairs

pytestmark = pytest.mark.unit

PAGE = Path(__file__).parents[2] / "docs" / "memories.md"
REACHED_ELSEWHERE = {
    Reason.PRONOUN, Reason.LONG_SENTENCE, Reason.EQUAL_TEXT, Reason.FROM_ANOTHER, Reason.SUBORDINATE,
}  # fmt: skip
"""By hand-made pairs in other tests; no labelled pair is so."""


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_explained(reason: Reason) -> None:
    assert f"`{reason.value}`" in PAGE.read_text()


def test_labelled_pairs_reach_the_reasons() -> None:
    said = {pair.judged(near).reason for pair in (*pairs(), *pairs("subject_pairs_more.jsonl")) for near in (0.7, 0.9)}
    assert set(Reason) - said <= REACHED_ELSEWHERE
