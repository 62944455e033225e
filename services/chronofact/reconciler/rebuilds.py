"""The life of a rebuild: loaded, caught up, verified, ready; gone on with after a crash, failed with a remedy, or cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from chronofact.contracts.error_codes import remedy_of
from chronofact.contracts.rebuilding import NOTHING, Comparable, RebuildCancelled, RebuildLost, RebuildState
from chronofact.domain.errors import Rejected
from chronofact.reconciler.rebuild_ports import Hold, Rebuilds, Steps
from chronofact.runtime.failures import ConstraintBroken, Corruption, Transient, Unfit
from chronofact.runtime.logging import place_of

BEAT_S: Final = 0.5
LEVEL_MESSAGES: Final = 1_000
"""So far behind at most is level: the verification waits for the rest."""
SILENT_S: Final = 10.0
"""A projection that is behind and stands still for so long is fed by nobody."""
PAUSE_S: Final = 2.0
_LOADED_IN: Final = {RebuildState.PLANNING, RebuildState.BUILDING, RebuildState.INDEXING}
_DAMAGE: Final = (
    "keep the log of the reconciler, cancel the rebuild, and check the live projection: chronofact check run"
)
_FAULT: Final = (
    "a fault of ours: keep the log of the reconciler and report it; then cancel the rebuild and start another"
)

Ended = Callable[[RebuildState, str | None], None]
"""Told of each end, with the code of a failure."""


class RebuildRunner:
    """Works on one rebuild at a time, in whatever thread calls ``turn``."""

    def __init__(
        self,
        rebuilds: Rebuilds,
        steps: Steps,
        *,
        ended: Ended = lambda _state, _code: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rebuilds = rebuilds
        self._steps = steps
        self._ended = ended
        self._monotonic = monotonic
        self._stopping = threading.Event()
        self._is_idle = threading.Event()
        self._is_idle.set()
        self._log = structlog.get_logger()

    def turn(self) -> None:
        """Goes on with the oldest rebuild that is not over, to its end; nothing where another runner is at work."""
        self._is_idle.clear()
        try:
            for rebuild_id in self._rebuilds.unfinished():
                if self._stopping.is_set():
                    return
                with self._rebuilds.take(rebuild_id) as hold:
                    if hold is not None:
                        self._run(hold)
                        return
        finally:
            self._is_idle.set()

    def cancel(self) -> None:
        """Removes what is left of cancelled rebuilds that nobody works on."""
        for rebuild_id in self._rebuilds.cancels():
            with self._rebuilds.take(rebuild_id, to_build=False) as hold:
                if hold is not None:
                    self._run(hold) if hold.is_serving() else self._remove(hold)

    def stop(self, timeout_s: float) -> None:
        """Ends the work soon; the next runner goes on from there."""
        self._stopping.set()
        self._is_idle.wait(timeout_s)

    def _run(self, hold: Hold) -> None:
        rebuild = hold.rebuild
        self._log.info("rebuild_taken", rebuild=rebuild.rebuild_id, projection=rebuild.projection, state=rebuild.state)
        try:
            self._work_or_remove(hold)
        except RebuildLost:
            self._log.warning("rebuild_lost", rebuild=rebuild.rebuild_id, projection=rebuild.projection)
        except Transient as failure:
            self._pause(hold, failure)
        except Unfit as failure:
            message = str(failure).removesuffix(f"; {failure.remedy}")
            self._fail(hold, failure.code, message, failure.remedy)
        except Rejected as refusal:
            self._fail(hold, refusal.code, refusal.message, None)
        except (Corruption, ConstraintBroken) as failure:
            self._fail(hold, "rebuild_contradicts", str(failure), _DAMAGE)
        except Exception as fault:
            self._fail(hold, "internal", place_of(fault), _FAULT)  # else it would begin anew for ever
            raise

    def _work_or_remove(self, hold: Hold) -> None:
        try:
            if hold.is_serving():
                self._serve(hold, _against(hold))
            else:
                self._work(hold)
        except RebuildCancelled:
            self._remove(hold)

    def _work(self, hold: Hold) -> None:
        going = _Going(hold, self._stopping, self._monotonic)
        if hold.rebuild.state in _LOADED_IN:
            self._load(hold, going)
            hold.look_again()
            self._move(hold, RebuildState.CATCHING_UP)
        going.enter("catch_up_s")
        against = _against(hold)
        going.on(against=against)
        if hold.rebuild.state is RebuildState.CATCHING_UP:
            self._catch_up(hold, going, against)
            going.leave()
            self._move(hold, RebuildState.VERIFYING)
        going.enter("verify_s")
        self._steps.verify(hold.rebuild, against, going.on)
        going.leave()
        self._serve(hold, against)

    def _load(self, hold: Hold, going: _Going) -> None:
        if hold.rebuild.state is RebuildState.PLANNING:
            going.enter("plan_s")
            hold.rebuild = self._steps.plan(hold.rebuild)
            going.leave()
        self._steps.load(hold.rebuild, self._stopping)

    def _serve(self, hold: Hold, against: Comparable | None) -> None:
        if against is not None and against.rule != hold.rebuild.rule:
            self._steps.compare(hold.rebuild, against)
        hold.serve()
        self._move(hold, RebuildState.READY)
        self._ended(RebuildState.READY, None)

    def _catch_up(self, hold: Hold, going: _Going, against: Comparable | None) -> None:
        """Until it is fed, and about level with what it is held against, or with the log's end."""
        before, moved_at = (-1, False), self._monotonic()
        while True:
            mine = hold.checkpoints(hold.rebuild.projection)
            goal = self._goal(hold, against)
            behind = sum(max(0, end - mine.get(partition, (0, 0))[0]) for partition, end in goal.items())
            now = self._monotonic()
            is_fed = all(mine.get(partition, (0, 0))[1] > 0 for partition in goal)
            if (found := (sum(offset for offset, _ in mine.values()), is_fed)) != before:
                before, moved_at = found, now
            is_still = behind > 0 and now - moved_at >= SILENT_S
            if is_fed and behind <= LEVEL_MESSAGES and not is_still:
                return
            going.on(waiting=_waiting(hold, against, behind, is_fed=is_fed and not is_still))
            self._stopping.wait(BEAT_S)

    def _goal(self, hold: Hold, against: Comparable | None) -> dict[int, int]:
        if against is None:
            return dict(self._steps.ends())
        return {partition: offset for partition, (offset, _) in hold.checkpoints(against.projection).items()}

    def _move(self, hold: Hold, state: RebuildState) -> None:
        hold.move(state)
        hold.look_again()
        rebuild = hold.rebuild
        self._log.info("rebuild_moved", rebuild=rebuild.rebuild_id, projection=rebuild.projection, state=state)

    def _pause(self, hold: Hold, failure: Transient) -> None:
        if self._stopping.is_set():
            return
        rebuild, told = hold.rebuild, f"{failure} ({failure.code})"
        self._log.warning("rebuild_waits", rebuild=rebuild.rebuild_id, code=failure.code, message=str(failure))
        with suppress(RebuildCancelled, RebuildLost, Transient):
            hold.beat(waiting=told)
        self._stopping.wait(PAUSE_S)

    def _fail(self, hold: Hold, code: str, message: str, remedy: str | None) -> None:
        rebuild = hold.rebuild
        self._log.error("rebuild_failed", rebuild=rebuild.rebuild_id, code=code, message=message)
        with suppress(RebuildLost):
            hold.fail(code, message, remedy or remedy_of(code) or _FAULT)
            self._ended(RebuildState.FAILED, code)

    def _remove(self, hold: Hold) -> None:
        try:
            hold.end()
            self._steps.discard(hold.rebuild)
            self._move(hold, RebuildState.CANCELLED)
        except RebuildLost:
            return
        self._ended(RebuildState.CANCELLED, None)


class _Going:
    """Tells now and then that a rebuild goes on, and adds up what its phase takes."""

    def __init__(self, hold: Hold, stopping: threading.Event, monotonic: Callable[[], float]) -> None:
        self._hold = hold
        self._stopping = stopping
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._phase: str | None = None
        self._counted_to = monotonic()
        self._said: str | None = None

    def enter(self, phase: str) -> None:
        """The seconds from now on are this phase's."""
        self._phase, self._counted_to, self._said = phase, self._monotonic(), None

    def leave(self) -> None:
        """The phase is over."""
        self._beat(None, None)

    def on(self, *, waiting: str | None = None, against: Comparable | None = None) -> None:
        """Raises RebuildCancelled, RebuildLost, or Transient where the process is about to stop."""
        if self._stopping.is_set():
            raise Transient("shutting_down", "the process is about to stop")
        with self._lock:
            if waiting == self._said and against is None and self._monotonic() - self._counted_to < BEAT_S:
                return
            self._said = waiting
            self._beat(waiting, against)

    def _beat(self, waiting: str | None, against: Comparable | None) -> None:
        now = self._monotonic()
        seconds, self._counted_to = now - self._counted_to, now
        named = None if against is None else against.projection
        self._hold.beat(phase=self._phase, seconds=seconds, waiting=waiting, against=named)


def _against(hold: Hold) -> Comparable | None:
    """What it is held against: the one that was named when it began, else what serves."""
    named = hold.rebuild.compared_with
    if named == NOTHING:
        return None
    if named is None:
        return hold.comparable()
    rule = hold.rule_of(named)
    if rule is None:
        raise Unfit(
            "projection_missing",
            f"{named}, against which it was to be verified, does not serve any more",
            remedy=f"chronofact rebuild verify {hold.rebuild.rebuild_id} --compare-with another or none; or cancel it",
        )
    return Comparable(named, rule)


def _waiting(hold: Hold, against: Comparable | None, behind: int, *, is_fed: bool) -> str:
    if not is_fed:
        name = hold.rebuild.projection
        return f"no projector feeds {name} yet; one that runs begins within seconds, else start `chronofact projector`"
    return f"{behind:,} messages behind {against.projection if against else 'the end of the log'}"
