"""What was said and does not count at an instant, and why not: dangling, taken back, overridden, of another time."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from chronofact.domain.events import (
    ConflictResolved,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    RelationDeclared,
    RelationsChecked,
    Verdict,
)
from chronofact.domain.explained import Ignored, Why
from chronofact.domain.groups import members_of
from chronofact.domain.spans import NEG, POS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chronofact.domain.edges import Edge
    from chronofact.domain.events import Event
    from chronofact.domain.moment import Moment
    from chronofact.domain.pairs import Pair
    from chronofact.domain.standing import Version


def ignored_by(events: Sequence[Event], moment: Moment) -> list[Ignored]:
    """In the order in which it was learned."""
    looking = _Looking(events, moment)
    return [found for event in events for found in looking.at(event)]


class _Looking:
    def __init__(self, events: Sequence[Event], moment: Moment) -> None:
        self._moment = moment
        self._standing = moment.standing
        self._taken_back: dict[bytes, bytes] = {}
        for event in events:
            if isinstance(event.what, FactRevoked) and event.what.event_id is not None:
                self._taken_back.setdefault(event.what.event_id, event.event_id)
        self._verdicts: dict[tuple[bytes, bytes], set[bytes]] = {}
        for event in events:
            if isinstance(event.what, RelationDeclared):
                ids = (event.what.left_version_id, event.what.right_version_id)
                if event.what.relation is not Verdict.SUPERSEDES or event.what.newer_version_id in ids:
                    self._verdicts.setdefault((min(ids), max(ids)), set()).add(event.event_id)
        self._said: dict[bytes, list[Edge]] = {}
        for version in self._standing.by_id.values():
            for edge in version.outs:
                self._said.setdefault(edge.event_id, []).append(edge)

    def at(self, event: Event) -> Iterator[Ignored]:
        """What of one event does not count."""
        event_id, what = event.event_id, event.what
        match what:
            case FactAsserted() | FactSuperseded():
                for edge in self._said.get(event_id, ()):
                    yield from self._edge(event_id, edge)
            case FactEnded():
                yield from self._end(event_id, what)
            case FactActivated():
                yield from self._unknown(event_id, what.version_id)
            case FactRevoked():
                yield from self._revocation(event_id, what)
            case ConflictResolved():
                yield from self._decision(event_id, what)
            case RelationDeclared():
                yield from self._verdict(event_id, what)
            case RelationsChecked() | EventDropped():
                return
            case _:
                assert_never(what)

    def _edge(self, event_id: bytes, edge: Edge) -> Iterator[Ignored]:
        new, old = edge.src, edge.dst
        ids = (new.id, old.id)
        start, end = edge.effect()
        if new is old:
            yield Ignored(event_id, Why.TO_ITSELF, (new.id,))
        elif not (new.no and old.no):
            yield Ignored(event_id, Why.VERSION_UNKNOWN, ids)
        elif edge.is_taken_back:
            yield Ignored(event_id, Why.TAKEN_BACK, ids, self._taken_back.get(event_id))
        elif not (new.ever_active and old.ever_active):
            yield Ignored(event_id, Why.NEVER_ACTIVE, ids)
        elif not edge.counts:
            yield Ignored(event_id, Why.NOT_ADMITTED, ids)
        elif self._moment.replaces_automatic(edge):
            return
        elif start >= end:
            yield Ignored(event_id, Why.NO_TIME, ids)
        elif not self._moment.is_within((start, end)):
            yield Ignored(event_id, Why.OTHER_TIME, ids, during=_bounds(start, end))
        elif not new.capable and not self._moment.is_passing_on(new):
            yield Ignored(event_id, Why.COVERS_NOTHING, ids)

    def _end(self, event_id: bytes, said: FactEnded) -> Iterator[Ignored]:
        version = self._standing.version(said.version_id)
        if event_id in self._taken_back:
            yield Ignored(event_id, Why.TAKEN_BACK, (version.id,), self._taken_back[event_id])
        elif not version.no:
            yield Ignored(event_id, Why.VERSION_UNKNOWN, (version.id,))
        elif said.effective_at > version.end:
            counting = (one for one, at in version.endings.items() if at == version.end and one not in self._taken_back)
            by = next(counting, None)
            yield Ignored(event_id, Why.OWN_END if by is None else Why.EARLIER_END, (version.id,), by)

    def _unknown(self, event_id: bytes, version_id: bytes) -> Iterator[Ignored]:
        if not self._standing.version(version_id).no:
            yield Ignored(event_id, Why.VERSION_UNKNOWN, (version_id,))

    def _revocation(self, event_id: bytes, said: FactRevoked) -> Iterator[Ignored]:
        standing = self._standing
        if said.version_id is not None:
            yield from self._unknown(event_id, said.version_id)
        elif not any(said.event_id in known for known in (standing.endings, standing.edges, standing.decisions)):
            yield Ignored(event_id, Why.NOTHING_TO_TAKE_BACK, ())

    def _decision(self, event_id: bytes, said: ConflictResolved) -> Iterator[Ignored]:
        ids = (said.left_version_id, said.right_version_id)
        pair = self._standing.decisions.get(event_id)
        if pair is None:
            yield Ignored(event_id, Why.TO_ITSELF if ids[0] == ids[1] else Why.KEEP_NOT_IN_PAIR, ids)
            return
        if event_id in self._taken_back:
            yield Ignored(event_id, Why.TAKEN_BACK, ids, self._taken_back[event_id])
        elif pair.event_id != event_id:
            yield Ignored(event_id, Why.OVERRIDDEN, ids, pair.event_id)
        elif not (pair.left.no and pair.right.no):
            yield Ignored(event_id, Why.VERSION_UNKNOWN, ids)
        elif not any(one != event_id and one not in self._taken_back for one in pair.said):
            yield from self._lone_decision(event_id, pair)

    def _lone_decision(self, event_id: bytes, pair: Pair) -> Iterator[Ignored]:
        """One that counts and takes the place of no other: it excludes, or stops a supersession at any instant."""
        ids, common, kept = (pair.left.id, pair.right.id), pair.overlap(), pair.keep
        if not (pair.excludes(pair.left) or pair.excludes(pair.right)):
            yield Ignored(event_id, Why.NOT_ACTIVE, ids)
        elif (common and self._moment.is_within(common[0])) or (
            kept is not None and self._moment.reaches(pair.other(kept), kept)
        ):
            return
        elif not common:
            yield Ignored(event_id, Why.NO_TIME, ids)
        else:
            yield Ignored(event_id, Why.OTHER_TIME, ids, during=_bounds(*common[0]))

    def _verdict(self, event_id: bytes, said: RelationDeclared) -> Iterator[Ignored]:
        ids = (said.left_version_id, said.right_version_id)
        relations = self._standing.relations
        relation = None if relations is None else relations.pairs.get((min(ids), max(ids)))
        if ids[0] == ids[1]:
            yield Ignored(event_id, Why.TO_ITSELF, ids)
        elif relation is None or (said.relation is Verdict.SUPERSEDES and said.newer_version_id not in ids):
            yield Ignored(event_id, Why.NEWER_NOT_IN_PAIR, ids)
        elif relation.event_id != event_id:
            yield Ignored(event_id, Why.OVERRIDDEN, ids, relation.event_id)
        elif len(self._verdicts[min(ids), max(ids)]) > 1:
            return
        elif said.newer_version_id is not None and said.relation is Verdict.SUPERSEDES:
            yield from self._edge(event_id, relation.edges[said.newer_version_id])
        else:
            is_joined = said.relation is Verdict.NEAR_DUPLICATE and self._passes_on(relation.left, relation.right)
            yield from self._joined(event_id, relation.left, relation.right, is_joined=is_joined)

    def _passes_on(self, left: Version, right: Version) -> bool:
        """Whether a near duplicate that is not active may still join others, or pass on what supersedes it."""
        if self._standing.is_single or len(members_of(left)) > 2:
            return True
        return any(version.ins or version.outs for version in (left, right) if not version.active)

    def _joined(self, event_id: bytes, left: Version, right: Version, *, is_joined: bool) -> Iterator[Ignored]:
        if not (left.no and right.no):
            yield Ignored(event_id, Why.VERSION_UNKNOWN, (left.id, right.id))
        elif not (left.ever_active and right.ever_active):
            yield Ignored(event_id, Why.NEVER_ACTIVE, (left.id, right.id))
        elif not ((left.active and right.active) or is_joined):
            yield Ignored(event_id, Why.NOT_ACTIVE, (left.id, right.id))


def _bounds(start: int, end: int) -> tuple[int | None, int | None]:
    return (None if start == NEG else start, None if end == POS else end)
