"""What ``chronofact rebuild`` says of a rebuild, and how it follows one whose reconciler is away for a moment."""

from __future__ import annotations

from typing import Any

import pytest

from chronofact.cli.outcome import ExitCode
from chronofact.cli.rebuild_asking import PATIENCE_S, Asking, Away, followed, is_over
from chronofact.cli.rebuild_told import summary, told

FOUND: dict[str, Any] = {
    "id": "4", "projection": "p2", "rule": 1, "state": "catching_up", "waiting": "no projector feeds p2",
    "messages": 90, "messages_read": 90, "messages_total": 90, "events": 80, "facts": 7, "parked": 1, "seconds": 5.0,
    "phases": {"plan_s": 0.5, "load_s": 2.0, "index_s": 1.5}, "compared_with": None, "failure": None, "parts": [],
}  # fmt: skip


class Scripted(Asking):
    """Answers from a list; None is no answer."""

    def __init__(self, *answers: dict[str, Any] | None) -> None:
        super().__init__("http://here")
        object.__setattr__(self, "_left", list(answers))

    def one(self, number: int) -> dict[str, Any]:
        left: list[dict[str, Any] | None] = self._left  # type: ignore[attr-defined]
        found = left.pop(0) if left else None
        if found is None:
            raise Away(self.address, f"rebuild {number}")
        return found


def test_it_tells_phases_shares_and_what_it_waits_for() -> None:
    said = "\n".join(told(FOUND))
    for words in ("rebuild 4 of p2", "no projector feeds p2", "load 2.0 s (50%)", "40 events/s", "1 message parked"):
        assert words in said


def test_it_tells_why_it_failed_and_what_helps() -> None:
    failure = {"code": "fold_changed", "message": "another fold", "remedy": "cancel it"}
    said = told({**FOUND, "state": "failed", "waiting": None, "failure": failure})
    assert said[-2:] == ["another fold (fold_changed)", "cancel it"]


def test_the_last_line_of_json_has_what_scripts_ask_for() -> None:
    assert {"projection", "events", "seconds", "phases"} <= summary(FOUND).keys()


def test_a_failed_one_that_is_being_removed_is_not_over() -> None:
    assert not is_over({"state": "failed", "waiting": "its removal"})
    assert is_over({"state": "failed", "waiting": None})


def test_a_reconciler_that_is_away_for_a_moment_is_waited_for() -> None:
    ready = {**FOUND, "state": "ready", "waiting": None}
    seen = [*followed(Scripted(FOUND, None, None, ready), 4, sleep=lambda _s: None, monotonic=lambda: 0.0)]
    assert [one["state"] for one in seen] == ["catching_up", "ready"]


def test_one_that_stays_away_is_given_up() -> None:
    now = iter(range(0, 10_000, int(PATIENCE_S / 2)))
    with pytest.raises(Away) as away:
        [*followed(Scripted(FOUND), 4, sleep=lambda _s: None, monotonic=lambda: float(next(now)))]
    assert away.value.code is ExitCode.UNREACHABLE
    assert "rebuild watch 4" in (away.value.remedy or "")
