"""Events as the writer would append them, for tests that need no writer."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID, uuid5

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.payload import payload_of
from chronofact.domain.canonical import Json, canonical, digest
from chronofact.domain.events import Cardinality, FactAsserted, Happening, Lifecycle, Succession, Supersession
from chronofact.domain.identity import DEVELOPMENT_TENANT, FactIdentity, event_id_of, fact_id_of, version_id_of
from chronofact.domain.interval import Interval, parse_instant
from chronofact.kafka.partitioning import partition_of

PARTITIONS = 12


class Said(NamedTuple):
    """One message of the facts topic, before it has an offset."""

    partition: int
    key: bytes
    value: bytes
    event_id: bytes
    version_id: bytes | None


class Fact:
    """One fact, and what is said of it."""

    def __init__(self, subject: str, key: str = "package_manager", *, tenant: UUID = DEVELOPMENT_TENANT) -> None:
        self.identity = FactIdentity(tenant, uuid5(tenant, subject), "user", "self", key)
        self.canonical = self.identity.canonical()
        self.fact_id = fact_id_of(self.identity)
        self.partition = partition_of(self.fact_id, PARTITIONS)
        self.label = subject

    def asserts(
        self,
        value: Json,
        valid_from: str | int | None = None,
        valid_to: str | int | None = None,
        *,
        source: str = "test",
        lifecycle: Lifecycle = Lifecycle.ACTIVE,
        cardinality: Cardinality = Cardinality.ONE,
        succession: Succession = Succession.EXPLICIT,
        supersedes: tuple[Supersession, ...] = (),
        import_time: int | None = None,
        derived: bytes | None = None,
        valid_from_known: bool = True,
        confidence: float | None = None,
    ) -> Said:
        spelled = canonical(value)
        start, end = _instant(valid_from), _instant(valid_to)
        evidence = digest(source.encode())
        version_id = version_id_of(
            self.fact_id, value=spelled, valid_from=start, valid_to=end, source_id=source, source_hash=evidence
        )
        what = FactAsserted(
            version_id,
            spelled,
            digest(spelled),
            Interval(start, end),
            source,
            evidence,
            lifecycle,
            cardinality,
            succession,
            confidence,
            supersedes,
            valid_from_known=valid_from_known,
        )
        stamps = {"value_hash": what.value_hash, "derived": derived}
        return self.says(what, version_id=version_id, import_time=import_time, **stamps)

    def says(
        self,
        what: Happening,
        *,
        version_id: bytes | None = None,
        value_hash: bytes | None = None,
        import_time: int | None = None,
        derived: bytes | None = None,
    ) -> Said:
        payload, kind = payload_of(what), type(what).__name__
        event_id = event_id_of(self.fact_id, kind, payload)
        event = FactEvent(
            event_id,
            kind,
            self.canonical,
            self.label,
            payload,
            derived,
            version_id=version_id,
            value_hash=value_hash,
            source_hash=what.source_hash if isinstance(what, FactAsserted) else None,
            import_time=import_time,
        )
        return Said(self.partition, self.fact_id, encode_event(event), event_id, version_id)


def _instant(said: str | int | None) -> int | None:
    return parse_instant(said) if isinstance(said, str) else said
