"""Why an answer is what it is: every version with its standing at one instant, and what made it so (semantics §3, §4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chronofact.domain.events import FactActivated, FactAsserted, FactRevoked, Verdict
from chronofact.domain.explained import CoveredBy, EdgeSaid, Explanation, Hop, Logged, Stands, Stood
from chronofact.domain.ignored import ignored_by
from chronofact.domain.interval import INSTANT_MIN
from chronofact.domain.moment import Moment
from chronofact.domain.paint import winner_of
from chronofact.domain.resolve import Answer, Conflict, Unknown, Value, Values
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.domain.spans import NEG, POS
from chronofact.domain.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chronofact.domain.events import Event
    from chronofact.domain.moment import Cover, Tie
    from chronofact.domain.relations import Relations
    from chronofact.domain.standing import Version

VERSIONS_MAX: Final = 1_000
COVERS_MAX: Final = 10
CAUSES_MAX: Final = 20
"""Events of one sort named for one version."""
IGNORED_MAX: Final = 1_000
_ORDER: Final = {stands: number for number, stands in enumerate(Stands)}
_HOLDING: Final = frozenset({Stands.ELIGIBLE, Stands.EXCLUDED, Stands.SUPERSEDED, Stands.MERGED})
"""Active, and the instant lies in the version's interval up to its end."""


def logged(events: Iterable[Event]) -> list[Logged]:
    """Each ``event_id`` once, in order, with the ``recorded_at`` that counts (semantics §1)."""
    found: dict[bytes, Logged] = {}
    recorded_at = INSTANT_MIN
    for event in events:
        if event.event_id not in found:
            recorded_at = max(recorded_at, event.recorded_at)
            settled = event if event.recorded_at == recorded_at else replace(event, recorded_at=recorded_at)
            found[event.event_id] = Logged(len(found) + 1, settled)
    return list(found.values())


def explain(
    events: Iterable[Event],
    *,
    valid_at: int,
    system_as_of: int | None,
    versions_max: int = VERSIONS_MAX,
    rule: int = RULE_DEFAULT,
) -> Explanation:
    """Why the answer at two instants is what it is, from all events of the fact in log order.

    Raises:
        Rejected: ``explanation_too_large``.
    """
    log = logged(events)
    known = [one for one in log if system_as_of is None or one.event.recorded_at <= system_as_of]
    teller = _Teller(known, valid_at, rule)
    standings = {version: teller.stands(version) for version in teller.standing.numbered}
    answer = Unknown("not_yet_known") if log and not known else _answer(teller, standings)
    winner = answer.version_id if isinstance(answer, Value) else b""
    chosen = sorted(standings, key=lambda version: (_ORDER[standings[version]], version.id != winner, version.no))
    versions = tuple(teller.stood(version, standings[version]) for version in chosen[:versions_max])
    ignored = ignored_by([one.event for one in known], teller.moment)
    places = {one.event.event_id: one for one in log}
    unheard = {one.event_id for one in ignored if not isinstance(places[one.event_id].event.what, FactAsserted)}
    deciding = sorted(_deciding(answer, versions) - unheard, key=lambda event_id: places[event_id].event_seq)
    return Explanation(
        valid_at,
        answer,
        versions,
        Counter(standings.values()),
        tuple(deciding),
        tuple(ignored[:IGNORED_MAX]),
        len(ignored),
        places,
        tuple(log[len(known) :]),
        _new_versions(log[len(known) :], teller.standing),
    )


def _new_versions(left_out: Sequence[Logged], standing: Standing) -> tuple[bytes, ...]:
    said = [one.event.what for one in left_out]
    ids = dict.fromkeys(one.version_id for one in said if isinstance(one, FactAsserted))
    return tuple(one for one in ids if not standing.version(one).no)


class _Teller:
    """What some events say of each version at an instant."""

    def __init__(self, log: Sequence[Logged], instant: int, rule: int) -> None:
        self.standing = standing = Standing(rule)
        self._said: dict[bytes, FactAsserted] = {}
        self._naming: dict[type, dict[bytes, list[bytes]]] = {FactAsserted: {}, FactActivated: {}, FactRevoked: {}}
        for _, event in log:
            standing.say(event)
            match event.what:
                case FactAsserted() as said:
                    self._said.setdefault(said.version_id, said)
                    self._name(event, said.version_id)
                case FactActivated(version_id) | FactRevoked(bytes(version_id)):
                    self._name(event, version_id)
                case _:
                    pass
        self.moment = Moment(standing, instant)
        self._reviewed = _pending_review(standing)
        self._duplicates = _duplicates(standing.relations)
        self._ways: dict[Version, dict[Version, tuple[Version, bytes]]] = {}
        pairs = () if standing.relations is None else standing.relations.pairs.values()
        self._verdicts = {edge: relation.event_id for relation in pairs for edge in relation.edges.values()}

    def _name(self, event: Event, version_id: bytes) -> None:
        self._naming[type(event.what)].setdefault(version_id, []).append(event.event_id)

    def stands(self, version: Version) -> Stands:
        """How an asserted version stands."""
        if version.revoked:
            return Stands.REVOKED
        if not version.active:
            return Stands.PROPOSED
        if not version.capable:
            return Stands.NEVER_HOLDS
        if not self.moment.holds(version):
            return Stands.LATER if self.moment.instant < version.start else Stands.ENDED
        if self.moment.excluding(version):
            return Stands.EXCLUDED
        if self.moment.is_covered(version):
            return Stands.SUPERSEDED
        return Stands.ELIGIBLE if version.merged_into is None else Stands.MERGED

    def stood(self, version: Version, stands: Stands) -> Stood:
        """One version with what made it stand so."""
        moment, holds = self.moment, stands in _HOLDING
        covers, is_cut = moment.covers(version, COVERS_MAX) if holds else ([], False)
        named = {
            "asserted_by": self._naming[FactAsserted][version.id],
            "activated_by": [] if version.said_active else self._naming[FactActivated].get(version.id, []),
            "cancelled": [one.id for one in moment.cancelled(version)] if holds else [],
            "excluded_by": [pair.event_id for pair in moment.excluding(version)] if holds else [],
            "kept_by": [pair.event_id for pair in version.pairs if pair.counts and pair.keep is version],
            "ended_by": self._ends(version),
            "revoked_by": self._naming[FactRevoked].get(version.id, []),
            "merged_by": self._merging(version) if holds else [],
        }
        return Stood(
            version_id=version.id,
            said=self._said[version.id],
            stands=stands,
            end=_bound(version.end),
            covered_by=tuple(map(self._covered_by, covers)),
            merged_into=version.merged_into.id if version.merged_into is not None and holds else None,
            is_pending_review=version in self._reviewed,
            is_cut=is_cut or any(len(found) > CAUSES_MAX for found in named.values()),
            **{name: tuple(found[:CAUSES_MAX]) for name, found in named.items()},
        )

    def _covered_by(self, cover: Cover) -> CoveredBy:
        hops = [Hop(ties[0].source.id, ties[0].target.id, tuple(map(self._edge_said, ties))) for ties in cover.path]
        return CoveredBy(cover.coverer.id, tuple(hops), cover.is_only_way)

    def _edge_said(self, tie: Tie) -> EdgeSaid:
        edge, (start, end) = tie.edge, tie.effect()
        event_id = None if edge is None else self._verdicts.get(edge, edge.event_id)
        return EdgeSaid(event_id, None if edge is None else edge.mode, _bound(start), _bound(end), tie.named.id)

    def _ends(self, version: Version) -> list[bytes]:
        """The ends that give its end."""
        taken_back = self.standing.taken_back
        return sorted(one for one, at in version.endings.items() if at == version.end and one not in taken_back)

    def _merging(self, version: Version) -> list[bytes]:
        """The verdicts on a shortest way to the survivor that it is merged into."""
        survivor, at, way = version.merged_into, version, []
        if survivor is None:
            return []
        onward = self._ways.get(survivor) or self._ways_to(survivor)
        while at is not survivor:
            at, event_id = onward[at]
            way.append(event_id)
        return way

    def _ways_to(self, survivor: Version) -> dict[Version, tuple[Version, bytes]]:
        """For each of its group the next one on the way, and the verdict that joins them."""
        onward = self._ways[survivor] = {}
        waiting = [survivor]
        for at in waiting:
            for other, event_id in self._duplicates[at]:
                if other is not survivor and other not in onward:
                    onward[other] = (at, event_id)
                    waiting.append(other)
        return onward


def _answer(teller: _Teller, standings: Mapping[Version, Stands]) -> Answer:
    """What the standings make of it (semantics §4)."""
    eligible = [version for version, stands in standings.items() if stands is Stands.ELIGIBLE]
    if not eligible:
        return Unknown(_reason(teller, standings))
    ids = tuple(sorted(version.id for version in eligible))
    if not teller.standing.is_single:
        return Values(ids)
    if len({version.value_no for version in eligible}) > 1:
        return Conflict(ids)
    return Value(winner_of(eligible).id, ids)


def _reason(teller: _Teller, standings: Mapping[Version, Stands]) -> str:
    instant = teller.moment.instant
    found = set(standings.values())
    never = [version for version, stands in standings.items() if stands is Stands.NEVER_HOLDS]
    if Stands.EXCLUDED in found:
        return "excluded"
    if Stands.ENDED in found or any(version.end <= instant for version in never):
        return "ended"
    if Stands.SUPERSEDED in found:
        return "superseded"
    if Stands.LATER in found or never:
        return "not_yet_valid"
    if Stands.REVOKED in found:
        return "revoked"
    return "proposed_only" if standings else "never_recorded"


_OF_REASON: Final = {
    "excluded": {Stands.EXCLUDED},
    "ended": {Stands.ENDED, Stands.NEVER_HOLDS},
    "superseded": {Stands.SUPERSEDED},
    "not_yet_valid": {Stands.LATER, Stands.NEVER_HOLDS},
    "revoked": {Stands.REVOKED},
    "proposed_only": {Stands.PROPOSED, Stands.MERGED},
}


def _deciding(answer: Answer, versions: Iterable[Stood]) -> set[bytes]:
    """The events that the answer rests on: who holds and what keeps others from it, else what its reason is about."""
    found: set[bytes] = set()
    if isinstance(answer, Unknown):
        for version in versions:
            if version.stands in _OF_REASON.get(answer.reason, ()):
                found.update(version.asserted_by, version.causes())
        return found
    for version in versions:
        if version.stands is Stands.ELIGIBLE:
            found.update(version.asserted_by, version.activated_by, version.kept_by)
        elif version.stands in _HOLDING:
            found.update(version.causes())
    return found


def _bound(instant: int) -> int | None:
    return None if instant in {NEG, POS} else instant


def _duplicates(relations: Relations | None) -> dict[Version, list[tuple[Version, bytes]]]:
    """Who is a near duplicate of whom, by which verdict."""
    found: dict[Version, list[tuple[Version, bytes]]] = {}
    for relation in () if relations is None else relations.pairs.values():
        if relation.says(Verdict.NEAR_DUPLICATE) and relation.left.ever_active and relation.right.ever_active:
            found.setdefault(relation.left, []).append((relation.right, relation.event_id))
            found.setdefault(relation.right, []).append((relation.left, relation.event_id))
    return found


def _pending_review(standing: Standing) -> set[Version]:
    """Of each pair that contradicts, and that no decision settles, the one of lower confidence; ties: the higher id."""
    relations = standing.relations
    keys = [] if relations is None else [key for key in relations.contradictions() if not _is_decided(standing, key)]
    contradicting = [] if relations is None else [relations.pairs[key] for key in keys]
    return {max((relation.left, relation.right), key=_doubt) for relation in contradicting}


def _is_decided(standing: Standing, key: tuple[bytes, bytes]) -> bool:
    pair = standing.pairs.get(key)
    return pair is not None and pair.counts


def _doubt(version: Version) -> tuple[bool, float, bytes]:
    confidence = version.confidence
    return (confidence is None, 0.0 if confidence is None else -confidence, version.id)
