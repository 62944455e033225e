"""What an explanation consists of: versions with their standing and its causes, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, assert_never

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chronofact.domain.events import Event, FactAsserted, Mode
    from chronofact.domain.resolve import Answer


class Stands(StrEnum):
    """How a version stands at an instant, the nearest to holding first."""

    ELIGIBLE = "eligible"
    EXCLUDED = "excluded"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    ENDED = "ended"
    LATER = "later"
    NEVER_HOLDS = "never_holds"
    REVOKED = "revoked"
    PROPOSED = "proposed"


class Why(StrEnum):
    """Why something that was said counts for nothing, or not at the instant."""

    TAKEN_BACK = "taken_back"
    OVERRIDDEN = "overridden"
    """A decision of the same pair that counts more."""
    EARLIER_END = "earlier_end"
    """Another end comes before this one."""
    OWN_END = "own_end"
    """The version's own ``valid_to`` comes first."""
    VERSION_UNKNOWN = "version_unknown"
    """Nobody has asserted a version that it names: a dangling edge, a decision before its versions."""
    TO_ITSELF = "to_itself"
    NEVER_ACTIVE = "never_active"
    """A version that it names was proposed and never admitted."""
    NOT_ADMITTED = "not_admitted"
    """A proposal's own edge; the version is active by another assertion."""
    COVERS_NOTHING = "covers_nothing"
    """The newer version was taken back or never holds, and nothing that covers reaches over it."""
    OTHER_TIME = "other_time"
    """It has effect at other instants."""
    NO_TIME = "no_time"
    """Its effect, or what both versions claim together, is empty."""
    KEEP_NOT_IN_PAIR = "keep_not_in_pair"
    NOT_ACTIVE = "not_active"
    """What a decision keeps, or one of two that it drops or a verdict speaks of, is not active."""
    NEWER_NOT_IN_PAIR = "newer_not_in_pair"
    NOTHING_TO_TAKE_BACK = "nothing_to_take_back"


class Ignored(NamedTuple):
    """Something said that does not count at the instant."""

    event_id: bytes
    why: Why
    version_ids: tuple[bytes, ...]
    by: bytes | None = None
    """The event that took it back or overrode it."""
    during: tuple[int | None, int | None] | None = None
    """When it has effect, where that is at other instants."""


class Logged(NamedTuple):
    """An event of the fact in its place; ``recorded_at`` is the settled one."""

    event_seq: int
    event: Event


@dataclass(frozen=True, slots=True)
class EdgeSaid:
    """An edge with effect at the instant; ``event_id`` None is an automatic one."""

    event_id: bytes | None
    mode: Mode | None
    effective_from: int | None
    effective_to: int | None
    named: bytes
    """What it points at: the older version, or a near duplicate of it."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a way: every edge that leads from the newer to the older version."""

    new: bytes
    old: bytes
    edges: tuple[EdgeSaid, ...]


@dataclass(frozen=True, slots=True)
class CoveredBy:
    """A version that supersedes another at the instant, over which way; ``is_only_way`` when nothing else does."""

    version_id: bytes
    path: tuple[Hop, ...]
    is_only_way: bool


@dataclass(frozen=True, slots=True)
class Stood:
    """One version at the instant. Causes are events by id; each list is cut at its limit, ``is_cut`` tells."""

    version_id: bytes
    said: FactAsserted
    stands: Stands
    end: int | None
    """The earlier of its ``valid_to`` and the earliest end that counts."""
    asserted_by: tuple[bytes, ...]
    activated_by: tuple[bytes, ...]
    """Where it is active by admission alone."""
    covered_by: tuple[CoveredBy, ...]
    cancelled: tuple[bytes, ...]
    """Versions that would supersede it if they were not in one circle."""
    excluded_by: tuple[bytes, ...]
    kept_by: tuple[bytes, ...]
    """Decisions that keep it against another version."""
    ended_by: tuple[bytes, ...]
    """The ends that give its end; none where its own ``valid_to`` comes first."""
    revoked_by: tuple[bytes, ...]
    merged_by: tuple[bytes, ...]
    """The verdicts that lead from it to the survivor."""
    merged_into: bytes | None
    is_pending_review: bool
    is_cut: bool

    def causes(self) -> tuple[bytes, ...]:
        """The events that make it stand as it does, its assertion and admission aside."""
        match self.stands:
            case Stands.ENDED | Stands.NEVER_HOLDS:
                return self.ended_by
            case Stands.REVOKED:
                return self.revoked_by
            case Stands.EXCLUDED | Stands.SUPERSEDED | Stands.MERGED:
                edges = (edge.event_id for cover in self.covered_by for hop in cover.path for edge in hop.edges)
                stated = (event_id for event_id in edges if event_id is not None)
                return tuple(dict.fromkeys((*stated, *self.excluded_by, *self.merged_by)))
            case Stands.ELIGIBLE | Stands.LATER | Stands.PROPOSED:
                return ()
            case _:
                assert_never(self.stands)


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer with all that made it; ``versions`` and ``ignored`` are cut, their counts are whole."""

    valid_at: int
    answer: Answer
    versions: tuple[Stood, ...]
    counts: Mapping[Stands, int]
    decided_by: tuple[bytes, ...]
    """The events that make the answer what it is, by ``event_seq``."""
    ignored: tuple[Ignored, ...]
    ignored_count: int
    log: Mapping[bytes, Logged]
    """Every event, also those learned too late to count."""
    left_out: tuple[Logged, ...]
    """What was learned after ``system_as_of``."""
    left_out_versions: tuple[bytes, ...]
    """Those first asserted in it."""
