"""The work of a rebuild over the real log and the real database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from chronofact.contracts.checking import CheckRunning, CheckWanted, Tally
from chronofact.contracts.rebuilding import Comparable, Rebuild, RebuildCancelled, RebuildLost
from chronofact.contracts.standstill import nobody_is_told
from chronofact.contracts.topics import Topic, facts_topic
from chronofact.contracts.verification import VerificationRunning
from chronofact.kafka.admin import Admin
from chronofact.kafka.checked_log import CheckedLog
from chronofact.postgres.check_store import CheckStore
from chronofact.postgres.shadow_store import ShadowStore, open_shadow
from chronofact.postgres.verification_store import VerificationStore
from chronofact.postgres.verify_hold import Holds
from chronofact.postgres.verify_snapshot import Snapshots
from chronofact.reconciler.check import Checker
from chronofact.reconciler.rebuild_ports import GoOn
from chronofact.reconciler.rebuilding import load as loading
from chronofact.reconciler.service import new_seed
from chronofact.reconciler.standstill import Standstills
from chronofact.reconciler.verify import Verifier
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Transient, Unfit

LOOK_S: Final = 0.5
_PASSING: Final = frozenset({"projection_stands_still", "projection_lags"})
"""What a projector that is away for a while, deployed anew say, makes of a verification: nothing that was loaded is lost."""


class RebuildSteps:
    """The steps of every rebuild of one database."""

    def __init__(self, settings: Settings, standstills: Standstills | None = None) -> None:
        self._settings = settings
        self._standstills = standstills
        self._still_ended = nobody_is_told if standstills is None else standstills.ended
        self._conninfo = settings.postgres.get_secret_value()

    def plan(self, rebuild: Rebuild) -> Rebuild:
        """Fix topic, targets and fold, and keep them."""
        return loading.plan(self._settings, rebuild)

    def load(self, rebuild: Rebuild, stopping: threading.Event) -> None:
        """Fill and index."""
        loading.load(
            self._settings, rebuild, report=lambda _parts: None, stopping=stopping, standstills=self._standstills
        )

    def discard(self, rebuild: Rebuild) -> None:
        """Remove all that it has made but its own line; a comparison of it that is open ends."""
        loading.discard(self._settings, rebuild)
        ShadowStore(self._conninfo).close(rebuild.projection)

    def ends(self) -> Mapping[int, int]:
        """The next offset of each partition of the topic."""
        return self._admin().state(self._topic()).high_watermarks

    def verify(self, rebuild: Rebuild, against: Comparable | None, go_on: GoOn) -> None:
        """Held against one of the same rule, all must be alike; of another, what no rule decides, and the check finds nothing.

        With nothing to be held against, the independent check alone decides, log and all.

        Raises:
            Unfit: ``rebuild_diverges``, ``rebuild_differs``.
        """
        if against is not None:
            self._compare_all(rebuild, against, go_on)
        if against is None or against.rule != rebuild.rule:
            self._check(rebuild, go_on)

    def compare(self, rebuild: Rebuild, old: Comparable) -> None:
        """Begin to compare it with one of another rule."""
        window_s = self._settings.shadow_window_s if rebuild.shadow_window_s is None else rebuild.shadow_window_s
        open_shadow(self._conninfo, rebuild.projection, old.projection, window_s)

    def _compare_all(self, rebuild: Rebuild, against: Comparable, go_on: GoOn) -> None:
        aspects = "all" if against.rule == rebuild.rule else "said"
        conninfo = self._conninfo
        kept = VerificationStore(conninfo, still_ended=self._still_ended)
        verifier = Verifier(kept, Snapshots(conninfo), Holds(conninfo))
        with _watched(go_on, verifier.stop) as rethrow:
            try:
                found = verifier.verify(
                    against.projection, rebuild.projection, aspects=aspects, held=rebuild.projection
                )
            except VerificationRunning as busy:
                raise Transient("verification_running", str(busy)) from None
            except Transient:
                rethrow()
                raise
            except Unfit as failure:
                if failure.code in _PASSING:
                    raise Transient(failure.code, str(failure)) from failure
                raise
        if not found.identical:
            raise Unfit(
                "rebuild_differs",
                f"verification {found.verification_id} found that {against.projection} and {rebuild.projection} differ;"
                f" differences: {found.differences:,}",
                remedy=f"chronofact check run --projection {against.projection} and --projection {rebuild.projection}"
                f" tell which one is wrong; where it is {against.projection}: chronofact rebuild verify"
                f" {rebuild.rebuild_id} --compare-with none, or once that is put right without it; else chronofact rebuild"
                f" cancel {rebuild.rebuild_id} (docs/operations/failed-rebuild.md)",
            )

    def _check(self, rebuild: Rebuild, go_on: GoOn) -> None:
        def told(_tally: Tally) -> None:
            go_on()

        store = CheckStore(self._conninfo, still_ended=self._still_ended)
        checker = Checker(store, self._log(), workers=self._settings.check_workers, progress=told)
        # no table of answers: memory_adjudicated() goes on telling those of what serves
        wanted = CheckWanted(rebuild.projection, seed=new_seed(), with_adjudicated=False)
        try:
            outcome = checker.check(wanted)
        except CheckRunning as busy:
            raise Transient("check_running", str(busy)) from None
        if outcome.tally.divergences:
            raise Unfit(
                "rebuild_diverges",
                f"the independent check found that {rebuild.projection} diverges: {outcome.tally.divergences:,} times",
                remedy=f"chronofact check show {outcome.run_id} names them; then chronofact rebuild cancel"
                f" {rebuild.rebuild_id}, or chronofact rebuild verify {rebuild.rebuild_id} once that is put right",
            )

    def _log(self) -> Callable[[], CheckedLog]:
        settings = self._settings
        return lambda: CheckedLog(settings.kafka, self._topic(), options=settings.kafka_options)

    def _topic(self) -> Topic:
        return facts_topic(self._settings.facts_topic)

    def _admin(self) -> Admin:
        return Admin(self._settings.kafka, options=self._settings.kafka_options)


@contextmanager
def _watched(go_on: GoOn, stop: Callable[[Exception], None]) -> Iterator[Callable[[], None]]:
    """Asks again and again whether a step may go on and stops it where it may not; what is yielded raises why."""
    over = threading.Event()
    why: list[Exception] = []

    def watch() -> None:
        while not over.wait(LOOK_S):
            try:
                go_on()
            except (RebuildCancelled, RebuildLost, Transient, Unfit) as reason:
                why.append(reason)
                stop(reason)
                return

    def rethrow() -> None:
        if why:
            raise why[0]

    watching = threading.Thread(target=watch, name="rebuild-verify", daemon=True)
    watching.start()
    try:
        yield rethrow
    finally:
        over.set()
        watching.join()
    rethrow()
