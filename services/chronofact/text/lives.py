"""What befalls people, told in other words than what held before: work, home, partners, pets, health, food (semantics §7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from chronofact.text.deeds import Deed, Told, holds, is_asserted, is_one_person, told
from chronofact.text.frames import Frame, Temporality
from chronofact.text.lives_work import leaves_work, works
from chronofact.text.reasons import Reason
from chronofact.text.values import contains
from chronofact.text.words import HATING, HOMES, LIKING, PARTNERS, PERSONS, PETS

_OPEN: Final = frozenset({Reason.NO_COMMON_SLOT, Reason.NO_VALUE, Reason.NOT_ASSERTED, Reason.SUBORDINATE, Reason.UNREAD_WORDS, Reason.SCOPE_DIFFERS,
                          Reason.NOT_ALL_ANSWERED, Reason.PAST, Reason.MANY_VALUED, Reason.NO_CHANGE_CUE, Reason.TYPE_DIFFERS, Reason.UNSURE_PARSE,
                          Reason.NOT_A_NAME, Reason.SAME_VALUE, Reason.POLARITY})  # fmt: skip
"""What frames alone could not tell, and the whole sentences may."""
_RENTED: Final = frozenset("apartment flat studio condo dorm dormitory loft room hostel hotel trailer basement".split())
_BOUGHT: Final = frozenset("house home townhouse bungalow cottage condo villa farmhouse".split())
_OUTSIDE: Final = frozenset("suburb countryside hometown village coast country farm island".split())
_AREAS: Final = _OUTSIDE | {"city", "town", "downtown"}
_AT_HOME: Final = ("in", "on", "at", "near")
_TOGETHER: Final = frozenset({"date", "engage", "marry"})
_PARTING: Final = frozenset({"divorce", "separate", "split", "break", "widow", "leave", "dump", "die", "pass", "cheat"})
_OVER: Final = frozenset({"finalize", "finalise", "complete", "final", "settle"})
_MEATLESS: Final = frozenset({"vegan", "vegetarian"})
_MEAT: Final = frozenset("meat chicken beef pork steak bacon ribeye burger ham turkey lamb sausage brisket".split())
_MEALS: Final = frozenset("dinner lunch breakfast supper meal dish food snack".split())
_OFTEN: Final = frozenset("lately most every usually often always regularly daily nightly weekly".split())
_EATING: Final = frozenset("eat cook grill have be order fry roast make".split())
_DRINKS: Final = frozenset(
    "coffee tea wine beer juice soda cola coke lemonade milk cocoa espresso latte kombucha".split()
)
_INGESTING: Final = frozenset({"drink", "eat", "smoke", "vape", "use", "take", "chew"})
_GIVING_UP: Final = frozenset(
    {("quit", ""), ("ditch", ""), ("abandon", ""), ("kick", ""), ("give", "up"), ("cut", "out"), ("swear", "off")}
)
_TURNING: Final = frozenset({("embrace", ""), ("turn", ""), ("go", ""), ("become", ""), ("adopt", "")})
_HEALING: Final = {"recover": "from", "get": "over", "heal": "from", "beat": ""}
_GONE: Final = frozenset({"heal", "vanish", "disappear", "subside"})
_CHILDREN: Final = frozenset("child kid baby girl boy son daughter twin newborn".split())
_OUT_OF_NONE: Final = frozenset({"adopt", "get", "buy", "have", "bring"})
_PLACED: Final = frozenset({"keep", "store", "hang", "park", "stand", "stash"})
_LOCAL: Final = frozenset({"in", "on", "under", "above", "behind", "beside", "at", "over", "below", "inside"})
_ROOMS: Final = frozenset(
    "room bedroom kitchen garage attic basement hallway hall office bathroom study lounge cellar".split()
)
_WEARING: Final = frozenset({"use", "wear", "track", "drive", "ride", "count", "log", "measure", "play", "carry"})


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


def _is_same(was: Told, now: Told) -> bool:
    return not (was.thing or was.is_of_two) and is_one_person(was.person, now.person)


def _work(was: Told, now: Told) -> Reason | None:
    state = works(was)
    return leaves_work(was, state, now) if state is not None and not (was.thing or was.is_of_two) else None


def _home(was: Told, now: Told) -> Reason | None:
    """A home is left by moving, by another that is rented now, and a rented one by buying a house."""
    if not _is_same(was, now) or now.thing or len(was.deeds) > 1 or was.is_joined:
        return None
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
        if deed.verb in {"buy", "purchase"} and not _BOUGHT.isdisjoint(goods[-1:]) and is_own:
            return Reason.VALUE_CHANGED if not _RENTED.isdisjoint(lived) and goods[-1] not in lived else None
        is_home = not HOMES.isdisjoint([one.word for one in deed.words[:3] if not one.after])
        if deed.verb == "rent" and is_home and now.is_now and not (PERSONS & now.said) and lived[-1] in HOMES:
            rented = " ".join(one.word for one in deed.words if not one.after)
            return Reason.VALUE_CHANGED if not contains(" ".join(lived), rented) else None
    return None


def _lived(was: Told) -> list[str]:
    deed = was.deeds[0]
    if deed.is_not:
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
    if is_named:
        return was_named and bool(now.has("residence"))
    ends = {side[-1].word for side in (lived, moved) if side}
    return moved[-1].word in _OUTSIDE or (not was_named and ends <= _AREAS | HOMES)


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
            and any(one.slot == "rel_status" and one.temporality is not Temporality.PAST for one in now.frames)
        )
        is_there = is_partner and holds_together(now)
        return Reason.VALUE_CHANGED if is_paired or is_there else None
    if was.has("rel_status").split()[:1] == ["married"] and not (was.is_joined or first.is_not):
        status = now.has("rel_status").split()[:1]
        return Reason.VALUE_CHANGED if is_self and status and status[0] in {"divorced", "widowed"} else None
    if "divorce" in was.said and first.verb in {"plan", "go", "file", "get"} and not first.is_not:
        is_final = now.thing == "divorce" and (verbs & _OVER or _OVER & set(last.at()))
        return Reason.ENDED if is_final else None
    if "wedding" in was.said and first.verb in {"save", "plan"} and not first.is_not:
        return Reason.ENDED if is_self and verbs & {"elope"} else None
    is_expecting = first.verb == "expect" and not _CHILDREN.isdisjoint(first.at())
    if is_expecting or (first.verb == "be" and "pregnant" in first.at()):
        is_born = any(one.verb == "give" and "birth" in one.objects() for one in now.deeds)
        is_born |= any(one.verb == "have" and one.objects()[:1] == ["baby"] for one in now.deeds)
        is_theirs = is_self or (is_expecting and is_partner)
        return Reason.ENDED if is_born and is_theirs else None
    return None


def holds_together(now: Told) -> bool:
    """Whether nothing says that the partner spoken of is one no more."""
    return all(one.verb not in _PARTING and not one.is_not and one.particle != "out" for one in now.deeds)


def _pets(was: Told, now: Told) -> Reason | None:
    """The pet that died, be it by its name; who has none, until there is one."""
    first = was.deeds[0]
    if was.thing or first.verb != "have":
        return None
    if first.is_not or any("polarity" in one.guards for one in was.frames):
        return _has_first(was, now, first)
    held = [word.word for word in first.words if word.kind in "nN"]
    died = next(
        (one for one in now.deeds if one.verb == "die" or (one.verb == "pass" and one.particle == "away")), None
    )
    if died is None or died.is_not or not PETS & {*held}:
        return None
    names = [
        one.value for one in was.frames if one.slot.startswith("have:") and one.value and not one.value[:1].isdigit()
    ]
    if not now.thing and now.person in names and len(names) == 1 and not was.is_joined:
        return Reason.ENDED
    is_theirs = is_one_person(was.person, now.person) or _ours(was, now)
    gone = PETS & set(now.thing.split() or now.subject) & set(held)
    rest = {word for word in held if word in PETS} - gone
    return Reason.ENDED if is_theirs and len(gone) == 1 and rest and rest <= now.said else None


def _ours(was: Told, now: Told) -> bool:
    return was.person == "user" and {"our", "whose"} & now.said != set()


def _has_first(was: Told, now: Told, first: Deed) -> Reason | None:
    if not _is_same(was, now) or now.thing or len(was.deeds) > 1 or was.is_joined:
        return None
    for deed in now.deeds:
        got = deed.objects()
        if not _CHILDREN.isdisjoint(first.at()):
            is_born = deed.verb in {"adopt", "have"} and not _CHILDREN.isdisjoint(got) and not deed.is_not
            is_born |= deed.verb == "give" and "birth" in got
            if is_born:
                return Reason.VALUE_CHANGED
        wanted = PETS | {"pet", "animal"}
        if wanted.isdisjoint(first.at()) or deed.verb not in _OUT_OF_NONE or deed.is_not:
            continue
        is_named = deed.verb == "adopt" and any(one.startswith(("name", "call")) for one in now.said)
        if is_named or not (PETS | {"lab", "greyhound"}).isdisjoint(got[-1:]):
            return Reason.VALUE_CHANGED
    return None


def _health(was: Told, now: Told) -> Reason | None:
    """What one has, suffers, or recovers from, until it is over."""
    first = was.deeds[0]
    if not _is_same(was, now) or was.is_joined or len(was.deeds) > 2:
        return None
    had = first.at() if first.verb in {"have", "suffer"} and not first.is_not else []
    had = had or (first.at("from") if first.verb == "recover" else []) or first.at("because", "of")
    if not had:
        return None
    ill = {word for word in had if word not in {"bad", "terrible", "mild", "severe", "nasty"}}
    for deed in now.deeds:
        over = deed.at(_HEALING[deed.verb]) if deed.verb in _HEALING and not deed.is_not and not now.thing else []
        is_whole = "fully" in now.said or "completely" in now.said or first.verb != "recover"
        if over and set(over) & ill == set(over) and over[-1] in ill and is_whole:
            return Reason.ENDED
    healed = next((one.value for one in now.frames if "ends:health" in one.cues), "")
    of = set((now.thing or healed).split())
    return Reason.ENDED if of and of <= ill - PERSONS - PETS and _is_gone(now.deeds) else None


def _is_gone(deeds: tuple[Deed, ...]) -> bool:
    """``is gone``, ``went away``, ``has healed``."""
    first, last = deeds[0], deeds[-1]
    if first.is_not or len(deeds) > 2:
        return False
    if first.verb == "be":
        return last.verb == "go" and not last.words
    return len(deeds) == 1 and (
        first.verb in _GONE or (first.verb, first.particle) in {("go", "away"), ("clear", "up")}
    )


def _food(was: Told, now: Told) -> Reason | None:
    """What one eats and drinks, until that is given up, or other things are had by habit."""
    if not _is_same(was, now) or len(was.deeds) > 1:
        return None
    first = was.deeds[0]
    is_habit = now.is_now or not _OFTEN.isdisjoint(now.said)
    is_mine = not now.thing or not _MEALS.isdisjoint(now.thing.split())
    others = PERSONS | PETS - _MEAT
    if not holds(now) and not any((one.verb, one.particle) in _GIVING_UP | _TURNING for one in now.deeds):
        return None
    if was.has("diet") in _MEATLESS and not (was.is_joined or first.is_not):
        eats = [one for one in now.deeds if one.verb in _EATING and not one.is_not and not _MEAT.isdisjoint(one.at())]
        eats += [one for one in now.deeds if one.verb == "be" and now.thing and not _MEAT.isdisjoint(one.at())]
        return Reason.VALUE_CHANGED if eats and is_habit and is_mine and not others & now.said else None
    if first.verb == "eat" and not _MEAT.isdisjoint(first.objects()[:1]) and not first.is_not and not now.thing:
        turned = [one for one in now.deeds if (one.verb, one.particle) in _TURNING and not one.is_not]
        is_so = any(
            word.removesuffix("ism") in {"vegan", "vegetarian"} or word == "vegetarianism"
            for one in turned
            for word in one.at()
        )
        return Reason.VALUE_CHANGED if is_so and not others & now.said else None
    if first.verb == "drink" and "only" in was.said and not first.after and not now.thing and not others & now.said:
        has = [one for one in now.deeds if one.verb in {"have", "drink"} and not one.is_not]
        is_other = any(_DRINKS & set(one.objects()) - set(first.objects()) for one in has)
        return Reason.VALUE_CHANGED if is_other and is_habit else None
    if (
        first.verb in _INGESTING
        and len(first.objects()) >= 1
        and not was.is_joined
        and not first.is_not
        and not now.thing
    ):
        left = [one for one in now.deeds if (one.verb, one.particle) in _GIVING_UP and not one.is_not]
        is_it = any(one.objects()[:1] == first.objects()[:1] and len(one.objects()) == 1 for one in left)
        return Reason.ENDED if is_it and not others & now.said and not _LOCAL & {*left[0].after} - {"in"} else None
    return None


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
    if not _is_same(was, now) or now.thing or len(was.deeds) != 1 or was.is_joined or now.is_joined or not holds(now):
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
    (_work, frozenset("be work hire join make name appoint bring keep lay let fire dismiss retire quit leave resign give start begin get land find accept take".split())),
    (_home, frozenset({"move", "relocate", "buy", "purchase", "rent"})),
    (_partner, frozenset()),
    (_pets, frozenset({"die", "pass", "give"}) | _OUT_OF_NONE),
    (_health, frozenset({"be", "go", "clear"}) | _GONE | frozenset(_HEALING)),
    (_food, _EATING | frozenset({"drink"}) | frozenset(verb for verb, _ in _GIVING_UP | _TURNING)),
    (_taste, frozenset(HATING | LIKING | {"hat"})),
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
    "home": frozenset({"live", "rent", "relocate", "reside", "buy"}),
    "work": frozenset({"work", "retire", "lay", "let", "job", "hire", "quit", "teach", "sabbatical", "start"}),
    "food": _MEAT | _MEATLESS | {"vegetarianism", "veganism"},
    "pair": PARTNERS | _TOGETHER | {"single"},
}
"""Words that tell of what a text may speak."""
