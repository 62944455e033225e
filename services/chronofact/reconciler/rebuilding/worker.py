"""One process's share of a rebuild: partitions to load, tables to index, messages that were set aside."""

from __future__ import annotations

import time
from typing import Final

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.whole_log import WholeLog
from chronofact.postgres.load_work import LoadWork, session_of_workers
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projecting.parking import ParkingLimits
from chronofact.reconciler.rebuilding.aside import AsideLoad
from chronofact.reconciler.rebuilding.part import Fold, Limits, PartLoad
from chronofact.reconciler.rebuilding.patience import Patience
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import ConstraintBroken, Corruption, Unfit
from chronofact.runtime.fingerprint import fold_fingerprint

IDLE_S: Final = 0.05


class Worker:
    """One process's share of a rebuild."""

    def __init__(self, settings: Settings, work: LoadWork, patience: Patience) -> None:
        self._settings = settings
        self._work = work
        self._patience = patience
        topic = facts_topic(settings.facts_topic, settings.facts_partitions)
        self._log = WholeLog(settings.kafka, topic, options=settings.kafka_options)
        self._parking = ParkingLimits(settings.parked_share_max, settings.parked_row_max)
        topic_id, fingerprint, self._targets, rule = patience(work.planned)
        if fold_fingerprint(rule) != fingerprint:
            raise Unfit(
                "fold_changed", "this worker's code folds otherwise", remedy="cancel the rebuild and start anew"
            )
        self._fold = Fold(topic_id, topic.partitions, rule)

    def run(self) -> None:
        """Until nothing is left to do, for this worker or another.

        Raises:
            RebuildLost, RebuildCancelled, Unfit, Corruption: it has to end before that.
        """
        self._load()
        while not self._patience(self._work.is_indexed):
            if not self._index():
                time.sleep(IDLE_S)
                self._load()
        while not self._patience(lambda: self._work.is_applied(self._fold.topic_id)):
            if not self._patience(self._apply_aside):
                time.sleep(IDLE_S)  # whoever has the rest may die, or be dead already

    def _load(self) -> None:
        limits = Limits(
            self._settings.rebuild_bucket_bytes,
            self._settings.rebuild_memory_bytes,
            self._settings.rebuild_folder,
            self._parking,
        )
        while (claim := self._patience(self._work.claim)) is not None:
            PartLoad(self._work, self._log, claim, fold=self._fold, limits=limits, patiently=self._patience).load()
        self._log.close()

    def _index(self) -> bool:
        """One table's indexes; False where there is none to be made by this worker now."""
        relations = self._patience(self._work.relations)
        first = [one for one in relations if not one[1]] or relations
        return any(
            self._patience(lambda one=one: self._indexed(*one))  # type: ignore[misc]
            for one in first
        )

    def _indexed(self, relation: str, is_over_leaves: bool) -> bool:
        try:
            return self._work.index(relation, is_over_leaves=is_over_leaves)
        except ConstraintBroken as broken:
            raise Corruption(f"what was loaded into {relation} breaks a constraint: {broken}") from broken

    def _apply_aside(self) -> bool:
        """One partition's messages that were set aside; False where others have those that are left."""
        with self._work.aside_partition(self._fold.topic_id) as partition:
            if partition is None:
                return False
            conninfo = self._settings.postgres.get_secret_value()
            session = session_of_workers(self._work.rebuild_id)
            store = ProjectionStore(conninfo, self._work.projection, name=session, is_builder=True)
            aside = AsideLoad(
                self._work, store, partition, fold=self._fold, limits=self._parking, monotonic=time.monotonic
            )
            try:
                aside.apply(self._targets[partition])
            finally:
                store.close()
        return True
