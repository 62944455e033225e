"""Compares two projections again and again while a window is open: what differs is judged, classed and kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from chronofact.contracts.shadow import Candidate, Difference, Shadow, Swept, Verdict
from chronofact.reconciler.differing import differences
from chronofact.reconciler.shadow_ports import Shadows, Sweep
from chronofact.runtime.failures import Transient

KEPT_FACTS_MAX: Final = 50_000
"""Facts of a comparison that lines are kept of; further ones count as unknown."""
JUDGED_MAX: Final = 10_000
"""Facts that one sweep judges; the next one goes on."""
AT_ONCE: Final = 500


def sweep(
    shadows: Shadows,
    shadow: Shadow,
    *,
    kept_max: int = KEPT_FACTS_MAX,
    judged_max: int = JUDGED_MAX,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Swept:
    """One look at both projections, in one snapshot.

    Raises:
        SweepRunning: somebody else is at it.
        Transient: Postgres is away; nothing was written.
        Unfit: ``projection_missing``, ``projection_not_fed``: it can't go on.
    """
    started = time.monotonic()
    with shadows.sweep(shadow) as found:
        candidates = found.candidates(kept_max=kept_max, judged_max=judged_max)
        for at in range(0, len(candidates), AT_ONCE):
            if is_stopping():
                raise Transient("shutting_down", "the process is about to stop")
            found.keep(_told(found, candidates[at : at + AT_ONCE]))
        found.finish()
        counted = (found.facts, found.in_flight, found.differing)
    return Swept(*counted, len(candidates), time.monotonic() - started)


def _told(found: Sweep, facts: Sequence[Candidate]) -> list[tuple[Candidate, list[Difference]]]:
    verdicts = found.judged(facts)
    old_nos = [one.old_no for one in facts if one.old_no is not None]
    new_nos = [one.new_no for one in facts if one.new_no is not None]
    old, new = found.pictures("old", old_nos), found.pictures("new", new_nos)
    old_behind, new_behind = found.behind("old", old_nos), found.behind("new", new_nos)
    return [
        (
            fact,
            differences(
                fact,
                verdicts.get(fact.new_no or 0, Verdict(is_judged=False)),
                old=old.get(fact.old_no or 0, ()),
                new=new.get(fact.new_no or 0, ()),
                behind=(old_behind.get(fact.old_no or 0, {}), new_behind.get(fact.new_no or 0, {})),
            ),
        )
        for fact in facts
    ]
