"""Whether one frame of the later-valid memory answers one of the earlier: same slot, another value, nothing in the way."""

from __future__ import annotations

from typing import Final

from chronofact.text.fitting import ends, stem
from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality, of_entity
from chronofact.text.leaving import leaves
from chronofact.text.reasons import Reason
from chronofact.text.states import THING, are_one_state, follows, is_same_thing, passes
from chronofact.text.types import are_alternatives, are_apart, type_of
from chronofact.text.values import contains, is_shortened, may_be_one_clock, same, shared
from chronofact.text.words import HOMES, ORDINALS, PASSING, SIDE_ROLES

DECIDES: Final = frozenset({Reason.VALUE_CHANGED, Reason.SWITCHED, Reason.ENDED})
NEEDS_CUE: Final = frozenset(
    {"residence", "staying", "at:in", "employer", "occupation", "use", "vehicle", "housing", "prop:name"}
)
"""A person may have two of these: another value alone is no change."""
_OF_VALUES: Final = frozenset({Reason.IMMUTABLE, Reason.SAME_VALUE, Reason.CONTAINED_VALUE})
_GUARDS: Final = frozenset(Reason)
_REPLACEABLE: Final = frozenset({"use", "prefer", "switch", "made_with", "plan_tier", "bank", "study"})
_CUES: Final = frozenset(
    {
        "now",
        "nowadays",
        "current",
        "currently",
        "instead",
        "recently",
        "presently",
        "again",
        "changed",
        "started",
        "anymore",
    }
)
_STATES: Final = frozenset({"diet"})
_PASSED: Final = frozenset({"prop:phase", "prop:stage", "at:in:grade"})
"""What one goes through, one after the other."""
NEAR: Final = 1.25
_MEASURES: Final = frozenset({"number", "clock", "date", "month", "weekday", "color", ""})
_TYPED: Final = frozenset({"prefer", "use", "switch", "made_with"})
_NAMED: Final = {"residence": frozenset({"place", "region"}), "employer": frozenset({"organisation"})}


def answer(old: Frame, new: Frame) -> Reason | None:
    """Why ``new`` supersedes ``old``, what forbids it, or None where they are not about the same."""
    matched = passes(old, new) or _left_there(old, new)
    if matched is None and of_entity(old) == of_entity(new):
        matched = leaves(old, new) or _match(old, new)
    if matched is None:
        return None
    if matched in _OF_VALUES:
        return matched
    if matched not in DECIDES:
        return guard_of(new) or matched
    return guard_of(new) or _guard_of_old(old, new) or matched


def _match(old: Frame, new: Frame) -> Reason | None:
    """Which kind of match it is, and what its own values forbid."""
    if new.slot == "switch":
        return _switched(old, new)
    if new.slot == "end":
        return _ended(old, new)
    if new.slot in {"residence", "at:in"} and new.from_value:
        return _left(old, new)
    if (
        old.slot == "switch"
        and new.value_type
        and new.value_type == old.value_type
        and new.slot in _REPLACEABLE
        and new.polarity is Polarity.POSITIVE
    ):
        return _changed(old, new)
    if old.slot != new.slot:
        return None
    if old.polarity is not new.polarity:
        return _flipped(old, new)
    if new.polarity is Polarity.NEGATIVE:
        return Reason.SAME_VALUE if same(old.value, new.value) else None
    return _changed(old, new)


def _left_there(old: Frame, new: Frame) -> Reason | None:
    """``replaced Lerna with Nx in our monorepo``: whoever did it, of the monorepo it is told."""
    said, _, thing = new.scope.partition(" ")
    if (
        new.slot != "switch"
        or said not in {"in", "on", "for", "at"}
        or ":" in new.entity
        or old.polarity is Polarity.NEGATIVE
    ):
        return None
    is_left = bool(new.from_value and new.value) and same(new.from_value, old.value)
    return Reason.SWITCHED if is_left and not old.scope and is_same_thing(old.entity, thing) else None


def _is_done_to(old: Frame, new: Frame) -> bool:
    """``stores photos on Dropbox``: backups that were moved away from there are no photos."""
    things = [cue.removeprefix(THING).split()[-1] for cue in new.cues if cue.startswith(THING)]
    _, verb, thing = (*old.slot.split(":"), "", "")[:3]
    return (
        not things
        or not (old.slot.startswith("do:") and verb and thing)
        or not {verb, thing.split()[-1]}.isdisjoint(things)
    )


def _switched(old: Frame, new: Frame) -> Reason | None:
    if not _is_done_to(old, new):
        return None
    if new.from_value and old.slot in _NAMED and not PASSING.isdisjoint(new.value.split()):
        return Reason.ONE_OFF  # "left Acme for lunch"
    if (
        new.from_value
        and new.from_value == old.scope.partition(" ")[2]
        and _is_of(new.scope, f"{old.slot} {old.value}")
    ):
        return Reason.SWITCHED
    noun = old.slot.partition(":")[2] if old.slot.startswith("have:") else ""
    thing = old.slot.split(":")[-1] if old.slot.startswith("do:") and not old.value else ""
    is_kind = old.slot.startswith("do:") and old.slot.endswith(f":{old.value_type}")  # "code reviews" are no VS Code
    whole = f"{old.value} {old.value_type}"
    if new.from_value and (
        (is_kind and (same(new.from_value, old.value) or same(new.from_value, whole)))
        or (not is_kind and shared(new.from_value, old.value))
        or (noun and shared(new.from_value, f"{old.value} {noun}"))
        or (thing and same(new.from_value, thing))
    ):
        if old.polarity is Polarity.NEGATIVE:
            return Reason.POLARITY
        return _scoped(old, new) or (Reason.SAME_VALUE if same(new.value, old.value) else Reason.SWITCHED)
    if new.from_value or not new.value_type or new.value_type != old.value_type or old.polarity is Polarity.NEGATIVE:
        return None
    if old.slot not in _REPLACEABLE and not old.slot.startswith(("prop:", "at:on", f"do:use:{new.value_type}")):
        return None
    return _changed(old, new)


def _is_of(scope: str, slot: str) -> bool:
    """``for styling pages``: no more than the slot says."""
    said = {stem(word) for word in scope.removeprefix("for ").split()}
    return said <= {stem(word) for word in slot.replace(":", " ").split()}


def _left(old: Frame, new: Frame) -> Reason | None:
    """``moved from X to Y`` leaves X, be it a town or a tool; of another town it says nothing."""
    if shared(new.from_value, old.value):
        return _scoped(old, new) or (Reason.SAME_VALUE if same(new.value, old.value) else Reason.SWITCHED)
    return Reason.FROM_ANOTHER if old.slot == new.slot else None


def _ended(old: Frame, new: Frame) -> Reason | None:
    if not ends(old, new):
        return None
    if old.polarity is Polarity.NEGATIVE:
        return Reason.POLARITY
    return _scoped(old, new) or Reason.ENDED


def _flipped(old: Frame, new: Frame) -> Reason | None:
    """Yes to no, or no to yes, of one and the same value."""
    if not same(old.value, new.value) and not (new.polarity is Polarity.NEGATIVE and _is_more_of(old, new)):
        return None
    if new.polarity is Polarity.NEGATIVE:
        return _scoped(old, new) or Reason.ENDED
    return _scope_equal(old, new) or Reason.VALUE_CHANGED


def _is_more_of(old: Frame, new: Frame) -> bool:
    """``therapy weekly`` is ended by no more therapy."""
    rest = [word for word in old.value.split() if word not in new.value.split()]
    return bool(new.value and rest) and contains(old.value, new.value) and all(word.endswith("ly") for word in rest)


def _changed(old: Frame, new: Frame) -> Reason | None:
    """Another value in a slot that holds one."""
    if old.slot.startswith("do:") and old.value == new.value and _moved_scope(old, new):
        return Reason.VALUE_CHANGED
    if not old.value or not new.value:
        return Reason.NO_VALUE
    if same(old.value, new.value):
        return Reason.SAME_VALUE
    if Holds.IMMUTABLE in {old.cardinality, new.cardinality}:
        return Reason.IMMUTABLE
    if new.from_value and shared(new.from_value, old.value):
        limits = _scope_equal if new.slot == "prefer" else _scoped
        return limits(old, new) or Reason.SWITCHED
    if old.slot == "prefer" and old.from_value and same(old.from_value, new.value):
        return _scope_equal(old, new) or Reason.SWITCHED
    return _scope_equal(old, new) or _kind(old, new) or Reason.VALUE_CHANGED


def _moved_scope(old: Frame, new: Frame) -> bool:
    """``takes notes on paper``, ``takes notes on a tablet now``: the same, done with another thing."""
    (was, _, had), (now, _, has) = old.scope.partition(" "), new.scope.partition(" ")
    return (
        "now" in new.cues
        and was == now in {"on", "in", "at", "with", "from", "by"}
        and bool(had and has)
        and not contains(had, has)
    )


def _kind(old: Frame, new: Frame) -> Reason | None:
    """What the values, their types and the slot forbid."""
    if (
        (contains(old.value, new.value) and not _is_risen(old, new))
        or is_shortened(old.value, new.value)
        or _may_be_one_number(old, new)
    ):
        return Reason.CONTAINED_VALUE
    if old.value_type == new.value_type == "clock" and may_be_one_clock(old.value, new.value):
        return Reason.SAME_VALUE
    if new.slot == "status" and are_one_state(old.value, new.value):
        return Reason.SAME_VALUE
    if {old.value_type, new.value_type} == {"place", "region"}:
        return Reason.REGION_AND_PLACE
    named = _NAMED.get(new.slot)
    if named and not (old.value_type in named and new.value_type in named):
        return Reason.NOT_A_NAME
    if new.slot == "housing" and HOMES.isdisjoint(old.value.split()[-1:]):
        return Reason.NOT_A_NAME
    if not _types_fit(old, new):
        return Reason.TYPE_DIFFERS
    if [new.value_type] == new.value.split()[-1:] or new.slot.endswith(f":{new.value_type}"):
        alike = are_alternatives(old.value, new.value)
        if alike is False or (alike is None and new.slot == "prefer" and not says_change(new)):
            return Reason.MANY_VALUED
    if new.slot == "num:old" and _number(new) < _number(old):
        return Reason.IMMUTABLE
    is_tool = new.slot == "switch" and old.slot == "made_with" and bool(type_of(old.value))
    if old.cardinality is Holds.MANY and not is_tool:
        return Reason.MANY_VALUED
    may_hold_two = new.cardinality is not Holds.ONE and not (says_change(new) and new.cardinality is Holds.UNKNOWN)
    if new.slot != "switch" and may_hold_two:
        return Reason.MANY_VALUED
    if new.slot == "occupation" and {*old.value.split()[-1:], *new.value.split()[-1:]} & SIDE_ROLES:
        return Reason.MANY_VALUED
    if says_change(new):
        return None
    return Reason.NO_CHANGE_CUE if new.slot in NEEDS_CUE or not _exclude(old, new) else None


def _is_risen(old: Frame, new: Frame) -> bool:
    """``is now a senior developer``: of a developer, that is news."""
    if "promoted" in new.cues and not same(old.value, new.value):
        return True
    is_post = new.slot in {"occupation", "prop:title", "prop:job title", "prop:role", "prop:rank", "prop:position"}
    return is_post and says_change(new) and not new.scope and len(new.value.split()) > len(old.value.split())


def _exclude(old: Frame, new: Frame) -> bool:
    """Whether two values can't be one and the same thing: carbonara is pasta, but Tuesday is no Monday, and Maya not Pavel."""
    if old.slot == "switch" or (new.slot == "prefer" and len({len(old.value.split()), len(new.value.split())}) > 1):
        return False
    if new.slot == "rel_status":
        return are_apart(old.value, new.value)
    if new.slot == "status":
        return follows(old.value, new.value)
    if new.slot in _STATES | _PASSED or (old.value_type == new.value_type and new.value_type in _MEASURES):
        return True
    if "named" in old.cues and "named" in new.cues:
        return True
    kinds = type_of(old.value), type_of(new.value)
    if kinds[0] and kinds[0] == kinds[1]:
        return True
    if are_alternatives(old.value, new.value):
        return True
    return is_counted(old.value) and is_counted(new.value)


def is_counted(value: str) -> bool:
    """Whether it says a number or a place in an order."""
    return _has_digit(value) or not ORDINALS.isdisjoint(value.split())


def is_named(frame: Frame) -> bool:
    """Whether its value is a proper name, where its slot asks for one."""
    named = _NAMED.get(frame.slot)
    return named is None or frame.value_type in named


def says_change(frame: Frame) -> bool:
    """Whether the clause says that this was not always so."""
    return not _CUES.isdisjoint(frame.cues)


def _types_fit(old: Frame, new: Frame) -> bool:
    """Equal types; none known says nothing of a tool; a number only fits one of the same unit."""
    if old.value_type != new.value_type:
        return (
            new.slot.startswith("prop:")
            and {old.value_type, new.value_type}.isdisjoint(_MEASURES)
            and (_are_versions(old, new) or _is_untyped(old) != _is_untyped(new))
        )
    if new.value_type and new.slot.endswith(new.value_type) and _has_digit(old.value) != _has_digit(new.value):
        return False  # "CET" and "UTC+1" may be one and the same
    if not new.value_type and new.slot.partition(":")[0] in _TYPED:
        return new.slot in {"prefer", "use"} and new.scope.startswith("for ") and says_change(new)
    return new.value_type != "number" or new.slot == "num:old" or _units(old.value) == _units(new.value)


def _has_digit(value: str) -> bool:
    return any(ch.isdigit() for ch in value)


def _is_untyped(frame: Frame) -> bool:
    """A name of no known type: of what it is the name, its attribute says."""
    return "named" in frame.cues and frame.slot.endswith(frame.value_type)


def _are_versions(old: Frame, new: Frame) -> bool:
    """``Galaxy S22`` and ``iPhone 15`` are both phones, if of a phone they are said."""
    return old.value_type.startswith("version of ") or new.value_type.startswith("version of ")


def _units(value: str) -> set[str]:
    return {word for word in value.split() if not any(ch.isdigit() for ch in word)}


def _number(frame: Frame) -> float:
    digits = next((word for word in frame.value.split() if word.replace(".", "", 1).isdecimal()), "0")
    return float(digits)


def guard_of(new: Frame) -> Reason | None:
    """What the new clause's own shape forbids."""
    if new.guards:
        return _named(new.guards[0])
    if new.slot.startswith("plan"):
        return None if new.is_main else Reason.SUBORDINATE
    if new.modality is not Modality.ASSERTED:
        return Reason.NOT_ASSERTED
    if new.temporality is Temporality.PAST:
        return Reason.PAST
    return None if new.is_main else Reason.SUBORDINATE


def _guard_of_old(old: Frame, new: Frame) -> Reason | None:
    """An old clause that was no plain statement is not ours to close."""
    blocking = [guard for guard in old.guards if guard != "additive"]
    if blocking:
        return _named(blocking[0])
    if old.modality is not Modality.ASSERTED and not old.slot.startswith("plan"):
        return Reason.NOT_ASSERTED
    if old.temporality is Temporality.PAST:
        return Reason.PAST
    if old.slot == "residence" and "moved from" in old.cues and not new.from_value:
        return Reason.NOT_A_NAME
    if old.cardinality is Holds.IMMUTABLE and new.slot != "end":
        return Reason.IMMUTABLE
    return None if old.is_main else Reason.SUBORDINATE


def _named(guard: str) -> Reason:
    """The guard's reason; one that only a newer extractor knows forbids all the same."""
    return Reason(guard) if guard in _GUARDS else Reason.NOT_ASSERTED


def _scope_equal(old: Frame, new: Frame) -> Reason | None:
    return None if old.scope == new.scope else Reason.SCOPE_DIFFERS


def _scoped(old: Frame, new: Frame) -> Reason | None:
    """What ends by name may end more than the old scope, never less."""
    if old.scope == new.scope or (
        not new.scope and not f" {old.scope}".count(" with ")
    ):  # "with two kids" is a fact of its own
        return None
    is_never = new.polarity is Polarity.NEGATIVE and new.scope == "can"  # what can't be is not
    return None if is_never else Reason.SCOPE_DIFFERS


def _may_be_one_number(old: Frame, new: Frame) -> bool:
    """Whether a number that was only said to be near, over or under another may be that one all the time."""
    if not old.value_type == new.value_type == "number":
        return False
    was, now = _number(old), _number(new)
    if "about" in {*old.cues, *new.cues} and max(was, now) <= NEAR * min(was, now):
        return True
    return any(
        (bound in one.cues and (hi if bound == "at least" else lo))
        for one, hi, lo in ((old, now >= was, now <= was), (new, was >= now, was <= now))
        for bound in ("at least", "at most")
    )
