"""Two sentences of one amount or one time: the same thing, measured by another number or set for another day (semantics §7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from chronofact.text.compare import NEAR, guard_of, says_change
from chronofact.text.frames import Frame, Holds, Modality, Temporality
from chronofact.text.measures import RECORDS, TIMES, Measure, Said, Word, is_one, said_of, stem_of
from chronofact.text.reasons import OPEN, Reason
from chronofact.text.words import APPROXIMATE, AT_LEAST, AT_MOST, MOVING_TIME, PERSONS, PETS, RAISING, UNITS

_FATAL: Final = frozenset(Reason) - {Reason.UNSURE_PARSE, Reason.PAST, Reason.SUBORDINATE}
_STATES: Final = frozenset(
    "be have own possess take last allow include contain hold offer cover cost pay charge weigh measure earn make get use run do attend practice go "
    "lead manage supervise oversee head employ support require need total average number count happen start begin meet see visit see receive".split()
)
"""Verbs that only join a thing to its amount or time, and may be said by another one."""
_CHANGES: Final = (RAISING | frozenset({"hit", "pass", "surpass", "top", "climb", "slash", "trim", "double", "triple", "stand", "improve", "shorten",
                                        "lengthen", "cap", "lift", "limit", "sit", "allow", "include", "exceed", "break", "beat"})) - frozenset({"turn", "come", "get"})  # fmt: skip
_HEIGHTS: Final = frozenset({"hit", "pass", "surpass", "reach", "top", "exceed", "cross"})
_PAST_CHANGES: Final = (
    RAISING | _HEIGHTS | MOVING_TIME | frozenset({"climb", "slash", "trim", "shorten", "lengthen", "cap", "lift"})
) - frozenset({"be", "go", "get", "come", "turn", "set"})
_SETS: Final = frozenset(
    {"set", "run", "hit", "clock", "post", "get", "achieve", "reach", "score", "log", "make", "swim", "finish"}
)
_MOVES: Final = MOVING_TIME | frozenset({"be", "happen", "take", "fall", "land", "bump"})
_EVENTS: Final = frozenset({"session", "meeting", "class", "appointment", "lesson", "place", "time", "slot", "date"})
_SIZES: Final = frozenset(
    {
        "count",
        "number",
        "total",
        "time",
        "duration",
        "length",
        "size",
        "level",
        "amount",
        "figure",
        "tally",
        "collection",
        "price",
        "cost",
    }
)
_PLAIN: Final = frozenset({"full", "total", "whole", "current", "overall", "own", "regular", "usual", "latest", "entire", "typical", "personal", "daily",
                           "weekly", "monthly", "yearly", "annual", "up", "down", "only", "now", "already", "just", "we", "our", "person", "can",
        "so",
        "far"})  # fmt: skip
_DUES: Final = frozenset(
    {"membership", "subscription", "fee", "bill", "payment", "price", "cost", "rate", "dues", "premium", "tuition"}
)
"""What is paid, where the other says only for what."""
_PAYING: Final = frozenset({"pay", "charge", "cost"})
_MEETING: Final = frozenset({"meet", "see", "visit", "attend", "have", "do", "go"})
_INTENDING: Final = frozenset({"plan", "intend", "hope", "want", "go"})
_ADDS: Final = frozenset(
    {"more", "extra", "another", "additional", "fewer", "less", "every", "each", "almost", "nearly", "other"}
)
_NEARLY: Final = APPROXIMATE | {word for phrase in (*AT_LEAST, *AT_MOST) for word in phrase.split()}
_REST: Final = frozenset({"leave", "left", "remain", "remaining", "remainder"})
_CREWS: Final = frozenset({"team", "staff", "crew", "group", "household"})
_DONE: Final = frozenset({"finish", "complete", "do"})
_TO: Final = frozenset({"to", "at", "until", "till", "for", "on"})


def amounts(earlier: Sequence[Frame], later: Sequence[Frame], found: Reason | None) -> Reason | None:
    """``value_changed`` where both tell how much, how many or when of the same, and the later one otherwise."""
    if not earlier or not later or (found is not None and found not in OPEN):
        return found
    if (
        not earlier[0].line
        or not later[0].line
        or not (_are_plain(earlier, may_plan=True) and _are_plain(later, may_plan=False))
    ):
        return found
    was, now = said_of(earlier[0].line), said_of(later[0].line)
    if was is None or now is None:
        return found
    now = now.without_start(was)
    measures = _differing(was, now)
    if measures is None or (measures[0][0].kind not in TIMES and any(one.slot.startswith("plan:") for one in earlier)):
        return found
    old, new = measures
    if any(_may_be_one(a, b, _cues(earlier), _cues(later), now) for a, b in zip(old, new, strict=True)):
        return found
    if new[0].is_place or old[0].is_place:
        is_next = _is_next(earlier, was, now, old[0], new[0])
        return Reason.VALUE_CHANGED if is_next and _is_same_thing(was, now) else found
    if not _is_news(earlier, later, was, now, new[0]):
        return found
    return Reason.VALUE_CHANGED if _is_same_thing(was, now) else found


def tell_amounts(earlier: Sequence[Frame], later: Sequence[Frame]) -> bool:
    """Whether both tell an amount or a time, and not the same: only these are then compared, and no other words."""
    said = [said_of(one[0].line) for one in (earlier, later) if one and one[0].line]
    told = [{measure.value for measure in one.measures} for one in said if one is not None]
    return len(told) == 2 and told[0] != told[1]


def _are_plain(frames: Sequence[Frame], *, may_plan: bool) -> bool:
    """Asserted, or planned where a plan may be put off, with no word that weakens or limits it."""
    for one in frames:
        if not one.is_main:
            continue
        is_plan = may_plan and one.modality is Modality.PLANNED and one.slot.startswith("plan:")
        if not (is_plan or one.modality is Modality.ASSERTED) or one.cardinality is Holds.IMMUTABLE:
            return False
        if guard_of(one) in _FATAL:
            return False
    return True


def _differing(was: Said, now: Said) -> tuple[list[Measure], list[Measure]] | None:
    """What differs: one amount, or times of the same kinds; None where there is less or more."""
    old = [one for one in was.measures if one.value not in {other.value for other in now.measures}]
    new = [one for one in now.measures if one.value not in {other.value for other in was.measures}]
    if any(one.kind not in TIMES for one in old):
        new = [one for one in new if one.kind not in TIMES]  # "hit 1,200 on Friday": when it was reached
    kinds = [one.kind for one in old]
    if not old or sorted(kinds) != sorted(one.kind for one in new) or len(set(kinds)) < len(kinds):
        return None
    if len(old) > 1 and not TIMES.issuperset(kinds):
        return None
    old.sort(key=lambda one: one.kind)
    new.sort(key=lambda one: one.kind)
    return old, new


def _cues(frames: Sequence[Frame]) -> set[str]:
    return {cue for one in frames for cue in one.cues}


def _may_be_one(old: Measure, new: Measure, was: set[str], cues: set[str], now: Said) -> bool:
    """Whether both may be one number all the time, of which one text knows no more than about how much it is."""
    if old.number is None or new.number is None:
        return old.text == new.text
    if old.number == new.number:
        return True
    if "about" in was | cues and max(old.number, new.number) <= NEAR * min(old.number, new.number):
        return True
    is_grown = new.number > old.number
    if "at most" in cues and not now.is_up_to and is_grown:
        return True
    return ("at least" in was and is_grown) or (not is_grown and ("at most" in was or "at least" in cues))


def _is_next(earlier: Sequence[Frame], was: Said, now: Said, old: Measure, new: Measure) -> bool:
    """``has read three books`` and then ``finished the fourth book``."""
    if old.is_place or not new.is_place or old.number is None or new.number is None or new.number <= old.number:
        return False
    is_same = (
        is_one(stem_of(was.root), stem_of(now.root)) or now.root in _DONE or (was.root, now.root) == ("be", "visit")
    )
    return is_same and "perfect" in _cues(earlier)


def _is_news(earlier: Sequence[Frame], later: Sequence[Frame], was: Said, now: Said, new: Measure) -> bool:
    """Whether the later says that it came to be so, or can't be beside the earlier."""
    is_record = bool(RECORDS & {one.word for one in was.words} & {one.word for one in now.words})
    is_change = (now.root in _PAST_CHANGES and (now.root in _HEIGHTS or new.after in _TO)) or (
        is_record and now.root in _SETS
    )
    if any(one.temporality is Temporality.PAST for one in earlier if one.is_main) and not (
        was.root in _PAST_CHANGES or (is_change and now.root in RAISING)
    ):
        return False
    if any(one.temporality is Temporality.PAST for one in later if one.is_main) and not is_change:
        return False
    if _is_more(earlier, later, was, now):
        return True
    is_up_to = now.is_up_to and new.kind not in TIMES
    is_rest = all(any(one.word in _REST and not one.is_root for one in said.words) for said in (was, now))
    return (
        is_change or is_record or is_up_to or is_rest or any(says_change(one) for one in later) or _is_habit(was, now)
    )


def _is_more(earlier: Sequence[Frame], later: Sequence[Frame], was: Said, now: Said) -> bool:
    """``has read 14 books`` and ``has read 19``: what was done only grows."""
    if (
        not ("perfect" in _cues(earlier) and "perfect" in _cues(later))
        or len(was.measures) != 1
        or len(now.measures) != 1
    ):
        return False
    numbers = was.measures[0].number, now.measures[0].number
    is_grown = numbers[0] is not None and numbers[1] is not None and numbers[1] > numbers[0]
    return is_grown and (was.root == now.root or now.root in _DONE)


def _is_habit(was: Said, now: Said) -> bool:
    """``twice a week`` and ``three times a week``: of one habit both can't be."""
    return all("time" in one.units and one.periods for one in (was, now))


def _is_same_thing(was: Said, now: Said) -> bool:
    """Whether all words of one are in the other, but for those that say nothing, and both are anchored in the same."""
    if not _units_fit(was, now):
        return False
    if any(one.word in _ADDS and not (was.says(one) and now.says(one)) for one in (*was.words, *now.words)):
        return False
    lost = [
        place
        for place, one in enumerate(was.words)
        if not now.says(one) and not _is_neutral(one, was, now, is_new=False)
    ]
    gained = [
        place
        for place, one in enumerate(now.words)
        if not was.says(one) and not _is_neutral(one, now, was, is_new=True)
    ]
    agents = _agents(was, now)
    gained = [place for place in gained if not now.words[place].is_aside and place not in agents]
    if lost and gained:
        return False
    if not _are_beside(was, now, lost, names=True) or not _are_beside(now, was, gained, names=False):
        return False
    shared = [one for one in was.words if _is_anchor(one, now) and not (one.is_unit and now.is_unit(one))]
    if (lost or gained) and len({one.stem for one in shared}) < 2 and not any(one.kind == "N" for one in shared):
        return False
    is_named = any(one.kind == "N" for one in shared)
    if gained and now.root not in _PAST_CHANGES:
        return False
    if not is_named and (gained or any(was.words[place].kind == "N" for place in lost)):
        return False
    return bool(shared) or _is_of_user(was, now)


def _agents(was: Said, now: Said) -> set[int]:
    """Who changed it: ``the airline pushed the flight back``."""
    root = next((place for place, one in enumerate(now.words) if one.is_root), 0)
    if now.root not in _PAST_CHANGES or any(was.says(one) for one in now.words[:root]):
        return set()
    has_object = any(one.kind in "nN" and not one.is_unit and was.says(one) for one in now.words[root + 1 :])
    return set(range(root)) if has_object else set()


def _units_fit(was: Said, now: Said) -> bool:
    """Units that both say are the same, and so are the periods."""
    if was.periods and now.periods and was.periods != now.periods:
        return False
    if not was.units or not now.units:
        return True
    measured = was.units & UNITS, now.units & UNITS
    if measured[0] != measured[1] and (measured[0] or measured[1]):
        return False
    people = "person" in was.units | now.units
    return people or bool({stem_of(one) for one in was.units} & {stem_of(one) for one in now.units})


def _is_neutral(one: Word, mine: Said, other: Said, *, is_new: bool) -> bool:
    """Whether a word that only one sentence has says nothing of what the thing is."""
    if one.word in _PLAIN | _NEARLY or (one.word in UNITS and one.is_unit) or one.kind == "t":
        return True
    is_timed = any(measure.kind in TIMES for measure in mine.measures)
    if is_timed and ((one.kind == "v" and mine.root in _INTENDING and not is_new) or one.word == "trip"):
        return True
    if one.kind in "Vv" and one.is_root:
        return _is_joint(one, other, is_timed=is_timed, is_new=is_new)
    if one.word in _DUES and {mine.root, other.root} & _PAYING and mine.is_money:
        return True
    if one.word in _SIZES or (one.word in _EVENTS and (is_timed or mine.periods)):
        return one.kind == "n"
    return (one.word == "team" and is_timed) or (one.word in _CREWS and mine.is_of_number(one))


def _is_joint(one: Word, other: Said, *, is_timed: bool, is_new: bool) -> bool:
    """A verb that only joins a thing to what is told of it; an elliptic later one says the same of any."""
    if is_timed and one.word in _MEETING:
        return True
    if is_timed:
        return one.word in (_MOVES if is_new else _STATES | _MOVES) or (not is_new and other.root in _MOVES)
    if one.word in _STATES | _CHANGES | _DONE:
        return True
    if is_new:
        return one.word in _SETS | _HEIGHTS
    return other.is_up_to or other.root in RAISING | _DONE


def _are_beside(mine: Said, other: Said, places: list[int], *, names: bool) -> bool:
    """Whether what only one says stands before a noun that both say, in one phrase with it."""
    if len(places) > 3:
        return False
    for place in places:
        one = mine.words[place]
        if one.kind not in ("narN" if names else "nar") or one.word in PERSONS | PETS or one.is_unit:
            return False
        after = next(
            (after for after in mine.words[place + 1 :] if after.phrase == one.phrase and other.says(after)), None
        )
        if after is None and not _is_sized(mine, other, place):
            return False
    return True


def _is_sized(mine: Said, other: Said, place: int) -> bool:
    """``training run`` where the other says ``training time``."""
    before = mine.words[place - 1] if place else None
    if before is None or before.phrase != mine.words[place].phrase or not other.says(before):
        return False
    return any(one.stem == before.stem and after.word in _SIZES for one, after in pairwise(other.words))


def _is_anchor(one: Word, other: Said) -> bool:
    """A noun or name that both say."""
    said = next((word for word in other.words if is_one(one.stem, word.stem)), None)
    if said is None or one.word in UNITS | _SIZES | _PLAIN | _EVENTS:
        return False
    return one.kind in "nN" or said.kind in "nN"


def _is_of_user(was: Said, now: Said) -> bool:
    """Both are of the user, of the same things, by verbs that say the same."""
    if not (was.is_user and now.is_user):
        return False
    if any(_is_anchor(one, now) for one in was.words):
        return (
            was.root == now.root or (was.root in _STATES and now.root in _STATES) or now.is_up_to or now.root in _DONE
        )
    is_weight = was.root == "weigh" and now.is_up_to
    return (is_weight or (was.root == now.root and was.root not in _STATES)) and was.units == now.units
