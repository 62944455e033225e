"""An explanation in plain English, made from its facts alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from chronofact.domain.events import (
    ConflictResolved,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Mode,
    RelationDeclared,
)
from chronofact.domain.explained import Stands, Why
from chronofact.domain.inert import cited, inert, named
from chronofact.domain.interval import datetime_of
from chronofact.domain.resolve import Conflict, Unknown, Value, Values
from chronofact.domain.rules import value_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from chronofact.domain.explained import CoveredBy, EdgeSaid, Explanation, Ignored, Stood

TEXT_CHARS_MAX: Final = 60
NAMES_MAX: Final = 5
"""Values that one sentence lists."""
VERSIONS_TOLD_MAX: Final = 12
IGNORED_TOLD_MAX: Final = 6
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_REASONS: Final = {
    "never_recorded": "nothing was ever said about it",
    "not_yet_known": "nothing about it had been learned by then",
    "excluded": "a decision judged wrong what was said",
    "ended": "what was said has ended",
    "superseded": "what was said was superseded, and what supersedes it does not hold",
    "not_yet_valid": "what was said starts later",
    "revoked": "what was said was taken back",
    "proposed_only": "what was said was proposed and never admitted, or merged into something that does not hold",
}
_NO_VERSION: Final = "what had been said speaks only of versions that nobody had asserted"
_WHYS: Final = {
    Why.TAKEN_BACK: "it was taken back",
    Why.OVERRIDDEN: "another one on the same two versions counts more",
    Why.EARLIER_END: "an earlier end counts",
    Why.OWN_END: "its own valid_to comes first",
    Why.VERSION_UNKNOWN: "it names a version that nobody has asserted",
    Why.TO_ITSELF: "it names one version twice",
    Why.NEVER_ACTIVE: "it names a version that was never admitted",
    Why.NOT_ADMITTED: "only a proposal said it, which was never admitted",
    Why.COVERS_NOTHING: "it comes from a version that was taken back or never holds",
    Why.OTHER_TIME: "it has effect at other times",
    Why.NO_TIME: "there is no time at which it has effect",
    Why.KEEP_NOT_IN_PAIR: "it keeps neither of its two versions",
    Why.NOT_ACTIVE: "a version that it speaks of is not active",
    Why.NEWER_NOT_IN_PAIR: "it names as newer neither of its two versions",
    Why.NOTHING_TO_TAKE_BACK: "there is nothing of the sort to take back",
}
_SORTS: Final = {
    "FactAsserted": "a supersession",
    "FactSuperseded": "a supersession",
    "FactActivated": "an admission",
    "FactEnded": "an end",
    "FactRevoked": "a revocation",
    "ConflictResolved": "a decision",
    "RelationDeclared": "a verdict",
}


@dataclass(frozen=True, slots=True)
class Told:
    """Another answer, as far as a sentence needs it: its values' canonical JSON or its reason, and for how long."""

    kind: str
    values: tuple[str, ...]
    reason: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Around:
    """What an answer stands among: for how long it holds, what held before and comes next, what was known at the time."""

    start: int | None = None
    end: int | None = None
    before: Told | None = None
    after: Told | None = None
    then: Told | None = None
    """The answer as known at ``valid_at`` itself, where it differs."""
    as_of: int | None = None
    scope: str = ""
    silent: tuple[tuple[str, str], ...] = ()
    """The other scopes that were asked first and answer nothing, each with its reason."""


def when(instant: int) -> str:
    """A day in UTC, with its time where that is not midnight."""
    moment = datetime_of(instant)
    day = f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
    if not (moment.hour or moment.minute or moment.second or moment.microsecond):
        return day
    seconds = f":{moment.second:02}" if moment.second or moment.microsecond else ""
    fraction = f".{moment.microsecond:06}".rstrip("0") if moment.microsecond else ""
    return f"{day}, {moment.hour:02}:{moment.minute:02}{seconds}{fraction} UTC"


def shortened(value: str) -> str:
    """A value's canonical JSON as a sentence shows it: one plain word without its quotes, cut where it is long."""
    return _word(json.loads(value)) if value.startswith('"') else inert(_cut(value))


def sentences(explanation: Explanation, around: Around, *, name: Callable[[str], str] = shortened) -> list[str]:
    """All that there is to say, the answer first."""
    teller = _Teller(explanation, name)
    return [
        teller.answer(around),
        *_chain(around),
        *teller.eligible(),
        *teller.others(),
        *teller.ignored(),
        *teller.left_out(around),
        *_neighbours(around, explanation.valid_at, name),
    ]


class _Teller:
    """Names versions by their values; where several look the same, by source and start too."""

    def __init__(self, explanation: Explanation, name: Callable[[str], str]) -> None:
        self._explanation = explanation
        self._value = name
        self._of = {one.version_id: one for one in explanation.versions}
        seen: dict[bytes, int] = {}
        for one in explanation.versions:
            seen[_look(one)] = seen.get(_look(one), 0) + 1
        self._shared = {value for value, count in seen.items() if count > 1}

    def answer(self, around: Around) -> str:
        """What holds, since when, and by which right."""
        answer, during = self._explanation.answer, _during(around.start, around.end)
        match answer:
            case Value(version_id, agreeing):
                said_by = [self._of[one].said.source_id for one in agreeing if one in self._of]
                sources = list(dict.fromkeys([self._of[version_id].said.source_id, *said_by]))
                verb = "has held" if around.end is None else "holds"
                verb = "has always held" if around.start is None and around.end is None else verb
                value = self._value(self._of[version_id].said.value.decode())
                source = _listed(list(map(_word, sources)), len(sources))
                noun = "source" if len(sources) == 1 else "the sources"
                return f"{value} {verb}{during}: it was said by {noun} {source}, and nothing supersedes it."
            case Values(version_ids):
                named = self._names(version_ids)
                verb, them = ("holds", "it") if len(version_ids) == 1 else ("hold", "them")
                return f"{named} {verb}{during}: many values may, and nothing supersedes {them}."
            case Conflict(version_ids):
                why = "no supersession and no decision says which to keep"
                both = "both" if len(version_ids) == 2 else "all"
                return f"It is not settled{during}: {self._names(version_ids)} {both} claim to hold; {why}."
            case Unknown(reason):
                why = _NO_VERSION if reason == "never_recorded" and self._explanation.log else _REASONS[reason]
                return f"Nothing is known to hold{during}: {why}."
            case _:
                assert_never(answer)

    def eligible(self) -> Iterator[str]:
        """What helps those that hold, or stands in the way of their use."""
        holding = [one for one in self._explanation.versions if one.stands is Stands.ELIGIBLE]
        unheard = {one.event_id for one in self._explanation.ignored}
        for one in holding[:VERSIONS_TOLD_MAX]:
            named = self._name(one)
            for event_id in [kept for kept in one.kept_by if kept not in unheard]:
                yield f"{_capital(self._decision(event_id))} keeps {named}."
            if one.activated_by:
                yield f"{named} was proposed, and admitted later."
            if one.is_pending_review:
                yield f"{named} contradicts something of higher confidence and waits for a review."

    def others(self) -> Iterator[str]:
        """Why each other version does not hold."""
        others = [one for one in self._explanation.versions if one.stands is not Stands.ELIGIBLE]
        for one in others[:VERSIONS_TOLD_MAX]:
            yield f"{self._name(one)} {self._why_not(one)}."
        circles = {frozenset((one.version_id, *one.cancelled)): one for one in reversed(self._explanation.versions)}
        for one in [one for one in reversed(circles.values()) if one.cancelled][:VERSIONS_TOLD_MAX]:
            rest = self._names(one.cancelled)
            yield f"{self._name(one)} and {rest} supersede one another in a circle, which decides nothing."
        counts = self._explanation.counts
        untold = sum(counts.values()) - counts.get(Stands.ELIGIBLE, 0) - VERSIONS_TOLD_MAX
        if untold > 0:
            yield f"{_number(untold, 'more version')} {'does' if untold == 1 else 'do'} not hold."

    def _why_not(self, one: Stood) -> str:
        match one.stands:
            case Stands.SUPERSEDED:
                return f"is superseded by {self._coverers(one)}"
            case Stands.EXCLUDED:
                return f"does not count: {self._decision(one.excluded_by[0])} judged it wrong"
            case Stands.MERGED:
                survivor = self._of.get(one.merged_into or b"")
                into = "another version" if survivor is None else self._name(survivor)
                return f"says nearly the same as {into} and was merged into it"
            case Stands.ENDED:
                return f"ended on {when(one.end or 0)}{self._end_said(one)}"
            case Stands.LATER:
                return f"starts later, on {when(one.said.valid.start or 0)}"
            case Stands.NEVER_HOLDS:
                return f"never holds: its end, {when(one.end or 0)}, is not after its start{self._end_said(one)}"
            case Stands.REVOKED:
                return f"was taken back{self._reason_of(one.revoked_by)}"
            case _:
                return "was proposed and never admitted"

    def _coverers(self, one: Stood) -> str:
        first = one.covered_by[0]
        told = f"{self._named(first.version_id)}{self._way(first)}"
        more = len(one.covered_by) - 1
        if one.is_cut or more:
            told += ", and by others" if one.is_cut else f", and by {_number(more, 'other')}"
        return told

    def _way(self, cover: CoveredBy) -> str:
        if len(cover.path) == 1:
            return self._edge(cover.path[0].edges[0])
        steps = [f"{self._named(hop.new)} supersedes {self._named(hop.old)}" for hop in cover.path]
        return f", as {' and '.join(steps[:NAMES_MAX])}{' and so on' if len(steps) > NAMES_MAX else ''}"

    def _edge(self, edge: EdgeSaid) -> str:
        since = "" if edge.effective_from is None else f" from {when(edge.effective_from)} on"
        if edge.event_id is None:
            return f"{since}, which starts later and succeeds it automatically"
        if edge.mode is Mode.OVERRIDE or edge.effective_to is not None:
            since = _during(edge.effective_from, edge.effective_to)
        what = self._explanation.log[edge.event_id].event.what
        if isinstance(what, RelationDeclared):
            return f"{since}, by the verdict of a {what.decided_by}{_because(what.reason)}"
        if isinstance(what, FactSuperseded):
            return f"{since}, by a supersession{_because(what.reason)}"
        return f"{since}, which says so itself"

    def _end_said(self, one: Stood) -> str:
        """Its own ``valid_to``, or the earliest end."""
        if one.said.valid.end == one.end:
            return ", as it said itself"
        said = self._explanation.log[one.ended_by[0]].event.what
        assert isinstance(said, FactEnded)  # noqa: S101 - ends are named by their events
        return f", by an end{_because(said.reason)}"

    def _reason_of(self, event_ids: Sequence[bytes]) -> str:
        said = [self._explanation.log[one].event.what for one in event_ids]
        return next((_because(one.reason) for one in said if isinstance(one, FactRevoked)), "")

    def _decision(self, event_id: bytes) -> str:
        said = self._explanation.log[event_id].event.what
        assert isinstance(said, ConflictResolved)  # noqa: S101 - decisions are named by their events
        by = "" if said.decided_by is None else f" by {_word(said.decided_by)}"
        return f"the decision of {when(said.decided_at)}{by}{_because(said.reason)}"

    def ignored(self) -> Iterator[str]:
        """What was said and does not count then."""
        for one in self._explanation.ignored[:IGNORED_TOLD_MAX]:
            yield self._ignored(one)
        more = self._explanation.ignored_count - IGNORED_TOLD_MAX
        if more > 0:
            yield f"{_number(more, 'other thing')} said {'does' if more == 1 else 'do'} not count then either."

    def _ignored(self, one: Ignored) -> str:
        event = self._explanation.log[one.event_id].event
        sort = _SORTS[type(event.what).__name__]
        named = [self._name(self._of[each]) for each in dict.fromkeys(one.version_ids) if each in self._of]
        about = f" about {' and '.join(named)}" if named else ""
        if isinstance(event.what, FactAsserted | FactSuperseded) and len(named) == 2:
            about = f" of {named[1]} by {named[0]}"
        why = _WHYS[one.why]
        if isinstance(event.what, ConflictResolved) and one.why in {Why.OTHER_TIME, Why.NO_TIME}:
            both = (
                "both claim to hold at no time"
                if one.during is None
                else f"both claim to hold{_during(*one.during)} only"
            )
            why = f"{both}, and there is no supersession then that it could stop"
        elif one.why is Why.OTHER_TIME and one.during is not None:
            why = f"it has effect{_during(*one.during) or ' always'} only"
        elif one.why is Why.TAKEN_BACK and one.by is not None:
            why += self._reason_of([one.by])
        return _capital(f"{sort}{about}, learned on {when(event.recorded_at)}, does not count then: {why}.")

    def left_out(self, around: Around) -> Iterator[str]:
        """What was learned too late to count."""
        late = len(self._explanation.left_out)
        if late and around.as_of is not None:
            new = len(self._explanation.left_out_versions)
            about = f", with {_number(new, 'new version')}" if new else ""
            were = "was" if late == 1 else "were"
            yield f"{_number(late, 'event')} {were} learned after {when(around.as_of)} and left out{about}."

    def _names(self, version_ids: Sequence[bytes]) -> str:
        listed = [one for one in version_ids if one in self._of] or version_ids
        return _listed([self._named(one) for one in listed[:NAMES_MAX]], len(version_ids))

    def _named(self, version_id: bytes) -> str:
        one = self._of.get(version_id)
        return "a version that is not listed" if one is None else self._name(one)

    def _name(self, one: Stood) -> str:
        value = self._value(one.said.value.decode())
        if _look(one) not in self._shared:
            return value
        return f"{value} (said by {_word(one.said.source_id)}{_during(one.said.valid.start, one.said.valid.end)})"


def _look(one: Stood) -> bytes:
    """Equal where values look the same, be they one by the rule or not."""
    return value_key(one.said.value, one.said.value_hash, 2)


def _chain(around: Around) -> Iterator[str]:
    for scope, reason in around.silent:
        yield f"{named(scope)} answers nothing ({_REASONS[reason]}), so {named(around.scope)} was asked."


def _neighbours(around: Around, valid_at: int, name: Callable[[str], str]) -> Iterator[str]:
    if around.then is not None and (valid_at >= 0 or around.then.reason != "not_yet_known"):
        yield f"On {when(valid_at)} we would have said that {_told(around.then, name)}."
    if around.before is not None and around.start is not None:
        yield f"{_stretch(around.before.start, around.start)}, {_told(around.before, name)}."
    if around.after is not None and around.end is not None:
        yield f"{_stretch(around.end, around.after.end)}, {_told(around.after, name)}."


def _stretch(start: int | None, end: int | None) -> str:
    """How a sentence about another stretch begins."""
    if start is None:
        return "Always" if end is None else f"Before {when(end)}"
    return f"From {when(start)} on" if end is None else f"From {when(start)} until {when(end)}"


def _told(told: Told, name: Callable[[str], str]) -> str:
    if told.kind == "unknown":
        return f"nothing is known to hold, since {_REASONS[told.reason or 'never_recorded']}"
    named = _listed([name(value) for value in told.values[:NAMES_MAX]], len(told.values))
    if told.kind == "conflict":
        return f"it is not settled between {named}"
    return f"{named} {'holds' if len(told.values) == 1 else 'hold'}"


def _during(start: int | None, end: int | None) -> str:
    if start is None:
        return "" if end is None else f" until {when(end)}"
    return f" since {when(start)}" if end is None else f" from {when(start)} until {when(end)}"


def _because(reason: str | None) -> str:
    return f" ({cited(_cut(reason))})" if reason else ""


def _listed(names: Sequence[str], count: int) -> str:
    """Names in a row, and how many more there are."""
    shown = list(dict.fromkeys(names[:NAMES_MAX]))
    if count > len(names[:NAMES_MAX]):
        return f"{', '.join(shown)} and {count - len(names[:NAMES_MAX]):,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_CHARS_MAX else f"{text[: TEXT_CHARS_MAX - 1]}…"


def _word(text: str) -> str:
    return named(_cut(text))
