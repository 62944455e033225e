"""One fact's answers from its events alone, spelled as a projection that had applied them would spell them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from threading import Lock
from typing import Final, TypeVar
from uuid import UUID

from chronofact.contracts.context import Contradiction
from chronofact.contracts.reading import KINDS, Claim, EventLine, FactHead, Found, Rectangle, Silence, VersionLine
from chronofact.domain.events import Event, FactAsserted
from chronofact.domain.history import History
from chronofact.domain.interval import format_bound, format_instant
from chronofact.domain.knots import Knot, knots_of
from chronofact.domain.labels import label_of
from chronofact.domain.resolve import Conflict, Unknown, Value, answer_at, valid_during
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.domain.standing import Version
from chronofact.reader.answers import REASONS
from chronofact.reader.counted import Unread
from chronofact.reader.slices import rectangles_of

T = TypeVar("T")
AGREEING_MAX: Final = 1_000
SILENT_STEPS_MAX: Final = 256
"""As many stretches as ``silent_during`` looks at."""
_NOT_YET_KNOWN: Final = REASONS.index("not_yet_known")


class Sight:
    """A version's first assertion: its number is its place in the order of these."""

    __slots__ = ("claim", "event_seq", "known_at")

    def __init__(self, claim: FactAsserted, event_seq: int, known_at: int) -> None:
        self.claim, self.event_seq, self.known_at = claim, event_seq, known_at

    @property
    def id_text(self) -> str:
        """The version's id."""
        return str(UUID(bytes=self.claim.version_id))

    @property
    def recorded_at(self) -> str:
        """When it was learned."""
        return format_instant(self.known_at)


class FoldedFact:
    """A fact with events that its projection has not read yet: ``events`` are all that count, ``unread`` the last ones.

    It is folded by the rule of that projection.
    """

    def __init__(
        self,
        head: FactHead,
        events: Sequence[Event],
        unread: Sequence[Unread],
        *,
        tenant_id: UUID,
        rule: int = RULE_DEFAULT,
    ) -> None:
        self.events = events
        self.unread = unread
        self.tenant_id = tenant_id
        self._rule = rule
        self._times = [event.recorded_at for event in events]
        self._sights = _first_sights(events)
        self.head = head._replace(event_seq=len(events), versions=len(self._sights))
        self._lock = Lock()
        self._rested: tuple[int, History] | None = None

    @property
    def stored(self) -> int:
        """How many of the events the projection has."""
        return len(self.events) - len(self.unread)

    def whole_head(self) -> FactHead:
        """The head with what only a fold tells: whether every version has a lane."""
        history = History.load(
            self.events[: self.stored], lane_mode=self.head.lane_mode, conflicts_open=0, rule=self._rule
        )
        for event in self.events[self.stored :]:
            history.apply(event)
        return self.head._replace(lane_mode=history.lane_mode)

    def is_stored_as_of(self, system_as_of: int | None) -> bool:
        """Whether the projection alone can say what was known then."""
        return self.stored > 0 and system_as_of is not None and system_as_of < self._times[self.stored]

    def found(self, asks: Sequence[tuple[int, int | None]]) -> list[Found]:
        """Answers at ``valid_at`` and ``system_as_of``, in order."""
        return self._at([(as_of, _asker(self._found, valid_at)) for valid_at, as_of in asks])

    def silences(self, asks: Sequence[tuple[int, int | None]]) -> list[Silence]:
        """How long it says nothing around ``valid_at``, as known at ``system_as_of``."""
        return self._at([(as_of, _asker(_silence, valid_at)) for valid_at, as_of in asks])

    def claims(self, asks: Sequence[tuple[int, int, int | None]]) -> list[Claim]:
        """For each place, version number and ``system_as_of`` what the version says."""
        return self._at([(as_of, _asker(self._claim, place, number)) for place, number, as_of in asks])

    def contradictions(self, asks: Sequence[tuple[int, int | None]]) -> list[list[Contradiction]]:
        """For each place and ``system_as_of`` the pairs that contradict each other, unsettled."""
        return self._at([(as_of, _asker(self._contradictions, place)) for place, as_of in asks])

    def claims_of(self, version_nos: Iterable[int]) -> dict[int, tuple[str, bytes]]:
        """Id and value of some versions."""
        return {no: (self._sights[no - 1].id_text, self._sights[no - 1].claim.value) for no in version_nos}

    def versions(self, *, after: int, limit: int) -> list[VersionLine]:
        """A page of versions with their labels."""
        history = self._at_rest(len(self.events))
        knots = knots_of(history.standing)
        return [
            self._version_line(history, knots, number)
            for number in range(after + 1, min(after + limit, len(self._sights)) + 1)
        ]

    def timeline(self, *, system_as_of: int | None, after: int, limit: int) -> list[Rectangle]:
        """A page of rectangles, as known then."""
        count = len(self.events) if system_as_of is None else bisect_right(self._times, system_as_of)
        return rectangles_of(self.events[:count], self._rule)[after : after + limit]

    def lines(self, *, after: int, limit: int) -> list[EventLine]:
        """The unread events of a page by ``event_seq``."""
        first = max(after - self.stored, 0)
        return [
            self.unread[at].line(self.stored + at + 1, self.events[self.stored + at])
            for at in range(first, min(first + limit, len(self.unread)))
        ]

    def _at(self, asks: Sequence[tuple[int | None, Callable[[History], T]]]) -> list[T]:
        """Each asked of the history as known then."""
        counts = [len(self.events) if at is None else bisect_right(self._times, at) for at, _ in asks]
        histories = self._histories(sorted({*counts}))
        said: dict[int, T] = {}
        places = iter(sorted(range(len(asks)), key=counts.__getitem__))
        for _, together in groupby(places, key=counts.__getitem__):
            history = next(histories)
            for place in together:
                said[place] = asks[place][1](history)
        return [said[place] for place in range(len(asks))]

    def _histories(self, counts: Sequence[int]) -> Iterator[History]:
        """As known after so many events; where there are many, one that grows, so that all cost one fold."""
        if len(counts) == 1:
            yield self._at_rest(counts[0])
            return
        history: History | None = None
        for count in counts:
            if history is None:
                # no answer tells how many conflict pairs there are, so they need not be counted
                history = History.load(self.events[:count], conflicts_open=0, rule=self._rule)
            while history.event_seq < count:
                history.apply(self.events[history.event_seq])
            yield history

    def _at_rest(self, count: int) -> History:
        """Kept, since whoever asks for an answer asks next for what is behind it."""
        with self._lock:
            if self._rested is None or self._rested[0] != count:
                self._rested = count, History.at_rest(self.events[:count], rule=self._rule)
            return self._rested[1]

    def _found(self, history: History, valid_at: int) -> Found:
        label, fact_no = self.head.subject_label, self.head.fact_no
        silent = Found(fact_no, label, 0, _NOT_YET_KNOWN, *[None] * 7)
        if not history.event_seq:
            return silent
        answer = answer_at(history, valid_at)
        start, end = map(format_bound, valid_during(history, valid_at))
        match answer:
            case Unknown():
                return silent._replace(reason=REASONS.index(answer.reason), valid_from=start, valid_to=end)
            case Value():
                return self._value(history, answer, start, end)
            case _:
                kind = KINDS.index("conflict" if isinstance(answer, Conflict) else "values")
                return silent._replace(
                    kind=kind,
                    reason=None,
                    versions=_numbers(history, answer.version_ids),
                    valid_from=start,
                    valid_to=end,
                )

    def _value(self, history: History, answer: Value, start: str | None, end: str | None) -> Found:
        numbers = _numbers(history, answer.agreeing)
        winner = self._sights[history.standing.by_id[answer.version_id].no - 1]
        agreeing = sorted(self._sights[number - 1].id_text for number in numbers[:AGREEING_MAX])
        return Found(
            self.head.fact_no,
            self.head.subject_label,
            KINDS.index("value"),
            None,
            numbers,
            start,
            end,
            winner.id_text,
            winner.claim.value,
            winner.recorded_at,
            agreeing if len(numbers) > 1 else None,
        )

    def _claim(self, history: History, place: int, number: int) -> Claim:
        sight = self._sights[number - 1]
        version = history.standing.by_id[sight.claim.version_id]
        ends = [at for event_id, at in version.endings.items() if event_id not in history.standing.taken_back]
        end = sight.claim.valid.end
        return Claim(
            place,
            sight.id_text,
            sight.claim.value,
            version.value_key.hex(),
            format_bound(sight.claim.valid.start),
            format_bound(min([*ends, end] if end is not None else ends, default=None)),
            sight.claim.source_id,
            sight.recorded_at,
        )

    def _contradictions(self, history: History, place: int) -> list[Contradiction]:
        standing = history.standing
        if standing.relations is None:
            return []
        learned = {event.event_id: event.recorded_at for event in self.events}
        found = []
        for ids in standing.relations.contradictions():
            decided = standing.pairs.get(ids)
            if decided is None or not decided.counts:
                left, right = (standing.by_id[one] for one in ids)
                pending = left if _confidence(left) < _confidence(right) else right
                left_id, right_id, pending_id = (str(UUID(bytes=one.id)) for one in (left, right, pending))
                declared = format_instant(learned[standing.relations.pairs[ids].event_id])
                found.append(Contradiction(place, left_id, right_id, pending_id, declared))
        return found

    def _version_line(self, history: History, knots: Mapping[Version, Knot], number: int) -> VersionLine:
        sight = self._sights[number - 1]
        claim = sight.claim
        label = label_of(history.standing, knots, history.standing.numbered[number - 1])
        return VersionLine(
            number,
            sight.id_text,
            claim.value,
            claim.value_hash.hex(),
            format_bound(claim.valid.start),
            format_bound(claim.valid.end),
            sight.recorded_at,
            sight.event_seq,
            claim.source_id,
            claim.source_hash.hex(),
            label.lifecycle.value,
            label.confidence,
            *map(_id_text, (label.supersedes_id, label.superseded_by_id, label.merged_into_id)),
        )


def _first_sights(events: Iterable[Event]) -> list[Sight]:
    seen: dict[bytes, Sight] = {}
    for event_seq, event in enumerate(events, start=1):
        said = event.what
        if isinstance(said, FactAsserted) and said.version_id not in seen:
            seen[said.version_id] = Sight(said, event_seq, event.recorded_at)
    return list(seen.values())


def _silence(history: History, valid_at: int) -> Silence:
    """As ``silent_during``: stretch after stretch, first later ones, for as many steps as it takes."""
    if not history.event_seq:
        return Silence(None, None)
    start, end = valid_during(history, valid_at)
    steps = SILENT_STEPS_MAX
    while end is not None and steps:
        steps -= 1
        if not isinstance(answer_at(history, end), Unknown):
            break
        end = valid_during(history, end)[1]
    while start is not None and steps:
        steps -= 1
        if not isinstance(answer_at(history, start - 1), Unknown):
            break
        start = valid_during(history, start - 1)[0]
    return Silence(format_bound(start), format_bound(end))


def _confidence(version: Version) -> float:
    return -1.0 if version.confidence is None else version.confidence


def _asker(ask: Callable[..., T], *given: int) -> Callable[[History], T]:
    return lambda history: ask(history, *given)


def _numbers(history: History, version_ids: Iterable[bytes]) -> list[int]:
    return sorted(history.standing.by_id[one].no for one in version_ids)


def _id_text(raw: bytes | None) -> str | None:
    return None if raw is None else str(UUID(bytes=raw))
