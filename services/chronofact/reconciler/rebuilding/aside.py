"""Messages set aside, applied one after another by the projector's own applier over the indexed tables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from chronofact.contracts.projection import Claim
from chronofact.postgres.load_work import AsideMessage, LoadWork
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projecting.apply import Applier
from chronofact.projecting.draft import Owned, Topic
from chronofact.projecting.parking import ParkingLimit, ParkingLimits, ParkingMeter
from chronofact.reconciler.rebuilding.part import Fold
from chronofact.runtime.failures import Fenced, Transient, Unfit

MESSAGES_MAX: Final = 500
CACHE_BYTES_MAX: Final = 64 * 2**20


class GapMeter(ParkingMeter):
    """A meter that sees only what was set aside: where offsets are missing, something was applied, and a row ended."""

    def __init__(
        self, parked: Iterable[int] = (), *, gaps: list[int], limits: ParkingLimits, next_offset: int = 0
    ) -> None:
        super().__init__(parked, next_offset=next_offset, limits=limits)
        self._gaps = gaps
        self._last = next_offset - 1

    def copy(self) -> GapMeter:
        """An independent meter."""
        twin = GapMeter(self._parked, gaps=self._gaps, limits=self._limits)
        twin._row, twin._last = self._row, self._last
        return twin

    def park(self, partition: int, offset: int) -> None:
        """Count one more.

        Raises:
            ParkingLimit: as the projector would.
        """
        if bisect_left(self._gaps, offset + 1) > bisect_left(self._gaps, self._last + 1):
            self._row = 0
        self._last = offset
        super().park(partition, offset)


class AsideLoad:
    """Applies what is set aside of one partition."""

    def __init__(
        self,
        work: LoadWork,
        store: ProjectionStore,
        partition: int,
        *,
        fold: Fold,
        limits: ParkingLimits,
        monotonic: Callable[[], float],
    ) -> None:
        self._work = work
        self._store = store
        self._partition = partition
        self._fold = fold
        self._limits = limits
        topic = Topic(fold.topic_id, fold.partitions)
        self._applier = Applier(
            store, lambda: topic, cache_bytes_max=CACHE_BYTES_MAX, monotonic=monotonic, rule=fold.rule
        )

    def apply(self, target: int) -> None:
        """From the checkpoint to the end.

        Raises:
            Unfit: ``parking_limit``.
            Transient: begin anew.
            RebuildLost, RebuildCancelled: it is not ours any more.
        """
        claim = self._store.claim(self._fold.topic_id, self._partition, watermarks=(0, target))
        gaps: list[int] = []
        owned = self._owned(claim, gaps)
        last = claim.next_offset - 1
        try:
            while messages := self._work.aside(
                self._partition, owned[self._partition].next_offset, messages_max=MESSAGES_MAX
            ):
                last = note_gaps(messages, last, gaps)
                self._applier.apply(owned, messages)
        except ParkingLimit as limit:
            raise Unfit(
                "parking_limit",
                str(limit),
                remedy="put it right, or raise CHRONOFACT_PARKED_SHARE_MAX or CHRONOFACT_PARKED_ROW_MAX",
            ) from limit
        except Fenced as fenced:
            raise Transient("fenced", str(fenced)) from fenced

    def _owned(self, claim: Claim, gaps: list[int]) -> dict[int, Owned]:
        meter = GapMeter(claim.parked_offsets, gaps=gaps, limits=self._limits, next_offset=claim.next_offset)
        owned = Owned(
            claim.epoch,
            claim.next_offset,
            claim.fact_no_last,
            set(claim.held),
            meter,
            claim.parked,
            dict(claim.dropped),
        )
        return {self._partition: owned}


def note_gaps(messages: Sequence[AsideMessage], last: int, gaps: list[int]) -> int:
    """Offsets in front of which some are missing; how far that is known."""
    for message in messages:
        if message.offset != last + 1:
            gaps.append(message.offset)
        last = message.offset
    return last
