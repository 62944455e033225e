"""The same sentence but for one phrase: with a word of change the later one is what holds now (semantics §7)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from chronofact.text.compare import guard_of
from chronofact.text.frames import Frame, Holds, Modality, Temporality
from chronofact.text.reasons import Reason
from chronofact.text.types import type_of
from chronofact.text.values import contains, is_shortened
from chronofact.text.words import PERSONS, PETS

_PHRASE_MAX: Final = 5
_NEWS: Final = frozenset("now nowadays current currently instead presently anymore again".split())
MANY: Final = frozenset(
    "like love enjoy hate dislike own have know visit go attend join see play watch read eat drink speak learn study buy get collect support use "
    "volunteer make do write meet follow admire miss help want need prefer take include contain offer sell".split()
)
"""Of these one does several: another object alone is beside the first, unless what differs is a number or a time."""
_ALONE: Final = frozenset({"favorite", "default", "main", "primary", "top", "only", "official", "base"})
"""What has one of these is one of its kind."""
_OUTSIDE: Final = frozenset({"out", "off", "behind", "outside"})
_OPPOSITES: Final = frozenset(
    map(frozenset, (("up", "down"), ("on", "off"), ("in", "out"), ("open", "closed"), ("full", "empty")))
)
_OPEN: Final = frozenset({Reason.NO_COMMON_SLOT, Reason.NO_VALUE, Reason.TYPE_DIFFERS, Reason.SAME_VALUE, Reason.NOT_A_NAME, Reason.SCOPE_DIFFERS,
                          Reason.UNREAD_WORDS, Reason.MANY_VALUED, Reason.NO_CHANGE_CUE, Reason.UNSURE_PARSE, Reason.ADDITIVE})  # fmt: skip
"""What frames alone could not tell, and whole sentences may."""


def alike(earlier: Sequence[Frame], later: Sequence[Frame], found: Reason | None) -> Reason | None:
    """``value_changed`` where the two lines differ in one phrase that can't be both, else what was found before."""
    if not earlier or not later or (found is not None and found not in _OPEN):
        return found
    if _begin(earlier[0].line) != _begin(later[0].line):
        return found
    was, now = earlier[0].line.split(), later[0].line.split()
    if not was or not now or not _are_plain(earlier, later):
        return found
    start = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(was, now, strict=False)))
    end = min(
        sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(reversed(was), reversed(now), strict=False))),
        min(len(was), len(now)) - start,
    )
    shared, old, new = was[:start], was[start : len(was) - end], now[start : len(now) - end]
    if not any(item.startswith("V:") for item in shared[1:]):
        return found
    rest = was[len(was) - end :]
    return (
        Reason.VALUE_CHANGED
        if _excludes(shared, old, new, rest, is_news=any(not _NEWS.isdisjoint(one.cues) for one in later))
        else found
    )


def _begin(line: str) -> str:
    return line[: line.find(" V:")]


def _are_plain(earlier: Sequence[Frame], later: Sequence[Frame]) -> bool:
    """Both asserted of now, by one plain clause."""
    for one in (*earlier, *later):
        if one.modality is not Modality.ASSERTED or one.temporality in {Temporality.PAST, Temporality.ENDED}:
            return False
        if one.cardinality is Holds.IMMUTABLE or not one.is_main:
            return False
        reason = guard_of(one)
        if reason not in {None, Reason.UNSURE_PARSE}:
            return False
    return True


def _excludes(shared: list[str], old: list[str], new: list[str], rest: list[str], *, is_news: bool) -> bool:
    """Whether what differs is one phrase of one kind, and nothing that may hold beside the other."""
    verb = next(item for item in shared if item.startswith("V:"))[2:]
    subject, after = shared[: shared.index(f"V:{verb}")], shared[shared.index(f"V:{verb}") + 1 :]
    if is_news and shared[-1] == "x:every" and {len(old), len(new)} == {0, 1} and (old or new)[0][0] == "#":
        return True
    if not old or not new or max(len(old), len(new)) > _PHRASE_MAX:
        return False
    if any(item[0] in "v&-?" for item in (*old, *new)) or any(item[0] in "&?" for item in (*shared[1:], *rest)):
        return False
    if old[0][0] == "P" or new[0][0] == "P":
        if not any(item[0] != "P" for item in (*old, *new)):
            return verb == "be" and bool(rest) and (_is_inside(old) != _is_inside(new))
        if old[0] != new[0]:
            return False
        after, old, new = [*after, old[0]], old[1:], new[1:]
    return bool(old and new) and _differ(subject, verb, after, old, new, rest, is_news=is_news)


def _is_inside(words: list[str]) -> bool:
    """``in stock``, ``on schedule``: or out of it, off it, behind it."""
    return _OUTSIDE.isdisjoint(item[2:] for item in words)


def _differ(
    subject: list[str], verb: str, after: list[str], old: list[str], new: list[str], rest: list[str], *, is_news: bool
) -> bool:
    kinds = {item[0] for item in old}, {item[0] for item in new}
    if any(not one <= set("nNar#t") for one in kinds):
        return False
    was, now = " ".join(item[2:] for item in old), " ".join(item[2:] for item in new)
    if contains(was, now) or is_shortened(was, now):
        return False
    if any("#" in one for one in kinds):
        units = [[item for item in side if item[0] != "#"] for side in (old, new)]
        return is_news and all("#" in one for one in kinds) and units[0] == units[1]
    if any("t" in one for one in kinds):
        return is_news and kinds[0] == kinds[1] == {"t"}
    if old[-1][0] != new[-1][0] and not {old[-1][0], new[-1][0]} <= set("nar"):
        return False
    types = type_of(was), type_of(now)
    if all(types) and types[0] != types[1]:
        return False
    if verb == "be" and frozenset((was, now)) in _OPPOSITES:
        return subject[-1][2:] != "user"
    if verb in {"be", "become"} and not after:
        return is_news and _is_thing(subject) and old[-1][0] != "a"
    is_named = kinds[0] == kinds[1] == {"N"} or all(types)
    is_shared = bool(rest) and rest[0][0] == "n"
    is_manner = (kinds[0] == kinds[1] <= {"a", "r"} and not after) or is_shared
    if all(item[0] != "P" for item in after) and not (is_named or is_manner):
        return False
    if after[-1:] in (["P:in"], ["P:on"]) and not (
        _is_thing(subject) or is_named or is_shared or _is_when(after, rest)
    ):
        return False
    is_for_it = verb in {"prefer", "use"} and is_named and rest[:1] == ["P:for"]
    if verb in MANY and not is_for_it and not _is_when(after, rest):
        return False
    return is_news


def _is_thing(subject: list[str]) -> bool:
    """Whether it is nobody: a person is several things at once, and what is more than one noun is told apart by it."""
    head = subject[-1]
    return head[0] == "n" and head[2:] not in PERSONS | PETS | {"user"} and len(subject) > 1


def _is_when(after: list[str], rest: list[str]) -> bool:
    """Whether what differs stands after a whole object: how or when it is done."""
    return len(after) > 1 and after[-1][0] == "P" and after[-1] != "P:of" and after[0][0] != "P" and not rest
