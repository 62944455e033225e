"""What the events of one fact say, before anything is decided: versions, stated edges, ends, decisions (semantics §3)."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Final, assert_never

from chronofact.domain.edges import Edge
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Lifecycle,
    RelationDeclared,
    RelationsChecked,
    Succession,
)
from chronofact.domain.groups import Group, is_upward
from chronofact.domain.pairs import Pair
from chronofact.domain.relations import Relations
from chronofact.domain.rules import RULE_DEFAULT, check_rule, value_key
from chronofact.domain.spans import NEG, NOWHERE, POS, Spans, union

if TYPE_CHECKING:
    from collections.abc import Collection

    from chronofact.domain.events import Event
    from chronofact.domain.picture import Stroke

_ONE: Final = Cardinality.ONE
_AUTOMATIC: Final = Succession.AUTOMATIC
_ACTIVE: Final = Lifecycle.ACTIVE


class Version:
    """One claim with its standing; a version that is named before it is asserted has number 0."""

    __slots__ = (
        "activated",
        "active",
        "automatic",
        "confidence",
        "covered",
        "coverer",
        "eligible",
        "end",
        "endings",
        "ever_active",
        "group",
        "id",
        "ins",
        "lane",
        "no",
        "one",
        "outs",
        "pairs",
        "revoked",
        "said_active",
        "said_confidence",
        "said_stamps",
        "start",
        "to",
        "valid_from_known",
        "value_key",
        "value_no",
        "wished_confidence",
        "wished_stamps",
    )

    def __init__(self, version_id: bytes) -> None:
        self.id = version_id
        self.no = 0
        self.start, self.to, self.end = NEG, POS, POS
        self.value_key = b""
        self.value_no = 0
        self.said_active = self.activated = self.revoked = False
        self.ever_active = self.active = self.one = self.automatic = False
        self.said_stamps = self.wished_stamps = (False, False)
        self.confidence: float | None = None
        self.said_confidence: float | None = None
        self.wished_confidence: float | None = None
        self.endings: dict[bytes, int] = {}
        self.outs: list[Edge] = []
        self.ins: list[Edge] = []
        self.pairs: list[Pair] = []
        self.covered: Spans = NOWHERE
        self.coverer: tuple[int, bytes] | None = None
        self.eligible: Spans = NOWHERE
        self.lane: list[Stroke] | None = None
        self.valid_from_known = False
        self.group: Group | None = None

    @property
    def merged_into(self) -> Version | None:
        """The survivor of its group of near duplicates, if it is another and there is one."""
        survivor = None if self.group is None else self.group.survivor
        return None if survivor is self else survivor

    @property
    def capable(self) -> bool:
        """Whether it can cover others at all: active, and its end is after its start."""
        return self.active and self.start < self.end

    def has_stated(self, other: Version) -> bool:
        """Whether a stated edge of this version to the other counts."""
        return any(edge.dst is other and edge.counts for edge in self.outs)

    def is_kept_against(self, other: Version) -> bool:
        """Whether a decision that counts keeps this version, which is active, against the other."""
        return self.active and any(
            pair.keep is self and pair.counts and pair.other(self) is other for pair in self.pairs
        )

    def excluded(self) -> Spans:
        """Where a decision excludes it."""
        spans = NOWHERE
        for pair in self.pairs:
            if pair.excludes(self):
                spans = union(spans, pair.overlap())
        return spans


class Standing:
    """The set of events of one fact as versions, edges and decisions, with the indexes that covering asks."""

    def __init__(self, rule: int = RULE_DEFAULT) -> None:
        self.rule = check_rule(rule)
        self.by_id: dict[bytes, Version] = {}
        self.numbered: list[Version] = []
        self.by_start: list[tuple[int, int]] = []
        self.reach: list[int] = []
        self.autos: list[tuple[int, int]] = []
        self.active_starts: list[int] = []
        self.active_ends: list[int] = []
        self.ones = 0
        self.any_revoked = False
        self.pairs: dict[tuple[bytes, bytes], Pair] = {}
        self.endings: dict[bytes, Version] = {}
        self.edges: dict[bytes, Edge] = {}
        self.decisions: dict[bytes, Pair] = {}
        self.taken_back: set[bytes] = set()
        self.values: dict[bytes, int] = {}
        self.value_masks: list[int] = []
        self.has_upward_edge = False
        self.turn = 0
        """How many events were taken in."""
        self.relations: Relations | None = None
        self.weak: set[Version] = set()
        """Versions with stated edges that can't cover, somewhere or at all: what reaches them goes on."""

    def release(self) -> None:
        """Undo the ties among versions, so that nothing here refers to itself; of no more use afterwards."""
        for version in self.by_id.values():
            version.outs, version.ins, version.pairs = [], [], []
            version.group = None

    @property
    def is_single(self) -> bool:
        """Whether any active version says ``one`` (semantics §1)."""
        return self.ones > 0

    @property
    def is_many_valued(self) -> bool:
        """Whether some version is active and none of the active ones says ``one``."""
        return not self.ones and bool(self.active_starts)

    def say(self, event: Event) -> Collection[Version]:
        """Takes in what the event says; the versions whose standing, ends, edges or decisions it changed."""
        what = event.what
        self.turn += 1
        match what:
            case FactAsserted():
                return self._assert(event.event_id, what)
            case FactActivated():
                version = self.version(what.version_id)
                version.activated = True
                return self._restand(version)
            case FactSuperseded():
                return self._supersede(event.event_id, what)
            case FactEnded():
                version = self.version(what.version_id)
                version.endings[event.event_id] = what.effective_at
                self.endings[event.event_id] = version
                return self._restand(version)
            case FactRevoked():
                return self._revoke(what)
            case ConflictResolved():
                return self._decide(event.event_id, what)
            case RelationDeclared():
                self.relations = self.relations or Relations()
                self.relations.is_single = self.is_single
                changed = self.relations.declare(event.event_id, what, self.version, self._link)
                self.has_upward_edge |= self.relations.is_upward
                return changed
            case RelationsChecked() | EventDropped():
                return ()
            case _:
                assert_never(what)

    def version(self, version_id: bytes) -> Version:
        """The version of that id, known or not yet."""
        found = self.by_id.get(version_id)
        if found is None:
            found = self.by_id[version_id] = Version(version_id)
        return found

    def _assert(self, event_id: bytes, said: FactAsserted) -> Collection[Version]:
        version = self.version(said.version_id)
        if not version.no:
            self._number(version, said)
        version.valid_from_known |= said.valid_from_known
        stamps = (said.cardinality is _ONE, said.succession is _AUTOMATIC)
        is_wish = said.lifecycle is not _ACTIVE
        if is_wish:
            version.wished_confidence = _higher(version.wished_confidence, said.confidence)
            version.wished_stamps = (version.wished_stamps[0] or stamps[0], version.wished_stamps[1] or stamps[1])
        else:
            version.said_active = True
            version.said_confidence = _higher(version.said_confidence, said.confidence)
            version.said_stamps = (version.said_stamps[0] or stamps[0], version.said_stamps[1] or stamps[1])
        for wanted in said.supersedes:
            old = self.version(wanted.version_id)
            self._link(Edge(event_id, version, old, wanted.effective_at, wanted.mode, is_wish=is_wish))
        return self._restand(version)

    def _number(self, version: Version, said: FactAsserted) -> None:
        self.numbered.append(version)
        version.no = len(self.numbered)
        version.start = NEG if said.valid.start is None else said.valid.start
        version.to = POS if said.valid.end is None else said.valid.end
        key = said.value_hash if self.rule == RULE_DEFAULT else value_key(said.value, said.value_hash, self.rule)
        version.value_key = key
        value_no = self.values.setdefault(key, len(self.values))
        if value_no == len(self.value_masks):
            self.value_masks.append(0)
        version.value_no = value_no
        self.value_masks[value_no] |= 1 << version.no
        spot = bisect_left(self.by_start, (version.start, version.no))
        self.by_start.insert(spot, (version.start, version.no))
        before = self.reach[spot - 1] if spot else NEG
        self.reach.insert(spot, max(before, version.to))
        for later in range(spot + 1, len(self.reach)):
            if self.reach[later] >= version.to:
                break
            self.reach[later] = version.to
        for edge in (*version.ins, *version.outs):
            self._look_upward(edge)

    def _link(self, edge: Edge) -> None:
        edge.src.outs.append(edge)
        edge.dst.ins.append(edge)
        if edge.src.group is not None:
            edge.src.group.leaving[edge.src] = None
        if edge.dst.group is not None:
            edge.dst.group.entered[edge.dst] = None
        self._weigh(edge.src)
        self._look_upward(edge)

    def _look_upward(self, edge: Edge) -> None:
        if edge.src.no and edge.dst.no and is_upward(edge):
            self.has_upward_edge = True

    def _supersede(self, event_id: bytes, said: FactSuperseded) -> Collection[Version]:
        new, old = self.version(said.new_version_id), self.version(said.old_version_id)
        edge = Edge(event_id, new, old, said.effective_at, said.mode, is_wish=False)
        edge.is_taken_back = event_id in self.taken_back
        self.edges[event_id] = edge
        self._link(edge)
        return (new, old)

    def _revoke(self, said: FactRevoked) -> Collection[Version]:
        if said.version_id is not None:
            version = self.version(said.version_id)
            version.revoked = True
            return self._restand(version)
        event_id = said.event_id or b""
        self.taken_back.add(event_id)
        if (ended := self.endings.get(event_id)) is not None:
            return self._restand(ended)
        if (edge := self.edges.get(event_id)) is not None:
            edge.is_taken_back = True
            return (edge.src, edge.dst)
        if (pair := self.decisions.get(event_id)) is not None:
            pair.settle(self.taken_back)
            return (pair.left, pair.right)
        return ()

    def _decide(self, event_id: bytes, said: ConflictResolved) -> Collection[Version]:
        ids = (said.left_version_id, said.right_version_id)
        if ids[0] == ids[1] or (said.keep is not None and said.keep not in ids):
            return ()
        key = (min(ids), max(ids))
        pair = self.pairs.get(key)
        if pair is None:
            pair = self.pairs[key] = Pair(self.version(key[0]), self.version(key[1]))
            for version in (pair.left, pair.right):
                version.pairs.append(pair)
                self._weigh(version)
        pair.said[event_id] = (said.decided_at, None if said.keep is None else self.version(said.keep))
        self.decisions[event_id] = pair
        pair.settle(self.taken_back)
        return (pair.left, pair.right)

    def _restand(self, version: Version) -> Collection[Version]:
        """Derives the version's standing anew and keeps the indexes over active versions right."""
        if version.active:
            self._leave(version)
        asserted = version.no > 0
        if asserted and version.revoked:
            self.any_revoked = True
        version.ever_active = asserted and (version.said_active or version.activated)
        version.active = version.ever_active and not version.revoked
        one, automatic = version.said_stamps
        version.confidence = version.said_confidence
        if version.activated:
            version.confidence = _higher(version.said_confidence, version.wished_confidence)
            one, automatic = one or version.wished_stamps[0], automatic or version.wished_stamps[1]
        version.one, version.automatic = one, automatic
        version.end = version.to
        for event_id, effective_at in version.endings.items():
            if effective_at < version.end and event_id not in self.taken_back:
                version.end = effective_at
        if version.active:
            self._enter(version)
        self._weigh(version)
        if self.relations is None:
            return (version,)
        self.relations.is_single = self.is_single
        changed = self.relations.settle(version)
        self.has_upward_edge |= self.relations.is_upward
        return changed | {version}

    @property
    def is_orderly(self) -> bool:
        """Whether every edge leads to an earlier start, groups taken as one, so that none closes a circle."""
        return not self.has_upward_edge and not (self.has_groups and self.is_single)

    @property
    def may_knot(self) -> bool:
        """Whether the last relation may have closed or opened a circle."""
        return self.relations is not None and self.relations.is_knotting

    @property
    def has_contradiction_news(self) -> bool:
        """Whether contradictions came or went since they were noted."""
        return self.relations is not None and self.relations.has_news

    def take_renamed(self) -> Collection[Version]:
        """Versions whose label alone may have changed since the last call."""
        return () if self.relations is None else self.relations.take_renamed()

    @property
    def has_groups(self) -> bool:
        """Whether near duplicates were ever joined."""
        return self.relations is not None and self.relations.has_groups

    def _weigh(self, version: Version) -> None:
        if version.outs and version.ever_active and (version.pairs or not version.capable):
            self.weak.add(version)
        else:
            self.weak.discard(version)

    def _enter(self, version: Version) -> None:
        insort(self.active_starts, version.start)
        insort(self.active_ends, version.end)
        self.ones += version.one
        if version.automatic:
            insort(self.autos, (version.start, version.no))

    def _leave(self, version: Version) -> None:
        del self.active_starts[bisect_left(self.active_starts, version.start)]
        del self.active_ends[bisect_left(self.active_ends, version.end)]
        self.ones -= version.one
        if version.automatic:
            del self.autos[bisect_left(self.autos, (version.start, version.no))]


def _higher(left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return right if left is None else left
    return max(left, right)
