"""Rebuilds in memory and steps by script, with the promises of reconciler/rebuild_ports.py."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from chronofact.contracts.rebuilding import (
    Comparable,
    Rebuild,
    RebuildCancelled,
    RebuildLost,
    RebuildPart,
    RebuildState,
    RebuildTold,
    RebuildWanted,
)
from chronofact.contracts.standstill import STILL_S
from chronofact.reconciler.rebuild_ports import GoOn, Hold
from chronofact.runtime.failures import Transient

START = datetime(2026, 1, 1, tzinfo=UTC)
FEEDING = {RebuildState.CATCHING_UP, RebuildState.VERIFYING, RebuildState.FAILED}


class Kept:
    """What the database would keep of one rebuild and its projection."""

    def __init__(self, rebuild_id: int, projection: str, rule: int) -> None:
        self.rebuild = Rebuild(rebuild_id, projection, rule, RebuildState.PLANNING, 2, 0, START)
        self.ways = [RebuildState.PLANNING]
        self.said: list[str] = []


class MemoryRebuilds:
    """All of them, and the projections that there are: state and rule by name, checkpoints, the default route."""

    def __init__(self) -> None:
        self.kept: dict[int, Kept] = {}
        self.projections: dict[str, tuple[str, int]] = {"p1": ("live", 1)}
        self.offsets: dict[str, dict[int, tuple[int, int]]] = {"p1": {0: (70, 3), 1: (30, 3)}}
        self.route: str | None = "p1"
        self.at_work: int | None = None
        self.stands_still_s: float | None = None
        """For how long whoever is at work has given no sign; None: it gives them."""
        self.ended: set[tuple[int, int]] = set()
        """Rebuild and epoch of runners whose session was ended."""

    def begin(self, wanted: RebuildWanted, *, workers: int) -> RebuildTold:
        rebuild_id = len(self.kept) + 1
        self.kept[rebuild_id] = Kept(rebuild_id, wanted.projection or f"p{rebuild_id + 1}", wanted.rule or 1)
        return self._told(rebuild_id)

    def rebuilds(self, *, before: int | None = None, limit: int = 100) -> list[RebuildTold]:
        return [self._told(one) for one in sorted(self.kept, reverse=True)][:limit]

    def rebuild(self, rebuild_id: int) -> tuple[RebuildTold, list[RebuildPart]] | None:
        return (self._told(rebuild_id), []) if rebuild_id in self.kept else None

    def counts(self) -> Mapping[RebuildState, int]:
        return {}

    def unfinished(self) -> Sequence[int]:
        return [one for one, kept in sorted(self.kept.items()) if not kept.rebuild.state.is_over]

    def cancels(self) -> Sequence[int]:
        done = {RebuildState.READY, RebuildState.CANCELLED}
        found = sorted(self.kept.items())
        return [one for one, kept in found if kept.rebuild.cancel_asked_at and kept.rebuild.state not in done]

    def ask_cancel(self, rebuild_id: int) -> None:
        self.change(rebuild_id, cancel_asked_at=START)

    def verify_again(self, rebuild_id: int, compare_with: str | None) -> None:
        kept = self.kept[rebuild_id]
        compared_with = compare_with or kept.rebuild.compared_with
        self.change(
            rebuild_id, state=RebuildState.CATCHING_UP, compared_with=compared_with, failure_code=None, failure=None
        )
        self.projections[kept.rebuild.projection] = "catching_up", kept.rebuild.rule

    @contextmanager
    def take(self, rebuild_id: int, *, to_build: bool = True) -> Iterator[Hold | None]:
        if self.at_work == rebuild_id or (to_build and self.at_work is not None):
            if self.stands_still_s is None or self.stands_still_s < STILL_S:
                yield None
                return
            self.ended.add((self.at_work, self.kept[self.at_work].rebuild.epoch))
            self.at_work = self.stands_still_s = None
        before, self.at_work = self.at_work, rebuild_id
        self.change(rebuild_id, epoch=self.kept[rebuild_id].rebuild.epoch + 1)
        try:
            yield MemoryHold(self, self.kept[rebuild_id].rebuild)
        finally:
            self.at_work = before

    def change(self, rebuild_id: int, **changed: object) -> None:
        kept = self.kept[rebuild_id]
        kept.rebuild = replace(kept.rebuild, **changed)  # type: ignore[arg-type]

    def state(self, rebuild_id: int) -> RebuildState:
        return self.kept[rebuild_id].rebuild.state

    def _told(self, rebuild_id: int) -> RebuildTold:
        return RebuildTold(self.kept[rebuild_id].rebuild, 0, 0, 0, 0, 0, 0)


class MemoryHold:
    """One of them in a runner's hands."""

    def __init__(self, all_of_them: MemoryRebuilds, rebuild: Rebuild) -> None:
        self._all = all_of_them
        self.rebuild = rebuild

    def _mine(self) -> Kept:
        kept = self._all.kept[self.rebuild.rebuild_id]
        if (self.rebuild.rebuild_id, self.rebuild.epoch) in self._all.ended:
            raise Transient("postgres_away", "the connection broke")
        if kept.rebuild.epoch != self.rebuild.epoch:
            raise RebuildLost(self.rebuild.rebuild_id)
        return kept

    def look_again(self) -> None:
        self.rebuild = self._mine().rebuild

    def beat(
        self, *, phase: str | None = None, seconds: float = 0.0, waiting: str | None = None, against: str | None = None
    ) -> None:
        kept = self._mine()
        phases = dict(kept.rebuild.phases)
        if phase is not None:
            phases[phase] = phases.get(phase, 0.0) + seconds
        named = against or kept.rebuild.compared_with
        kept.rebuild = replace(kept.rebuild, phases=phases, waiting=waiting, compared_with=named)
        if waiting is not None and waiting not in kept.said:
            kept.said.append(waiting)
        if kept.rebuild.cancel_asked_at is not None:
            raise RebuildCancelled

    def move(self, state: RebuildState) -> None:
        self._move(state)

    def fail(self, code: str, failure: str, remedy: str) -> None:
        self._move(RebuildState.FAILED)
        self._all.change(self.rebuild.rebuild_id, failure_code=code, failure=failure, remedy=remedy)

    def end(self) -> None:
        self._mine()
        self._project(RebuildState.FAILED)

    def serve(self) -> None:
        self._mine()
        state = "ready" if self._all.route else "live"
        self._all.projections[self.rebuild.projection] = state, self.rebuild.rule
        self._all.route = self._all.route or self.rebuild.projection

    def is_serving(self) -> bool:
        return self.rule_of(self.rebuild.projection) is not None

    def comparable(self) -> Comparable | None:
        rule = None if self.rebuild.projection == "p1" else self.rule_of("p1")
        return None if rule is None else Comparable("p1", rule)

    def rule_of(self, projection: str) -> int | None:
        state, rule = self._all.projections.get(projection, ("", 0))
        return rule if state in {"live", "ready"} else None

    def checkpoints(self, projection: str) -> Mapping[int, tuple[int, int]]:
        return self._all.offsets.get(projection, {})

    def _move(self, state: RebuildState) -> None:
        kept = self._mine()
        kept.rebuild = replace(kept.rebuild, state=state, waiting=None)
        kept.ways.append(state)
        if state in FEEDING:
            self._project(state)

    def _project(self, state: RebuildState) -> None:
        found = self._all.projections.get(self.rebuild.projection)
        if found is not None and found[0] not in {"live", "ready"}:
            self._all.projections[self.rebuild.projection] = state.value, found[1]


class ScriptedSteps:
    """Each step does something first, if it is told so; ``done`` names the steps in their order."""

    def __init__(self, rebuilds: MemoryRebuilds) -> None:
        self._rebuilds = rebuilds
        self.first: dict[str, Callable[[Rebuild], None]] = {}
        self.done: list[str] = []
        self.against: list[str | None] = []
        self.at_end = {0: 70, 1: 30}
        self.is_fed = True

    def plan(self, rebuild: Rebuild) -> Rebuild:
        self._begin("plan", rebuild)
        self._rebuilds.change(rebuild.rebuild_id, fingerprint="of the fold")
        return replace(rebuild, fingerprint="of the fold")

    def load(self, rebuild: Rebuild, stopping: threading.Event) -> None:
        self._begin("load", rebuild)
        self._rebuilds.projections[rebuild.projection] = "building", rebuild.rule
        for state in (RebuildState.BUILDING, RebuildState.INDEXING):
            self._rebuilds.change(rebuild.rebuild_id, state=state)
            self._rebuilds.kept[rebuild.rebuild_id].ways.append(state)
        self._rebuilds.offsets[rebuild.projection] = {one: (end, int(self.is_fed)) for one, end in self.at_end.items()}

    def discard(self, rebuild: Rebuild) -> None:
        self._begin("discard", rebuild)
        self._rebuilds.projections.pop(rebuild.projection, None)
        self._rebuilds.offsets.pop(rebuild.projection, None)

    def ends(self) -> Mapping[int, int]:
        return self.at_end

    def verify(self, rebuild: Rebuild, against: Comparable | None, go_on: GoOn) -> None:
        self.against.append(None if against is None else against.projection)
        self._begin("verify", rebuild)
        go_on()

    def compare(self, rebuild: Rebuild, old: Comparable) -> None:
        self._begin("compare", rebuild)

    def _begin(self, step: str, rebuild: Rebuild) -> None:
        self.done.append(step)
        if step in self.first:
            self.first.pop(step)(rebuild)
            if self._rebuilds.kept[rebuild.rebuild_id].rebuild.epoch != rebuild.epoch:
                raise RebuildLost(rebuild.rebuild_id)
