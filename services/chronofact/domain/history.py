"""The fold: one fact's events in log order to what each of them changed (semantics §3, §4; architecture, The timeline)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from chronofact.domain.affected import affected_by
from chronofact.domain.cover import covered, gained_from
from chronofact.domain.events import (
    ConflictResolved,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    RelationDeclared,
)
from chronofact.domain.interval import INSTANT_MIN
from chronofact.domain.knots import knots_of
from chronofact.domain.labels import Label, label_of
from chronofact.domain.paint import Painter, Painting
from chronofact.domain.picture import MANY_VALUED, Picture, reasons_of
from chronofact.domain.rivals import OpenPairs, rivals_of
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.domain.spans import EVERYWHERE, NEG, NOWHERE, difference, subtract, union
from chronofact.domain.standing import Standing
from chronofact.domain.statehash import StateHash

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from chronofact.domain.events import Event
    from chronofact.domain.knots import Knot
    from chronofact.domain.picture import Stroke
    from chronofact.domain.rivals import PairIds
    from chronofact.domain.spans import Spans
    from chronofact.domain.standing import Version


class Change:
    """What one event did: its place in the fact's sequence, the version it numbered, and what it painted."""

    __slots__ = ("event_seq", "paintings", "recorded_at", "version_no")

    def __init__(self, event_seq: int, recorded_at: int, version_no: int | None, paintings: list[Painting]) -> None:
        self.event_seq = event_seq
        self.recorded_at = recorded_at
        self.version_no = version_no
        self.paintings = paintings


class Outcome(NamedTuple):
    """What a run of events changed in the fact's current state."""

    labels: list[tuple[int, Label]]
    conflicts_gone: list[tuple[bytes, bytes]]
    conflicts_now: list[tuple[bytes, bytes, str]]
    conflicts_open: int
    state_hash: bytes


class History:
    """The mutable state of one fact: everything its events say, folded by one rule version.

    ``apply`` takes events in log order, each ``event_id`` once (ask ``knows`` first). The state depends on the set of
    events alone; order decides ``event_seq``, ``recorded_at`` and so what was painted when.
    """

    def __init__(self, rule: int = RULE_DEFAULT) -> None:
        self.event_seq = 0
        self.recorded_at = INSTANT_MIN
        self.standing = Standing(rule)
        self.picture = Picture()
        self.open = OpenPairs()
        self.painter = Painter()
        self._hash = StateHash()
        self._events: set[bytes] = set()
        self._knots: dict[Version, Knot] = {}
        self._is_single = False
        self._reasons = reasons_of(self.standing)
        self._relabel: set[Version] = set()
        self._labels: dict[int, Label] = {}
        self._contradictions = 0
        self._told: dict[PairIds, str] = {}
        self._told_seq = 0
        self._noted: dict[PairIds, str] = {}
        self._since: dict[PairIds, tuple[int, int]] = {}

    @classmethod
    def load(
        cls,
        events: Iterable[Event],
        *,
        painted: int = 0,
        lane_mode: int = 0,
        conflicts_open: int | None = None,
        rule: int = RULE_DEFAULT,
    ) -> History:
        """The state after events that were applied before: their ids once, in order, ``recorded_at`` as it was settled.

        Args:
            events: All events of the fact so far, by ``event_seq``.
            painted: Lane 0 stretches painted since its last whole repaint.
            lane_mode: 1 when every version's lane is kept.
            conflicts_open: The number of OPEN pairs; None counts them anew.
            rule: The rule version by which they were and are folded.
        """
        history = cls(rule)
        history._rest(events)
        if not history.event_seq:
            return history
        versions = history.standing.numbered
        history.painter.resume(history.standing, painted=painted, keeps_lanes=bool(lane_mode))
        history.open.load(history.standing, history.picture, count=conflicts_open)
        history._relabel.update(versions)
        history.take_outcome()
        return history

    @classmethod
    def at_rest(cls, events: Iterable[Event], *, rule: int = RULE_DEFAULT) -> History:
        """The same state for answers alone, at a third of the cost: it takes in no further event."""
        history = cls(rule)
        history._rest(events)
        return history

    def _rest(self, events: Iterable[Event]) -> None:
        for event in events:
            self._remember(event)
        if self.event_seq:
            self._is_single = self.standing.is_single
            self._knots = knots_of(self.standing)
            self._redraw(self._settle(self.standing.numbered))

    @property
    def rule(self) -> int:
        """The rule version by which it is folded."""
        return self.standing.rule

    @property
    def lane_mode(self) -> int:
        """1 when every version's lane is kept besides lane 0."""
        return int(self.painter.keeps_lanes)

    @property
    def painted(self) -> int:
        """Lane 0 stretches painted since its last whole repaint."""
        return self.painter.painted

    @property
    def conflicts_open(self) -> int:
        """The exact number of OPEN pairs."""
        return self.open.count + self._contradictions

    @property
    def versions(self) -> int:
        """How many versions are numbered."""
        return len(self.standing.numbered)

    def knows(self, event_id: bytes) -> bool:
        """Whether the event was applied already."""
        return event_id in self._events

    def weight(self) -> int:
        """Roughly how many bytes the state takes."""
        versions = len(self.standing.numbered)
        return 3_000 + 1_100 * versions + 140 * self.event_seq + len(self.picture.starts) * (150 + versions // 8)

    def release(self) -> None:
        """Let go of everything, so that its memory is free at once and not at the next collection."""
        self.standing.release()

    def apply(self, event: Event) -> Change:
        """Takes in one event that is not known yet.

        Its ``recorded_at`` is the log's; where that would fall along the fact, it is raised (semantics §1).
        """
        versions = len(self.standing.numbered)
        changed = self._remember(event)
        no = versions + 1 if len(self.standing.numbered) > versions else None
        affected: Collection[Version] = ()
        strokes: list[Stroke] = []
        if changed or self.event_seq == 1:
            affected = self._affected(event, changed, is_new=no is not None)
            strokes = self._draw(affected, self._newcomer(affected) if no else None)
            self._relabel.update(affected)
            said = type(event.what)
            if said is FactAsserted or said is FactActivated:
                # what pointed at a version before it was known or active supersedes it now
                self._relabel.update(edge.src for version in changed for edge in version.ins)
        if self.open.is_changed or self.standing.pairs or self.standing.has_contradiction_news:
            self._note_conflicts()
        paintings = self.painter.paint(self.standing, self.picture, strokes, affected)
        return Change(self.event_seq, self.recorded_at, no, paintings)

    def take_outcome(self) -> Outcome:
        """What changed in labels, conflict edges and state hash since the last call."""
        self._relabel.update(self.standing.take_renamed())
        labels = []
        for version in self._relabel:
            if version.no:
                label = label_of(self.standing, self._knots, version)
                if self._labels.get(version.no) != label:
                    self._labels[version.no] = label
                    labels.append((version.no, label))
        gone, now = self._take_conflicts()
        digest = self._hash.take(self.standing, self.picture, self._relabel)
        self._relabel.clear()
        return Outcome(labels, gone, now, self.conflicts_open, digest)

    def _remember(self, event: Event) -> Collection[Version]:
        self._events.add(event.event_id)
        self.event_seq += 1
        self.recorded_at = max(self.recorded_at, event.recorded_at)
        return self.standing.say(event)

    def _affected(self, event: Event, changed: Collection[Version], *, is_new: bool) -> Collection[Version]:
        """The versions to look at again; brings the knots up to date."""
        standing = self.standing
        if standing.is_single != self._is_single:
            self._knots = knots_of(standing)
            return standing.numbered
        before = self._knots
        if not self._keeps_knots(event, changed, is_new=is_new):
            self._knots = knots_of(standing)
        if not before and not self._knots:
            return affected_by(standing, self._knots, changed)
        once_knotted = [version for version in before if version not in self._knots]
        for knot in set(self._knots.values()):
            knot.forget()
        return affected_by(standing, self._knots, [*changed, *once_knotted])

    def _newcomer(self, affected: Collection[Version]) -> Version | None:
        """The version just numbered, when it can only cover others and change nothing else between them."""
        newcomer = self.standing.numbered[-1]
        if self._knots or newcomer.ins or not newcomer.capable or self.standing.has_groups:
            return None
        return newcomer if all(not v.pairs and (v.capable or not (v.outs or v.automatic)) for v in affected) else None

    def _keeps_knots(self, event: Event, changed: Collection[Version], *, is_new: bool) -> bool:
        """Whether no cycle of edges can have come or gone, so that none need be looked for."""
        standing = self.standing
        if standing.is_orderly:
            return True
        said = type(event.what)
        if said is RelationDeclared and not standing.may_knot:
            return True
        is_end_or_decision = said is FactEnded or said is ConflictResolved
        if self._knots or is_end_or_decision:
            return is_end_or_decision
        if said is FactRevoked:
            return True
        if not is_new:
            return False
        # a new version that nothing points at closes no cycle
        latest_auto = standing.autos[-1][0] if standing.autos else NEG
        return not standing.may_knot and all(not v.ins and latest_auto <= v.start for v in changed)

    def _settle(self, versions: Collection[Version], newcomer: Version | None = None) -> list[tuple[Version, Spans]]:
        """Finds anew where each version is covered and eligible; those that moved, with where.

        A newcomer that nothing points at, among versions that can all cover, only adds its own edges' effects.
        """
        moved = []
        for version in versions:
            if version.capable:
                version.covered = self._covered(version, newcomer)
                eligible = subtract(((version.start, version.end),), version.covered)
                if version.merged_into is not None:
                    eligible = NOWHERE
                elif version.pairs:
                    eligible = subtract(eligible, version.excluded())
            elif version.eligible or version.covered:
                version.covered = eligible = NOWHERE
            else:
                continue
            if eligible != version.eligible:
                moved.append((version, difference(version.eligible, eligible)))
                version.eligible = eligible
        return moved

    def _covered(self, version: Version, newcomer: Version | None) -> Spans:
        if newcomer is None or version is newcomer:
            version.coverer = None
            return covered(self.standing, self._knots, version)
        return union(version.covered, gained_from(self.standing, newcomer, version))

    def _draw(self, affected: Collection[Version], newcomer: Version | None) -> list[Stroke]:
        """Brings eligibility, picture and conflict pairs up to date."""
        standing = self.standing
        if standing.is_single != self._is_single:
            self._is_single = standing.is_single
            strokes = self._redraw(self._settle(affected))
            self.open.load(standing, self.picture, count=None)
            return strokes
        rivals = {}
        if self.picture.conflicts:
            rivals = {version: rivals_of(standing, self.picture, version, version.eligible) for version in affected}
        moved = self._settle(affected, newcomer)
        strokes = self._redraw(moved)
        if rivals or self.picture.conflicts:
            self.open.change(
                standing,
                self.picture,
                [(v, rivals.get(v, 0), rivals_of(standing, self.picture, v, v.eligible)) for v, _ in moved],
            )
        return strokes

    def _redraw(self, moved: list[tuple[Version, Spans]]) -> list[Stroke]:
        standing = self.standing
        if standing.is_many_valued:  # once it is not, the whole picture is drawn anew
            return self.picture.fill(MANY_VALUED)
        before, self._reasons = self._reasons, reasons_of(standing)
        if not self.picture.shows_answers:
            self.picture.clear()
            toggles = [(version.eligible, 1 << version.no) for version in standing.numbered if version.eligible]
            return self.picture.repaint(toggles, EVERYWHERE, standing, self._reasons)
        toggles = [(spans, 1 << version.no) for version, spans in moved]
        return self.picture.repaint(toggles, self._reasons.changed(before), standing, self._reasons)

    def conflict_since(self, left: bytes, right: bytes) -> tuple[int, int]:
        """``event_seq`` and ``recorded_at`` of the event since which an edge of the last outcome is what it is."""
        return self._since[left, right]

    def _note_conflicts(self) -> None:
        """Notes which conflict edges this event brought, took or settled, so that no batch's bounds tell in them."""
        pairs, relations = self.standing.pairs, self.standing.relations
        before, now = self._noted, dict.fromkeys(self.open.first, "OPEN")
        at = (self.event_seq, self.recorded_at)
        if relations is not None:
            now.update(dict.fromkeys(relations.contradictions(), "OPEN"))
            relations.has_news = False
        for key, pair in pairs.items():
            if pair.counts and pair.left.ever_active and pair.right.ever_active:
                now[key] = "RESOLVED"
        for ids in before.keys() - now.keys():
            del self._since[ids]
        for ids, relation in now.items() if pairs else dict.fromkeys(now.keys() - before.keys(), "OPEN").items():
            if before.get(ids) != relation:
                self._since[ids] = at
        self._noted = now
        self.open.is_changed = False

    def _take_conflicts(self) -> tuple[list[PairIds], list[tuple[bytes, bytes, str]]]:
        """The conflict edges that went and that came since the last call."""
        if self.open.is_changed:
            self._note_conflicts()
        told, now, told_seq = self._told, self._noted, self._told_seq
        self._told_seq = self.event_seq
        if now is told:
            return [], []
        if (relations := self.standing.relations) is not None:
            opened = (key for key in relations.contradictions() if now[key] == "OPEN")
            self._contradictions = sum(not self.open.holds(self.standing, self.picture, key) for key in opened)
        self._told = now
        gone = [ids for ids in told if ids not in now]
        since = self._since
        come = [(*ids, how) for ids, how in now.items() if told.get(ids) != how or since[ids][0] > told_seq]
        for ids in gone:
            self._hash.leave(ids, told[ids])
        for left, right, relation in come:
            before = told.get((left, right))
            if before != relation:
                if before is not None:
                    self._hash.leave((left, right), before)
                self._hash.enter((left, right), relation)
        return gone, come
