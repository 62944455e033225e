"""What befalls people, told in other words than what held before: work, home, partners, pets, health, food (semantics §7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from chronofact.text.deeds import Deed, Told, Word, holds, is_asserted, is_one_person, is_same, told
from chronofact.text.frames import Frame, Polarity, Temporality
from chronofact.text.lives_body import (
    CHILDREN,
    FOOD_VERBS,
    HEALTH_VERBS,
    MEAT,
    MEATLESS,
    PETS_VERBS,
    dies,
    food,
    health,
    pets,
)
from chronofact.text.lives_work import is_post, leaves_work, works
from chronofact.text.reasons import OPEN, Reason
from chronofact.text.values import contains
from chronofact.text.words import HATING, HOMES, LIKING, PARTNERS, PERSONS, PETS

_OPEN: Final = OPEN | {Reason.NOT_ASSERTED, Reason.SAME_VALUE, Reason.SUBORDINATE, Reason.POLARITY}
_RENTED: Final = frozenset("apartment flat studio condo dorm dormitory loft room hostel hotel trailer basement".split())
_FLATS: Final = frozenset("apartment flat studio condo loft".split())
_BOUGHT: Final = frozenset("house home townhouse bungalow cottage condo villa farmhouse".split())
_OUTSIDE: Final = frozenset("suburb countryside hometown village coast country farm island".split())
_AREAS: Final = _OUTSIDE | {"city", "town", "downtown"}
_AT_HOME: Final = ("in", "on", "at", "near")
_TOGETHER: Final = frozenset({"date", "engage", "marry"})
_BONDS: Final = {
    "married": frozenset({"divorced", "widowed"}),
    "engaged": frozenset({"married", "single"}),
    "dating": frozenset({"single", "engaged", "married"}),
}
"""What comes after what."""
_PARTING: Final = frozenset({"divorce", "separate", "split", "break", "widow", "leave", "dump", "die", "pass", "cheat"})
_OVER: Final = frozenset({"finalize", "finalise", "complete", "final", "settle"})
_LIVING: Final = frozenset({"live", "reside", "stay", "work", "teach", "run", "drive", "go"})
_HAD: Final = frozenset({"have", "own", "drive", "ride", "wear", "use", "need", "take"})
_PLACED: Final = frozenset({"keep", "store", "hang", "park", "stand", "stash"})
_LOCAL: Final = frozenset({"in", "on", "under", "above", "behind", "beside", "at", "over", "below", "inside"})
_ROOMS: Final = frozenset(
    "room bedroom kitchen garage attic basement hallway hall office bathroom study lounge cellar".split()
)
_WEARING: Final = frozenset({"use", "wear", "track", "drive", "ride", "count", "log", "measure", "carry"})


def lives(earlier: Sequence[Frame], later: Sequence[Frame], found: Reason | None) -> Reason | None:
    """``ended`` or ``value_changed`` where what befell somebody leaves what held of them, else what was found before."""
    if found is not None and found not in _OPEN:
        return found
    was, now = told(earlier), told(later)
    if was is None or now is None or not was.deeds or not now.deeds or not (holds(was) and is_asserted(now)):
        return found
    verbs = now.verbs
    kinds = (kind for kind, some in _KINDS if not some or not some.isdisjoint(verbs))
    return next((said for kind in kinds if (said := kind(was, now)) is not None), found)


def _work(was: Told, now: Told) -> Reason | None:
    state = works(was)
    return leaves_work(was, state, now) if state is not None and not (was.thing or was.is_of_two) else None


def _home(was: Told, now: Told) -> Reason | None:
    """A home is left by moving, by another that is rented now, and a rented one by buying a house."""
    if not is_same(was, now) or now.thing or len(was.deeds) > 1 or was.is_joined:
        return None
    if any(one.entity == "we" for one in now.frames) and all(one.entity != "we" for one in was.frames):
        return None  # a team moves to other tools
    if "with" in was.deeds[0].after and was.deeds[0].verb in {"live", "stay"} and _has_own(now):
        return Reason.VALUE_CHANGED
    lived = _lived(was)
    if not lived:
        return None
    for deed in now.deeds:
        if deed.is_not:
            continue
        moved = deed.at("to", "into")
        if deed.verb in {"move", "relocate"} and moved and not deed.objects() and _is_elsewhere(was, now, deed):
            is_other = not contains(" ".join(lived), " ".join(moved)) and "within" not in deed.after
            return Reason.VALUE_CHANGED if is_other else None
        goods = deed.objects()
        is_own = not any(
            one.kind == "N" or one.word in PERSONS | {"investment", "rent"}
            for one in deed.words
            if one.after in {"for", "as"}
        )
        is_own &= any(one.temporality is Temporality.CHANGE for one in now.frames) and _is_for_living(now, deed)
        if deed.verb in {"buy", "purchase"} and len(goods) == 1 and not _BOUGHT.isdisjoint(goods) and is_own:
            return Reason.VALUE_CHANGED if not _RENTED.isdisjoint(lived) and goods[-1] not in lived else None
        is_home = not HOMES.isdisjoint([one.word for one in deed.words[:3] if not one.after])
        if deed.verb == "rent" and is_home and now.is_now and not (PERSONS & now.said) and lived[-1] in HOMES:
            rented = " ".join(one.word for one in deed.words if not one.after)
            is_same_kind = lived[-1] in _FLATS and not _FLATS.isdisjoint(rented.split())
            return None if is_same_kind or contains(" ".join(lived), rented) else Reason.VALUE_CHANGED
    return None


def _is_for_living(now: Told, deed: Deed) -> bool:
    """Alone, in a place by its name or kind, and not to be let."""
    where = [one for one in deed.words if one.after == "in"]
    is_somewhere = all(one.kind in "Nt#" or one.word in _AREAS | {"suburban"} for one in where)
    is_let = any(one.verb == "rent" for one in now.deeds)
    return is_somewhere and not is_let and PERSONS.isdisjoint(deed.at("with"))


def _has_own(now: Told) -> bool:
    """``moved into her own place``."""
    got = [one for one in now.deeds if one.verb in {"move", "get", "rent", "buy", "find"} and not one.is_not]
    homes = [one.at("", "into", "to", "of") for one in got]
    return any("own" in words and not (HOMES | {"place"}).isdisjoint(words) for words in homes)


def _lived(was: Told) -> list[str]:
    deed = was.deeds[0]
    is_with = any(one.after == "with" and (one.kind == "N" or one.word in PERSONS) for one in deed.words)
    if deed.is_not or is_with:  # with whom is a fact of its own
        return []
    if deed.verb in {"live", "reside", "base"}:
        return deed.at(*_AT_HOME)
    if deed.verb in {"move", "relocate"} and was.has("residence"):
        return [] if "from" in deed.after else deed.at("to")
    return deed.objects() if deed.verb == "rent" and not HOMES.isdisjoint(deed.objects()) else []


def _is_elsewhere(was: Told, now: Told, deed: Deed) -> bool:
    """A town by its name, for another; or an area or a home that is in no such town, for any."""
    lived = [one for one in was.deeds[0].words if one.after in {*_AT_HOME, "to"}]
    moved = [one for one in deed.words if one.after in {"to", "into"}]
    is_named, was_named = (any(one.kind == "N" for one in side) for side in (moved, lived))
    if not {one.word for one in deed.words if one.after == "from"} <= {one.word for one in lived}:
        return False
    if is_named:
        return was_named and bool(now.has("residence"))
    ends = {side[-1].word for side in (lived, moved) if side}
    return moved[-1].word in _OUTSIDE or (not was_named and (ends <= _AREAS or ends <= HOMES))


def _partner(was: Told, now: Told) -> Reason | None:
    """Single until engaged; married until divorced; a divorce planned until it is final; a child expected until born."""
    if not is_one_person(was.person, now.person) or was.thing not in PARTNERS | {""}:
        return None
    first, last = was.deeds[0], now.deeds[-1]
    verbs = {one.verb for one in now.deeds if not one.is_not}
    if now.thing and now.thing.split()[0] == "ex":
        return None
    is_self, is_partner = not now.thing, now.thing in PARTNERS
    is_single = any("single" in one.at() and one.verb in {"be", "being"} for one in was.deeds[:2])
    if is_single and not first.is_not and not was.is_joined:
        is_paired = (
            is_self
            and bool(verbs & _TOGETHER)
            and all(
                _is_somebody(word) for one in now.deeds if one.verb == "date" for word in one.words if not word.after
            )
            and any(one.slot == "rel_status" and one.temporality is not Temporality.PAST for one in now.frames)
        )
        is_there = is_partner and holds_together(now)
        return Reason.VALUE_CHANGED if is_paired or is_there else None
    if was.has("rel_status").split()[:1] and not (was.is_joined or first.is_not):
        return Reason.VALUE_CHANGED if _ends_bond(was, now) and (is_self or (is_partner and now.is_of_two)) else None
    if "divorce" in was.said and first.verb in {"plan", "go", "file", "get"} and not first.is_not:
        is_final = now.thing == "divorce" and (verbs & _OVER or _OVER & set(last.at()))
        return Reason.ENDED if is_final else None
    if "wedding" in was.said and first.verb in {"save", "plan"} and not first.is_not:
        return Reason.ENDED if is_self and verbs & {"elope"} else None
    is_expecting = first.verb == "expect" and not CHILDREN.isdisjoint(first.at())
    if is_expecting or (first.verb == "be" and "pregnant" in first.at()):
        is_theirs = now.thing == was.thing or (is_expecting and is_partner)
        return Reason.ENDED if is_theirs and any(_is_born(now, one) for one in now.deeds) else None
    return None


def _is_somebody(one: Word) -> bool:
    return one.kind != "n" or one.word in PERSONS or is_post(one.word)


def _ends_bond(was: Told, now: Told) -> bool:
    """Another state of it; of whom one broke up with, if both say whom."""
    state, *partner = was.has("rel_status").split()
    said = [one for one in now.frames if one.slot == "rel_status" and one.polarity is Polarity.POSITIVE]
    states = {one.value.split()[0] for one in said if one.value and one.temporality is not Temporality.PAST}
    if states == {"single"} and partner:
        named = {
            text
            for one in now.frames[:1]
            for kind, _, text in (item.partition(":") for item in one.line.split())
            if kind == "N"
        }
        if named - set(now.person.split()) and not named & set(partner):
            return False
    return len(states) == 1 and states <= _BONDS.get(state, frozenset()) and "before" not in now.said


def _is_born(now: Told, deed: Deed) -> bool:
    """``gave birth``, ``had a baby``; who has a son may have had him long."""
    got = deed.objects()
    if deed.is_not:
        return False
    is_had = any(one.temporality in {Temporality.PAST, Temporality.CHANGE} for one in now.frames)
    return (deed.verb == "give" and "birth" in got) or (
        deed.verb == "have" and is_had and bool(got) and CHILDREN.issuperset(got)
    )


def holds_together(now: Told) -> bool:
    """Whether nothing says that the partner spoken of is one no more."""
    return all(one.verb not in _PARTING and not one.is_not and one.particle != "out" for one in now.deeds)


def _taste(was: Told, now: Told) -> Reason | None:
    """``no longer dislikes pineapple on pizza after trying it``: the same, and it holds no longer."""
    before, after = was.frames[0].line, now.frames[0].line
    if "-:not r:longer " not in after or "-:not" in before:
        return None
    same = after.replace("-:not r:longer ", "").replace("x:", "N:", 1)
    is_it = same.startswith((f"{before} P:", f"{before.replace('x:', 'N:', 1)} P:"))
    return (
        Reason.ENDED
        if is_it and same[len(before) + 3 :].split()[0] in {"after", "because", "since", "thanks", "due"}
        else None
    )


def _passing(was: Told, now: Told) -> Reason | None:
    """Of who has died, that they live or work somewhere."""
    is_of_them = was.person == now.person and was.thing == now.thing and not PERSONS.isdisjoint(was.thing.split())
    if not is_of_them or was.is_of_two or now.is_of_two or not dies(now.deeds):
        return None
    return Reason.ENDED if all(one.verb in _LIVING and not one.is_not for one in was.deeds) else None


def _parting(was: Told, now: Told) -> Reason | None:
    """What one had, wore or drove, given to another, or needed no more."""
    if not is_same(was, now) or now.thing or len(was.deeds) > 1 or was.is_joined:
        return None
    had = was.deeds[0].objects()
    if was.deeds[0].verb not in _HAD or was.deeds[0].is_not or not had:
        return None
    is_no_more = any({"anymore", "now"} & set(one.cues) for one in now.frames)
    for deed in now.deeds:
        gone = deed.objects()
        is_it = bool(gone) and gone[-1] == had[-1] and set(gone) <= set(had)
        is_it &= not any(one.kind in "#x" for one in deed.words)
        is_given = deed.verb in {"give", "sell", "donate"} and not deed.is_not and deed.after == {"to"}
        if is_it and (is_given or (deed.verb == "need" and deed.is_not and is_no_more)):
            return Reason.ENDED
    return None


def _place(was: Told, now: Told) -> Reason | None:
    """``keeps the spare keys in a drawer``, ``keeps the spare keys on a hook``."""
    if len(was.deeds) != 1 or len(now.deeds) != 1 or was.is_joined or now.is_joined or was.subject != now.subject:
        return None
    one, other = was.deeds[0], now.deeds[0]
    if one.verb != other.verb or one.verb not in _PLACED or one.is_not or other.is_not or one.at() != other.at():
        return None
    if not is_one_person(was.person, now.person) or len(one.at() or was.subject) < 2:
        return None
    places = [word for word in one.words if word.after], [word for word in other.words if word.after]
    if not all(side and side[0].after in _LOCAL for side in places) or PERSONS & was.said:
        return None
    old, new = ([word.word for word in side] for side in places)
    in_rooms = [bool(_ROOMS & set(side)) for side in (old, new)]
    is_other = not set(old) & set(new) or (
        places[0][0].after != places[1][0].after and not contains(" ".join(old), " ".join(new))
    )
    return Reason.VALUE_CHANGED if is_other and in_rooms[0] == in_rooms[1] else None


def _instead(was: Told, now: Told) -> Reason | None:
    """``tracks steps with a Fitbit``, ``wears a Garmin instead of the Fitbit``."""
    if not is_same(was, now) or now.thing or len(was.deeds) != 1 or was.is_joined or now.is_joined or not holds(now):
        return None
    one, last = was.deeds[0], now.deeds[-1]
    if one.verb not in _WEARING or last.verb not in _WEARING or one.is_not or last.is_not:
        return None
    if not any("instead" in cue.cues for cue in now.frames) or "of" not in last.after:
        return None
    left = last.at("of")
    had = [word.word for word in one.words if word.after in {"", "with", "in", "on"}]
    is_left = (
        bool(left) and set(left) <= set(had) and any(word.kind == "N" for word in last.words if word.after == "of")
    )
    return Reason.SWITCHED if is_left and not set(last.objects()) & set(had) else None


_KINDS: Final[tuple[tuple[Callable[[Told, Told], Reason | None], frozenset[str]], ...]] = (
    (_work, frozenset("be work hire join make name appoint bring keep lay let fire dismiss retire quit leave resign give start begin get land find accept take go return come".split())),
    (_home, frozenset({"move", "relocate", "buy", "purchase", "rent", "get", "find"})),
    (_partner, frozenset()),
    (pets, PETS_VERBS),
    (health, HEALTH_VERBS),
    (food, FOOD_VERBS),
    (_taste, frozenset(HATING | LIKING | {"hat"})),
    (_passing, frozenset({"die", "pass"})),
    (_parting, frozenset({"give", "sell", "donate", "need"})),
    (_place, _PLACED),
    (_instead, _WEARING),
)  # fmt: skip
"""Each with the verbs by which alone the later text can tell it; with none where it may be any."""


def life_keys(frames: Sequence[Frame]) -> tuple[str, ...]:
    """Under which what befalls somebody, and what held before, are looked for; a pet by its name, too."""
    one = told(frames)
    if one is None:
        return ()
    whom = one.person.split()[-1] if one.person else ""
    words = one.said | set(one.thing.split())
    found = [f"life|{topic}|{whom}" for topic, said in _TOPICS.items() if not said.isdisjoint(words)]
    found += [f"life|work|{whom}"] if works(one) is not None else []
    pets = [
        frame.value
        for frame in frames
        if frame.slot.startswith("have:") and not PETS.isdisjoint(frame.slot[5:].split())
    ]
    pets += [whom] if {"die", "pass"} & words else []
    return (*found, *(f"life|pet|{name.split()[-1]}" for name in pets if name))


_TOPICS: Final = {
    "home": frozenset({"live", "rent", "relocate", "reside", "buy", "move"}),
    "work": frozenset({"work", "retire", "lay", "let", "job", "hire", "quit", "teach", "sabbatical", "start"}),
    "food": MEAT | MEATLESS | {"vegetarianism", "veganism"},
    "pair": PARTNERS | _TOGETHER | {"single"},
}
"""Words that tell of what a text may speak."""
