"""What ``chronofact rebuild`` says of a rebuild, and how it follows one whose reconciler is away for a moment."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from chronofact.cli.__main__ import main
from chronofact.cli.outcome import ExitCode
from chronofact.cli.rebuild_asking import PATIENCE_S, Asking, Away, followed, is_over
from chronofact.cli.rebuild_told import JSON_EVERY_S, LINE_EVERY_S, JsonLines, Lines, step, summary, told
from chronofact.contracts.rebuilding import Rebuild, RebuildState, RebuildTold
from chronofact.contracts.standstill import Standstill
from chronofact.reconciler.rebuild_http import told as rebuild_body
from chronofact.reconciler.standstill import workers_told

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


def test_it_tells_who_stands_still_and_since_when() -> None:
    still = Standstill(datetime(2026, 1, 1, 9, 30, tzinfo=UTC), 7.5)
    rebuild = Rebuild(4, "p2", 1, RebuildState.BUILDING, 2, 1, still.since, heartbeat_at=still.since)
    body = rebuild_body(RebuildTold(rebuild, 90, 90, 0, 0, 0, 0, still=still))
    assert body["still_since"] == step(body)["still_since"] == "2026-01-01T09:30:00Z"
    assert "its reconciler stands still since 2026-01-01T09:30:00Z" in "\n".join(told(body))
    awake = rebuild_body(RebuildTold(rebuild, 90, 90, 0, 0, 0, 0))
    assert (awake["still_since"], awake["waiting"]) == (None, None)
    assert (workers_told({2: still}) or "").startswith("worker 2 stands still since 2026-01-01T09:30:00Z")
    assert workers_told({}) is None


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


def test_without_a_terminal_it_tells_each_change_and_the_load_now_and_then() -> None:
    now, lines = [0.0], list[str]()
    log = Lines(lines.append, lambda: now[0])
    loading = {**FOUND, "state": "building", "waiting": None, "messages": 0}
    for passed_s, found in (
        (0.0, loading), (1.0, loading), (LINE_EVERY_S, loading), (0.5, FOUND), (0.5, FOUND),
        (0.5, {**FOUND, "waiting": None}), (0.5, {**FOUND, "state": "ready", "waiting": None}),
    ):  # fmt: skip
        now[0] += passed_s
        log.show(found)
    assert lines == [
        "rebuild 4 loads, 50% of 90 messages, 80 events",
        "rebuild 4 loads, 50% of 90 messages, 80 events",
        "rebuild 4 catches up with the log; waiting: no projector feeds p2",
        "rebuild 4 catches up with the log",
        "rebuild 4 is ready",
    ]


def test_json_has_a_line_a_second_and_one_for_each_change_of_state() -> None:
    now, lines = [0.0], list[str]()
    log = JsonLines(lines.append, lambda: now[0])
    loading = {**FOUND, "state": "building", "waiting": None, "messages": 0}
    for passed_s, found in (
        (0.5, loading), (0.4, {**loading, "messages": 30}), (JSON_EVERY_S, {**loading, "messages": 60}),
        (JSON_EVERY_S, {**loading, "messages": 60}), (0.1, FOUND), (0.1, {**FOUND, "seconds": 5.1}),
        (0.1, {**FOUND, "waiting": None}), (9.0, {**FOUND, "state": "ready", "waiting": None}),
    ):  # fmt: skip
        now[0] += passed_s
        log.show(found)
    told = [json.loads(line) for line in lines]
    assert [(one["state"], one["messages"], one["waiting"]) for one in told] == [
        ("building", 0, None),
        ("building", 60, None),
        ("catching_up", 90, "no projector feeds p2"),
        ("catching_up", 90, None),
    ]
    assert all(one["rebuild"] == "4" and "phases" in one for one in told)


def test_help_teaches_the_whole_way(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["chronofact", "rebuild", "--help"])
    with pytest.raises(SystemExit) as left:
        main()
    taught = " ".join(capsys.readouterr().out.split())
    assert left.value.code == 0
    way = ["rebuild start", "rebuild watch", "verify p1 p2", "switch --all", "rollback --all", "retire p1"]
    places = [taught.find(step) for step in way]
    assert -1 not in places
    assert places == sorted(places)


def test_a_list_of_none_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Asking, "listed", lambda _self, _limit: [])
    monkeypatch.setattr("sys.argv", ["chronofact", "rebuild", "list", "--reconciler", "http://127.0.0.1:9"])
    with pytest.raises(SystemExit) as left:
        main()
    assert (left.value.code, capsys.readouterr().out) == (0, "nothing was ever rebuilt here\n")
