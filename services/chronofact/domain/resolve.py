"""What held at one instant as known at another: a value, values, a conflict, or why it is unknown (semantics §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from chronofact.domain.history import History
from chronofact.domain.lanes import lane_of
from chronofact.domain.paint import winner_of
from chronofact.domain.rules import RULE_DEFAULT
from chronofact.domain.spans import NEG, POS, contains

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chronofact.domain.events import Event
    from chronofact.domain.picture import Reason
    from chronofact.domain.standing import Version


@dataclass(frozen=True, slots=True)
class Value:
    """Every eligible version agrees; ``version_id`` answers for them, ``agreeing`` are all of them by id."""

    version_id: bytes
    agreeing: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """A many-valued fact: every eligible version, by id."""

    version_ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Eligible versions of a single-valued fact differ; nothing says which holds."""

    version_ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing holds; ``reason`` is the first that fits, or that nothing was known yet."""

    reason: str


Answer: TypeAlias = Value | Values | Conflict | Unknown


def resolve(events: Iterable[Event], *, valid_at: int, system_as_of: int | None, rule: int = RULE_DEFAULT) -> Answer:
    """The answer of one fact from its events in log order, repeats and all; None takes everything."""
    history = History(rule)
    seen = False
    for event in events:
        seen = True
        if history.knows(event.event_id):
            continue
        if system_as_of is not None and max(history.recorded_at, event.recorded_at) > system_as_of:
            break
        history.apply(event)
    if seen and not history.event_seq:
        return Unknown("not_yet_known")
    return answer_at(history, valid_at)


def answer_at(history: History, instant: int) -> Answer:
    """The answer at an instant of valid time, as known after everything the history holds."""
    if not history.event_seq:
        return Unknown("never_recorded")
    standing = history.standing
    eligible = [version for version in standing.numbered if contains(version.eligible, instant)]
    if not eligible:
        return Unknown(_reason(history, instant))
    ids = tuple(sorted(version.id for version in eligible))
    if not standing.is_single:
        return Values(ids)
    if len({version.value_no for version in eligible}) > 1:
        return Conflict(ids)
    return Value(winner_of(eligible).id, ids)


def valid_during(history: History, instant: int) -> tuple[int | None, int | None]:
    """The longest stretch around an instant with the same kind and value or values, or the same reason."""
    bounds = sorted(_bounds(history))
    starts = [NEG, *bounds]
    ends = [*bounds, POS]
    at = sum(1 for bound in bounds if bound <= instant)
    wanted = _gist(history, instant)
    low = high = at
    while low > 0 and _gist(history, starts[low] - 1) == wanted:
        low -= 1
    while high < len(bounds) and _gist(history, ends[high]) == wanted:
        high += 1
    start, end = starts[low], ends[high]
    return (None if start == NEG else start, None if end == POS else end)


def _gist(history: History, instant: int) -> tuple[str, object]:
    answer = answer_at(history, instant)
    match answer:
        case Unknown():
            return ("unknown", answer.reason)
        case Value():
            return ("value", frozenset({_value_no(history, answer.version_id)}))
        case Values() | Conflict():
            kind = type(answer).__name__
            return (kind, frozenset(_value_no(history, version_id) for version_id in answer.version_ids))
        case _:
            assert_never(answer)


def _value_no(history: History, version_id: bytes) -> int:
    return history.standing.by_id[version_id].value_no


def _bounds(history: History) -> set[int]:
    bounds: set[int] = set()
    for version in history.standing.numbered:
        if version.active:
            bounds.update((version.start, version.end))
        for spans in (version.eligible, version.covered, version.excluded()):
            for span in spans:
                bounds.update(span)
    return bounds - {NEG, POS}


def _reason(history: History, instant: int) -> str:
    picture = history.picture
    if picture.shows_answers:
        return picture.reason_at(instant).name.lower()
    return min(_lane_reason(version, instant) for version in history.standing.numbered).name.lower()


def _lane_reason(version: Version, instant: int) -> Reason:
    reasons = (cell.reason for start, end, cell in lane_of(version) if start <= instant < end)
    return next(reason for reason in reasons if reason is not None)
