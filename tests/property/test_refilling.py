"""What a projection keeps of the log gives messages from which the very same is made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random
from typing import NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.codec import FactEvent, decode_event, encode_event
from chronofact.contracts.counting import recorded_at_of
from chronofact.contracts.payload import payload_of
from chronofact.contracts.refilling import KeptEvent, KeptMessage, Stamped, Stamps, said_again
from chronofact.domain.errors import Rejected
from chronofact.domain.events import EventDropped, FactAsserted, Happening
from chronofact.domain.identity import FactIdentity, event_id_of, fact_id_of
from tests.property.strategies import PROFILES, random_history

NOW_MS = 1_700_000_000_000
STRANGER = b'["00000000-0000-0000-0000-000000000001","00000000-0000-0000-0000-000000000002","user","self","k"]'
IDENTITIES = [FactIdentity(UUID(int=1), UUID(int=2), "repo", f"acme/ж{number}", "a.key") for number in range(3)]


class Lying(NamedTuple):
    """A message of the old topic."""

    offset: int
    value: bytes
    appended_at: int


@dataclass
class Projection:
    """What a projector keeps of one partition, by the plainest reading of its rules."""

    events: list[KeptEvent] = field(default_factory=list)
    heads: dict[bytes, int] = field(default_factory=dict)
    labels: dict[bytes, str] = field(default_factory=dict)
    known: set[tuple[bytes, bytes]] = field(default_factory=set)

    def apply(self, message: Lying, key: bytes) -> None:
        event = decode_event(message.value)
        if (key, event.event_id) in self.known:
            return
        self.known.add((key, event.event_id))
        recorded_at = recorded_at_of(message.appended_at, event)
        recorded_at = max(recorded_at, self.heads.get(key, recorded_at))
        self.heads[key] = recorded_at
        if event.subject_label is not None:
            self.labels.setdefault(key, event.subject_label)
        digest = sha256(event.payload).digest()
        self.events.append(
            KeptEvent(
                message.offset,
                key,
                event.identity,
                None,
                event.event_id,
                event.kind,
                recorded_at,
                event.payload,
                digest,
            )
        )

    def kept(self) -> list[KeptEvent]:
        """With each fact's label at its first event, as the tables are read."""
        labels = dict(self.labels)
        return [one._replace(label=labels.pop(one.fact_id, None)) for one in self.events]


def written(fact_id: bytes, identity: bytes, what: Happening, rng: Random, now_ms: int) -> FactEvent:
    """As a writer would; a third of them imported, back to before 1970."""
    payload, kind = payload_of(what), type(what).__name__
    import_time = rng.choice((None, None, rng.randrange(-(10**15), now_ms * 1_000 + 10**6)))
    claim = what if isinstance(what, FactAsserted) else None
    return FactEvent(
        event_id_of(fact_id, kind, payload),
        kind,
        identity,
        rng.choice((None, "user:ann", "søren")),
        payload,
        None,
        None if claim is None else claim.version_id,
        None if claim is None else claim.value_hash,
        None if claim is None else claim.source_hash,
        import_time,
        rng.choice((None, "a trace")),
    )


def log_of(rng: Random, size: int) -> list[tuple[bytes, Lying]]:
    """One partition: some facts through each other, with repeats and gaps, append times that stand and go on."""
    said = []
    for identity in IDENTITIES:
        history = random_history(rng, size, rng.choice(sorted(PROFILES)))
        said.append([(identity, one.what) for one in history if not isinstance(one.what, EventDropped)])
    log: list[tuple[bytes, Lying]] = []
    now_ms, offset = NOW_MS, 0
    while any(said):
        identity, what = rng.choice([one for one in said if one]).pop(0)
        now_ms += rng.choice((0, 0, 1, 40))
        offset += rng.choice((1, 1, 2))
        fact_id = fact_id_of(identity)
        event = written(fact_id, identity.canonical(), what, rng, now_ms)
        log.append((fact_id, Lying(offset, encode_event(event), now_ms * 1_000)))
    return log


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_a_refilled_log_is_projected_to_the_same(seed: int, size: int) -> None:
    log = log_of(Random(seed), size)
    old, new, stamps = Projection(), Projection(), Stamps()
    for key, message in log:
        old.apply(message, key)
    before, appended = 0, {message.offset: message.appended_at for _, message in log}
    originals = {message.offset: decode_event(message.value) for _, message in log}
    for kept in old.kept():
        again = said_again(kept, stamps)
        assert again.key == kept.fact_id
        assert before <= again.append_time_ms * 1_000 <= appended[kept.offset]
        before = again.append_time_ms * 1_000
        assert again.value is not None
        event, original = decode_event(again.value), originals[kept.offset]
        assert replaced(event) == replaced(original)
        new.apply(Lying(kept.offset, again.value, again.append_time_ms * 1_000), kept.fact_id)
    assert new.kept() == old.kept()
    assert new.heads == old.heads


def replaced(event: FactEvent) -> FactEvent:
    """But for what is not kept; a writer names other versions beside the payload, too, which nobody looks at."""
    claim = event.version_id if event.kind == "FactAsserted" else None
    return replace(event, subject_label=None, import_time=None, trace=None, version_id=claim)


@given(st.integers(1, 10**16), st.integers(1, 10**16), st.integers(-(10**15), 10**16))
def test_what_is_parked_keeps_its_bytes_and_its_append_time(first: int, parked: int, later: int) -> None:
    stamps = Stamps()
    stamps.of_event(first)
    message = KeptMessage(3, b"any key", None, parked * 1_000)
    assert said_again(message, stamps) == Stamped(b"any key", None, parked)
    ms, import_time = stamps.of_event(later)
    assert ms >= parked
    assert ms * 1_000 >= later
    assert min(ms * 1_000, import_time or ms * 1_000) == later or import_time == later


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: kept._replace(payload=kept.payload.replace(b"null", b"true", 1)),
        lambda kept: kept._replace(event_id=bytes(16)),
        lambda kept: kept._replace(fact_id=bytes(16)),
        lambda kept: kept._replace(identity=STRANGER),
        lambda kept: kept._replace(kind="FactEnded"),
        lambda kept: kept._replace(payload_hash=bytes(32)),
    ],
)
def test_what_contradicts_itself_is_not_said_again(damage: Callable[[KeptEvent], KeptEvent]) -> None:
    projection = Projection()
    key, message = next((key, one) for key, one in log_of(Random(1), 5) if b"null" in one.value)
    projection.apply(message, key)
    (kept,) = projection.kept()
    said_again(kept, Stamps())
    with pytest.raises(Rejected):
        said_again(damage(kept), Stamps())
