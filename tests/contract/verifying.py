"""Verifications of projections that a test filled by itself: nobody feeds them, so nobody need be held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection

from chronofact.contracts.verification import Aspects, Difference, VerifyTally
from chronofact.postgres.verification_store import VerificationStore
from chronofact.postgres.verify_side import VerifySide
from chronofact.postgres.verify_snapshot import Snapshots
from chronofact.reconciler.verify import Verified, Verifier
from chronofact.reconciler.verify_parts import Comparer
from chronofact.reconciler.verify_sums import Spread, Sums
from chronofact.reconciler.verify_telling import Telling
from tests.contract.memory_log import TOPIC_ID


class NobodyFeeds:
    """A hold that is never needed."""

    def hold(self, projection: str, stop_at: Mapping[int, int], *, for_s: float) -> None:
        raise AssertionError(f"{projection} is not fed")

    def let_go(self, projection: str) -> None:
        pass


def verified(
    address: str, left: str = "p1", right: str = "p2", *, aspects: str = "all"
) -> tuple[Verified, list[Difference]]:
    """What a verification says, and what it keeps."""
    store = VerificationStore(address)
    found = Verifier(store, Snapshots(address), NobodyFeeds()).verify(left, right, aspects=aspects)
    return found, [one for _, one in store.differences(found.verification_id, after=0, limit=10_000)]


class Found:
    """A run that keeps what is found in memory."""

    verification_id = 1

    def __init__(self) -> None:
        self.differences: list[Difference] = []

    def took_cut(self, topic_id: UUID | None, next_offsets: Mapping[int, int]) -> None:
        pass

    def progress(self, tally: VerifyTally) -> None:
        pass

    def found(self, differences: Sequence[Difference]) -> None:
        self.differences.extend(differences)

    def finish(self, tally: VerifyTally) -> None:
        pass


def compared(
    connection: Connection[Any], partitions: Iterable[int], *, aspects: Aspects = Aspects.ALL
) -> tuple[VerifyTally, list[Difference]]:
    """p1 and p2 held against each other as this transaction sees them."""
    run = Found()
    telling = Telling(run, lambda _tally: None, lambda: None)
    left, right = (VerifySide(connection, name, UUID(bytes=TOPIC_ID), aspects, partitions=12) for name in ("p1", "p2"))
    sums = Sums(left.heads(), right.heads(), aspects, partitions=12)
    comparer = Comparer(left, right, aspects, sums, telling)
    comparer.places()
    looked_at = set(partitions)
    for unit in sums.units():
        if looked_at if isinstance(unit, Spread) else unit.partition in looked_at:
            comparer.sum(unit)
    for partition, tables in sums.differing().items():
        if partition in looked_at:
            comparer.walk(partition, tables)
    telling.tell()
    return telling.tally, run.differences
