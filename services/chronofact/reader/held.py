"""What a list may lack: messages that are parked, of facts that it covers or that nobody can name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from chronofact.contracts.codec import decode_event, identity_of
from chronofact.contracts.counting import check_identity
from chronofact.contracts.reading import Scopes
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import FactIdentity
from chronofact.reader.ports import Snapshot

SAMPLES_MAX: Final = 50
"""Facts that the projection does not know, of which one parked message each is decoded to learn whose it is."""


class Parked(NamedTuple):
    """Parked messages that a list may lack, by fact."""

    known: Mapping[str, int]
    """Of facts of which the projection has events."""
    unknown: Mapping[str, int]
    """Of facts of which it has none: the list's, or nobody can say whose."""
    others: int = 0
    """Messages among those looked at of facts that are not the list's."""
    is_cut: bool = False
    """Whether more messages are parked than were looked at."""

    @property
    def messages(self) -> int:
        """How many; at least one where there may be more."""
        return max(sum(self.known.values()) + sum(self.unknown.values()), int(self.is_cut))


NONE: Final = Parked({}, {})


@dataclass(frozen=True, slots=True)
class Covered:
    """Which facts a list covers; None is no limit."""

    tenant_id: UUID
    subject_id: UUID | None = None
    chain: tuple[tuple[str, str], ...] | None = None
    """Scopes, as kind and key."""
    key: str | None = None
    prefix: str | None = None
    scopes: Scopes | None = None
    """What the credential is limited to."""
    fact_id: bytes | None = None

    def covers(self, fact: FactIdentity) -> bool:
        """Whether a fact belongs to the list."""
        return (
            fact.tenant_id == self.tenant_id
            and self.subject_id in {None, fact.subject_id}
            and (self.chain is None or (fact.scope_kind, fact.scope_key) in self.chain)
            and self.key in {None, fact.fact_key}
            and fact.fact_key.startswith(self.prefix or "")
            and (self.scopes is None or _is_within(f"{fact.scope_kind}:{fact.scope_key}", self.scopes))
        )


async def parked_among(snapshot: Snapshot, covered: Covered) -> Parked:
    """What is parked of the facts of a list; costs nothing while nothing is parked.

    A fact that the projection does not know is the list's if a parked message of it says so, or if none can be read.
    """
    if not snapshot.standing.holds:
        return NONE
    facts, is_cut = await snapshot.held_facts(covered.tenant_id, covered.subject_id, covered.fact_id)
    nameless = [one.fact_id for one in facts if one.identity is None]
    samples = await snapshot.held_samples(nameless[:SAMPLES_MAX]) if nameless else {}
    known, unknown = dict[str, int](), dict[str, int]()
    others = 0
    for one in facts:
        identity = one.identity or _identity_in(one.fact_id, samples.get(one.fact_id))
        if identity is None or covered.covers(identity):
            (unknown if one.identity is None else known)[str(UUID(bytes=one.fact_id))] = one.held
        else:
            others += one.held
    return Parked(known, unknown, others, is_cut)


async def not_found(snapshot: Snapshot, covered: Covered, fact_id: bytes) -> Rejected:
    """The refusal of a fact that the projection does not know: nothing of it could be applied, or there is none."""
    held = (await snapshot.held([fact_id])).get(str(UUID(bytes=fact_id)), 0) if snapshot.standing.holds else 0
    if not held or (await parked_among(snapshot, covered)).others:
        return Rejected("not_found", "no event of such a fact is known here", field="fact_id")
    return Rejected(
        "fact_held",
        f"{held} messages of this fact are parked and none is applied yet; `chronofact parked list` shows them",
        field="fact_id",
    )


def _identity_in(fact_id: bytes, message: bytes | None) -> FactIdentity | None:
    """Whose a message is, if it can be read and is under the key of its fact."""
    if not message:
        return None
    try:
        event = decode_event(message)
        check_identity(fact_id, event)
        return identity_of(event.identity)
    except Rejected:
        return None


def _is_within(scope: str, scopes: Scopes) -> bool:
    return scope in scopes.exact or scope.startswith(tuple(scopes.prefixes))
