"""The life of a rebuild, over twins in memory: its way, its ends, and what goes on after each kind of stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chronofact.contracts.rebuilding import Rebuild, RebuildState, RebuildWanted
from chronofact.contracts.standstill import STILL_S
from chronofact.domain.errors import Rejected
from chronofact.reconciler import rebuilds as life
from chronofact.reconciler.rebuilds import RebuildRunner
from chronofact.runtime.failures import Corruption, Transient, Unfit
from tests.unit.rebuild_twins import START, MemoryRebuilds, ScriptedSteps

WAY = ["planning", "building", "indexing", "catching_up", "verifying", "ready"]


class World:
    """One runner, its rebuilds, and a clock that goes on a second a look."""

    def __init__(self) -> None:
        self.rebuilds = MemoryRebuilds()
        self.steps = ScriptedSteps(self.rebuilds)
        self.ends: list[tuple[str, str | None]] = []
        self.now = 0.0
        self.runner = self.another()

    def another(self) -> RebuildRunner:
        return RebuildRunner(
            self.rebuilds,
            self.steps,
            ended=lambda state, code: self.ends.append((state.value, code)),
            monotonic=self._tick,
        )

    def _tick(self) -> float:
        self.now += 1.0
        return self.now

    def start(self, **wanted: Any) -> int:
        return self.rebuilds.begin(RebuildWanted(**wanted), workers=2).rebuild.rebuild_id

    def first(self, step: str, what: Callable[[Rebuild], None] | Exception) -> None:
        def stop(rebuild: Rebuild) -> None:
            if isinstance(what, Exception):
                raise what
            what(rebuild)

        self.steps.first[step] = stop

    def kept(self, rebuild_id: int = 1) -> Rebuild:
        return self.rebuilds.kept[rebuild_id].rebuild


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(life, "PAUSE_S", 0.0)
    monkeypatch.setattr(life, "BEAT_S", 0.0)
    return World()


def test_the_whole_way(world: World) -> None:
    world.start()
    world.runner.turn()
    assert world.rebuilds.kept[1].ways == WAY
    assert world.steps.done == ["plan", "load", "verify"]
    assert world.kept().phases.keys() >= {"plan_s", "catch_up_s", "verify_s"}
    assert world.kept().compared_with == "p1"
    assert world.rebuilds.projections["p2"] == ("ready", 1)
    assert (world.rebuilds.route, world.ends) == ("p1", [("ready", None)])


def test_with_no_route_at_all_it_becomes_the_default(world: World) -> None:
    world.rebuilds.projections, world.rebuilds.route = {}, None
    world.start(projection="p1")
    world.runner.turn()
    assert world.rebuilds.projections == {"p1": ("live", 1)}
    assert world.rebuilds.route == "p1"
    assert world.kept().compared_with is None


def test_beside_what_is_known_to_be_wrong_the_check_alone_decides(world: World) -> None:
    world.start()
    world.rebuilds.change(1, compared_with="none")
    world.runner.turn()
    assert world.steps.against == [None]
    assert (world.rebuilds.state(1), world.kept().compared_with) == (RebuildState.READY, "none")


def test_by_another_rule_the_comparison_is_open_before_anybody_may_be_routed_to_it(world: World) -> None:
    world.first("compare", lambda _rebuild: _assert("p2" not in _serving(world)))
    world.start(rule=2)
    world.runner.turn()
    assert world.steps.done == ["plan", "load", "verify", "compare"]
    assert world.rebuilds.state(1) is RebuildState.READY


@pytest.mark.parametrize("step", ["plan", "load", "verify"])
@pytest.mark.parametrize(
    ("failure", "code", "remedy"),
    [
        (Unfit("log_truncated", "it has lost its start", remedy="restore it"), "log_truncated", "restore it"),
        (Corruption("a contradiction"), "rebuild_contradicts", "cancel"),
        (Rejected("rule_unknown", "there is no rule 9"), "rule_unknown", "rebuild it"),
    ],
)
def test_what_cannot_go_on_has_failed_with_a_remedy(
    world: World, step: str, failure: Exception, code: str, remedy: str
) -> None:
    world.first(step, failure)
    world.start()
    world.runner.turn()
    found = world.kept()
    assert (found.state, found.failure_code) == (RebuildState.FAILED, code)
    assert remedy in (found.remedy or "")
    assert remedy not in (found.failure or "")
    assert world.rebuilds.projections.get("p2", ("failed", 1))[0] == "failed"
    assert world.ends == [("failed", code)]
    world.runner.turn()
    assert world.steps.done[-1] == step, "a failed one is not begun anew"


@pytest.mark.parametrize("against", [None, "none"])
def test_one_that_failed_once_it_was_loaded_is_verified_again_and_not_loaded(world: World, against: str | None) -> None:
    world.first("verify", Unfit("rebuild_differs", "it does", remedy="look"))
    world.start()
    world.runner.turn()
    world.rebuilds.verify_again(1, against)
    world.runner.turn()
    assert world.steps.done == ["plan", "load", "verify", "verify"]
    assert world.steps.against == ["p1", None if against else "p1"]
    assert (world.rebuilds.state(1), world.rebuilds.projections["p2"]) == (RebuildState.READY, ("ready", 1))


def test_a_fault_of_ours_is_kept_and_is_not_the_end_of_others(world: World) -> None:
    world.first("load", ZeroDivisionError())
    for _ in range(2):
        world.start()
    with pytest.raises(ZeroDivisionError):
        world.runner.turn()
    assert (world.kept().failure_code, world.kept().state) == ("internal", RebuildState.FAILED)
    world.runner.turn()
    assert world.rebuilds.state(2) is RebuildState.READY


@pytest.mark.parametrize("step", ["plan", "load", "verify"])
def test_what_passes_is_waited_for_and_gone_on_with(world: World, step: str) -> None:
    world.first(step, Transient("postgres_away", "no answer"))
    world.start()
    world.runner.turn()
    assert world.kept().waiting == "no answer (postgres_away)"
    world.runner.turn()
    assert world.rebuilds.state(1) is RebuildState.READY
    assert world.steps.done.count("plan") == 1 + (step != "verify"), "planned again it is planned alike"
    assert world.kept().epoch == 2


@pytest.mark.parametrize("step", ["plan", "load", "verify"])
def test_a_cancel_while_it_works_leaves_nothing(world: World, step: str) -> None:
    world.first(step, lambda rebuild: world.rebuilds.ask_cancel(rebuild.rebuild_id))
    world.start()
    world.runner.turn()
    world.runner.cancel()
    assert (world.rebuilds.state(1), world.steps.done[-1]) == (RebuildState.CANCELLED, "discard")
    assert "p2" not in world.rebuilds.projections
    assert world.ends == [("cancelled", None)]


def test_a_cancel_of_one_that_waits_for_its_turn_or_has_failed(world: World) -> None:
    world.first("verify", Unfit("rebuild_differs", "it does", remedy="look"))
    world.start()
    world.runner.turn()
    assert "p2" in world.rebuilds.projections
    world.start()
    for rebuild_id in (1, 2):
        world.rebuilds.ask_cancel(rebuild_id)
    world.runner.cancel()
    assert [world.rebuilds.state(one) for one in (1, 2)] == [RebuildState.CANCELLED] * 2
    assert world.rebuilds.projections.keys() == {"p1"}


def test_while_one_works_no_other_does(world: World) -> None:
    for _ in range(2):
        world.start()

    def beside(_rebuild: Rebuild) -> None:
        world.another().turn()
        assert world.rebuilds.state(2) is RebuildState.PLANNING

    world.first("load", beside)
    world.runner.turn()
    assert [world.rebuilds.state(one) for one in (1, 2)] == [RebuildState.READY, RebuildState.PLANNING]
    world.runner.turn()
    assert world.rebuilds.state(2) is RebuildState.READY


@pytest.mark.parametrize("step", ["plan", "load", "verify", "compare"])
def test_a_runner_that_lost_it_changes_nothing(world: World, step: str) -> None:
    def lose(rebuild: Rebuild) -> None:
        world.rebuilds.change(rebuild.rebuild_id, epoch=rebuild.epoch + 1)

    world.first(step, lose)
    world.start(rule=2)
    world.runner.turn()
    assert world.rebuilds.state(1) not in {RebuildState.READY, RebuildState.FAILED, RebuildState.CANCELLED}
    assert ("p2" in _serving(world), world.ends) == (False, [])
    world.runner.turn()
    assert world.rebuilds.state(1) is RebuildState.READY


@pytest.mark.parametrize("step", ["plan", "load", "verify", "compare", "discard"])
def test_a_runner_that_stands_still_is_ended_by_the_next_and_changes_nothing_when_it_wakes(
    world: World, step: str
) -> None:
    left = list[Rebuild]()

    def stand_still(rebuild: Rebuild) -> None:
        for still_s, is_taken in ((STILL_S - 1, False), (STILL_S, True)):
            world.rebuilds.stands_still_s = still_s
            world.another().turn()
            assert (world.kept().epoch > rebuild.epoch) is is_taken
        left.append(world.kept())

    world.first(step, stand_still)
    if step == "discard":
        world.first("load", lambda rebuild: world.rebuilds.ask_cancel(rebuild.rebuild_id))
    world.start(rule=2)
    world.runner.turn()
    wanted = "cancelled" if step == "discard" else "ready"
    assert world.ends == [(wanted, None)]
    assert [world.kept()] == left
    assert left[0].state == wanted


def test_the_turn_of_one_that_stands_still_at_its_end_goes_to_the_next(world: World) -> None:
    for _ in range(2):
        world.start()

    def stand_still(_rebuild: Rebuild) -> None:
        world.rebuilds.change(1, state=RebuildState.READY)
        world.rebuilds.stands_still_s = STILL_S
        world.another().turn()
        assert world.rebuilds.state(2) is RebuildState.READY

    world.first("verify", stand_still)
    world.runner.turn()
    assert [world.rebuilds.state(one) for one in (1, 2)] == [RebuildState.READY] * 2


def test_one_that_serves_is_only_told_ready_whatever_was_asked_meanwhile(world: World) -> None:
    world.start()
    world.rebuilds.change(1, state=RebuildState.VERIFYING, compared_with="p1", cancel_asked_at=START)
    world.rebuilds.projections["p2"] = "ready", 1
    world.runner.cancel()
    assert (world.rebuilds.state(1), world.steps.done) == (RebuildState.READY, [])


def test_nobody_feeds_it(world: World) -> None:
    world.steps.is_fed = False
    world.start()
    said = world.rebuilds.kept[1].said
    world.rebuilds.offsets["p1"] = {0: (75, 3), 1: (30, 3)}
    stop_after(world, 3)
    assert "no projector feeds p2" in said[0]
    assert world.rebuilds.state(1) is RebuildState.CATCHING_UP
    world.rebuilds.offsets["p2"] = {0: (75, 1), 1: (30, 1)}
    world.another().turn()
    assert world.rebuilds.state(1) is RebuildState.READY


def test_fed_and_far_behind_it_says_how_far(world: World) -> None:
    world.start()
    world.rebuilds.offsets["p1"] = {0: (5_070, 3), 1: (30, 3)}
    stop_after(world, 3)
    assert world.rebuilds.kept[1].said[0] == "5,000 messages behind p1"


def test_a_few_behind_is_level_while_it_is_fed(world: World) -> None:
    world.start()
    world.rebuilds.offsets["p1"] = {0: (75, 3), 1: (30, 3)}
    world.first("verify", Transient("postgres_away", "no answer"))
    world.runner.turn()
    assert world.rebuilds.state(1) is RebuildState.VERIFYING


def test_what_it_was_to_be_held_against_has_gone(world: World) -> None:
    world.start()
    world.rebuilds.change(1, compared_with="p9")
    world.runner.turn()
    assert (world.kept().failure_code, "cancel" in (world.kept().remedy or "")) == ("projection_missing", True)


def test_a_stop_leaves_it_as_it_is(world: World) -> None:
    world.first("load", lambda _rebuild: world.runner.stop(0))
    world.start()
    world.runner.turn()
    assert (world.rebuilds.state(1), world.ends, world.kept().waiting) == (RebuildState.CATCHING_UP, [], None)
    world.another().turn()
    assert world.rebuilds.state(1) is RebuildState.READY


def stop_after(world: World, looks: int) -> None:
    """A turn of a runner that is told to stop once it has looked so often."""
    left = [looks]
    ask = world.rebuilds.offsets

    class Counted(dict[str, dict[int, tuple[int, int]]]):
        def get(self, name: str, default: Any = None) -> Any:
            left[0] -= name == "p2"
            if left[0] == 0:
                world.runner.stop(0)
            return super().get(name, default)

    world.rebuilds.offsets = Counted(ask)
    world.runner.turn()


def _serving(world: World) -> set[str]:
    return {name for name, (state, _) in world.rebuilds.projections.items() if state in {"live", "ready"}}


def _assert(statement: bool) -> None:
    assert statement
