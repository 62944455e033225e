"""What the doctor makes of what it sees, and what the supervisor keeps for it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chronofact.cli import doctor_projection
from chronofact.cli.doctor import _service, copies_told, with_leavings
from chronofact.cli.doctor_projection import (
    Surroundings,
    fold_told,
    lag_told,
    projection_checks,
    projections_told,
    rebuilds_told,
    routes_told,
    sessions_told,
)
from chronofact.contracts.rebuilding import Rebuild, RebuildState, RebuildTold
from chronofact.contracts.standstill import Standstill
from chronofact.contracts.topics import facts_topic
from chronofact.embedded.checks import Check
from chronofact.embedded.errors import SettingRefusedError
from chronofact.embedded.process import Command, KeptProcess
from chronofact.embedded.stack import Addresses, Stack
from chronofact.embedded.supervisor import SERVICES, Supervisor, service_addresses
from chronofact.kafka.replicas import Replicas
from chronofact.runtime.failures import Transient
from tests.unit.scripted_service import Told, serving
from tests.unit.test_embedded import eventually

LEFT = {"left": 9, "code": 1, "last": "ParkingLimit: partition 3 at offset 60", "at_s": 1_000.0}
LIMIT_LINE = """import sys
print('{"level": "critical", "event": "failed", "code": "ParkingLimit", "message": "too many"}', file=sys.stderr)
print("a library's farewell", file=sys.stderr)
sys.exit(1)
"""


def test_a_service_that_leaves_again_and_again_is_not_well_even_when_it_is_just_ready() -> None:
    check = with_leavings(Check("projector-2", "ok", "ready"), LEFT, 1_010.0)
    assert check.state == "failed"
    assert "left 9 times with code 1; last: ParkingLimit" in check.detail
    assert check.remedy == "see docs/operations/parked.md"
    away = with_leavings(Check("projector-2", "unreachable", "no answer", "chronofact up"), LEFT, 9_999.0)
    assert (away.state, away.remedy) == ("unreachable", "the stack starts it again; see docs/operations/parked.md")


def test_one_that_came_back_to_stay_is_well_and_its_leavings_are_told() -> None:
    check = with_leavings(Check("writer", "ok", "ready"), {**LEFT, "last": ""}, 2_000.0)
    assert (check.state, check.detail) == ("ok", "ready; left 9 times with code 1")
    assert "left 1 time " in with_leavings(Check("writer", "ok", "ready"), {**LEFT, "left": 1}, 1_001.0).detail
    assert with_leavings(Check("writer", "ok", "ready"), None, 0) == Check("writer", "ok", "ready")


@pytest.mark.parametrize("code", ["postgres_away", "kafka_unreachable"])
def test_who_does_not_answer_is_waited_for_once(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_of: Surroundings) -> Check:
        raise Transient(code, "no answer")

    asked = list[str]()

    def seen(name: str) -> Callable[[Surroundings], Check]:
        def look(_of: Surroundings) -> Check:
            asked.append(name)
            return Check(name, "ok", "")

        return look

    monkeypatch.setattr(doctor_projection, "_projections", away)
    for name in ("rebuilds", "lag", "routes", "parked", "last_check", "fold", "sessions"):
        monkeypatch.setattr(doctor_projection, f"_{name}", seen(name))
    found = list(projection_checks(Surroundings("", "", facts_topic("facts"), {}, "p1", is_stack=True)))
    assert len(found) == 8
    assert len(asked) == (0 if code == "postgres_away" else 7)
    assert {one.state for one in found} == ({"skipped"} if code == "postgres_away" else {"skipped", "ok"})


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            '{"event": "hindered", "part": "log", "code": "kafka_unreachable", "message": "gone", "level": "warning"}',
            "hindered: log: kafka_unreachable: gone",
        ),
        ('{"event": "stopped", "level": "info"}', "stopped"),
        ('{"event": "failed", "level": "critical", "code": "fault", "message": "here"}', "fault: here"),
        ("FATAL: no", "FATAL: no"),
        ("[1]", "[1]"),
    ],
)
def test_last_words_are_for_people(line: str, told: str, tmp_path: Path) -> None:
    script = f"print({line!r})"
    process = KeptProcess(Command("one", [sys.executable, "-c", script], tmp_path / "log", {}), [])
    eventually(lambda: process.exit_code() is not None)
    assert process.last_words() == told


def test_a_second_projector_is_begun_by_the_command_of_the_first() -> None:
    check = _service("projector-2", "http://127.0.0.1:1")
    assert (check.state, check.remedy) == ("unreachable", "chronofact up, or chronofact projector")


def test_a_partition_that_stands_still_is_no_lag_like_another() -> None:
    assert lag_told({("p1", 0): (5, 10)}, {("p1", 0): (5, 20)}).state == "ok"
    still = lag_told({("p1", 0): (0, 10), ("p1", 3): (60, 10)}, {("p1", 0): (0, 10), ("p1", 3): (61, 10)})
    assert still.state == "failed"
    assert still.detail == ("61 messages behind the log, growing; nothing was applied for 2 s in p1 partition 3")
    assert lag_told({("p1", 0): (5, 10)}, {("p1", 0): (20_000, 20)}).state == "failed"
    assert lag_told({("p1", 0): (1, 10)}, {("p1", 0): (0, 11)}).detail == "0 messages behind the log, falling"


def test_a_projection_that_is_asked_and_not_fed_is_told() -> None:
    well = routes_told(["p2"], ["p1", "p2"], is_stack=True)
    assert (well.state, well.detail) == ("ok", "reads go to p2; projectors feed p1, p2")
    found = routes_told(["p1", "p2"], ["p2"], is_stack=True)
    assert found.state == "failed"
    assert found.detail.startswith("tenants are routed to p1, the projectors here feed p2")
    assert routes_told(["p1"], ["p2"], is_stack=False).state == "ok"


def test_a_reconciler_that_stands_still_over_a_rebuild_is_told() -> None:
    since = datetime(2026, 1, 1, 9, 30, tzinfo=UTC)
    over = RebuildTold(Rebuild(1, "p2", 1, RebuildState.FAILED, 2, 1, since), 0, 0, 0, 0, 0, 0)
    at_work = replace(over, rebuild=Rebuild(2, "p3", 1, RebuildState.BUILDING, 2, 1, since))
    assert (rebuilds_told([over]).state, rebuilds_told([over]).detail) == ("ok", "none is at work")
    assert (rebuilds_told([at_work, over]).state, rebuilds_told([at_work]).detail) == ("ok", "2 of p3 building")
    for one in (at_work, over):
        found = rebuilds_told([replace(one, still=Standstill(since, 9.0))])
        assert found.state == "failed"
        assert "stands still since 2026-01-01 09:30:00Z" in found.detail
        assert "another reconciler goes on" in (found.remedy or "")
    found = rebuilds_told([replace(at_work, idle=Standstill(since, 130.0))])
    assert (found.state, found.detail) == (
        "failed",
        "2 of p3 building; nobody has done anything for 2 since 2026-01-01 09:30:00Z",
    )


def test_a_session_that_keeps_vacuum_waiting_is_told_and_how_to_end_it() -> None:
    assert sessions_told([]).state == "ok"
    found = sessions_told([("chronofact verify", datetime(2026, 1, 1, 9, 30, tzinfo=UTC), 77)])
    assert (found.state, found.detail) == ("skipped", "vacuum waits for chronofact verify since 2026-01-01 09:30Z")
    assert "pg_terminate_backend(77)" in (found.remedy or "")


def test_a_projection_that_another_fold_filled_is_told() -> None:
    own = {1: "one", 2: "two"}
    well = fold_told([("p1", 1, "one"), ("p2", 2, "two")], own)
    assert (well.state, well.detail) == ("ok", "p1 by rule 1, p2 by rule 2: filled by this very fold")
    older = fold_told([("p1", 1, "one"), ("p2", 2, "one"), ("p3", 1, None)], own)
    assert (older.state, older.detail) == ("skipped", "p2, p3: filled by the fold of another version")
    assert (older.remedy or "").startswith("chronofact rebuild start")
    assert fold_told([("p9", 3, "three")], own).state == "failed"


def test_every_projector_has_an_address() -> None:
    ports = {one.name: number for number, one in enumerate(SERVICES, 1)}
    found = service_addresses(ports, SERVICES)
    assert found["projectors"] == [found["projector"], f"http://127.0.0.1:{ports['projector-2']}"]


@pytest.fixture
def supervisor(tmp_path: Path) -> Supervisor:
    stack = Stack(tmp_path)
    stack.folder.make()
    stack.ports = {one.name: 1 for one in SERVICES}
    return Supervisor(stack, Addresses(), {}, lambda _step: None)


def launched(supervisor: Supervisor, folder: Path, code: str) -> None:
    command = Command("child", [sys.executable, "-c", code], folder / "logs" / "child.log", {})
    for unit in supervisor._units.values():
        unit.launch = lambda: KeptProcess(command)


def test_the_supervisor_keeps_what_a_service_said_at_its_end(supervisor: Supervisor, tmp_path: Path) -> None:
    launched(supervisor, tmp_path, LIMIT_LINE)
    unit = supervisor._units["projector"]
    unit.start()
    eventually(lambda: not unit.is_alive)
    supervisor.tick()
    kept = supervisor._stack.folder.read("services.json")["projector"]
    assert (kept["left"], kept["code"], kept["last"]) == (1, 1, "ParkingLimit: too many")
    supervisor.stop()


def test_a_service_that_refuses_its_settings_ends_the_start_at_once(supervisor: Supervisor, tmp_path: Path) -> None:
    launched(
        supervisor, tmp_path, "import sys\nprint('chronofact: CHRONOFACT_X: no number', file=sys.stderr); sys.exit(2)"
    )
    with pytest.raises(SettingRefusedError, match="CHRONOFACT_X: no number"):
        supervisor.start()
    supervisor.stop()


@pytest.mark.parametrize(("is_ready", "where"), [(True, "beside"), (False, "reasons")])
def test_what_hinders_one_that_nobody_reads_is_told_and_fails_nothing(is_ready: bool, where: str) -> None:
    failed = {"part": "projection p2", "code": "projection_failed", "message": "50 in a row", "remedy": "look"}
    body = {"status": "made up", "reasons": [], "beside": []} | {where: [failed]}
    with serving(Told(body, 200 if is_ready else 503, (("Content-Type", "application/json"),))) as service:
        check = _service("reader", service.url)
    assert check.state == ("ok" if is_ready else "failed")
    assert "projection p2: projection_failed: 50 in a row" in check.detail
    assert check.remedy == "look"


def test_each_projection_is_told_with_who_reads_it_and_since_when_nobody_does() -> None:
    left = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    lines = [("p1", "live", 1, 0, left), ("p2", "live", 2, 3, None), ("p3", "ready", 1, 0, None)]
    check = projections_told(lines)
    assert check.state == "ok"
    assert check.detail == (
        "p1 live, rule 1, no route, left 2026-03-01 12:30Z; p2 live, rule 2, 3 routes; p3 ready, rule 1, no route"
    )
    assert projections_told([*lines, ("p4", "failed", 1, 0, None)]).state == "failed"


def test_partitions_with_fewer_copies_than_they_are_to_have_are_told() -> None:
    assert copies_told("well", Replicas(12, 0, 0)) == Check("kafka", "ok", "well")
    assert copies_told("well", None).state == "ok"
    told = copies_told("well", Replicas(12, 1, 4))
    assert told.state == "failed"
    assert "4 of its 12 partitions" in told.detail
