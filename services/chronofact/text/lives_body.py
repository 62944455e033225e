"""What befalls a body and who is fed: pets that die, ills that pass, what one eats no more (semantics §7)."""

from __future__ import annotations

from typing import Final

from chronofact.text.deeds import Deed, Told, holds, is_one_person, is_same
from chronofact.text.frames import Temporality
from chronofact.text.reasons import Reason
from chronofact.text.words import PERSONS, PETS, UNITS

MEATLESS: Final = frozenset({"vegan", "vegetarian"})
_FISH: Final = frozenset("fish salmon tuna seafood shrimp".split())
MEAT: Final = frozenset("meat chicken beef pork steak bacon ribeye burger ham turkey lamb sausage brisket".split())
_MEALS: Final = frozenset("dinner lunch breakfast supper meal dish food snack".split())
_OFTEN: Final = frozenset("lately most every usually often always regularly daily nightly weekly".split())
_EATING: Final = frozenset("eat cook grill have be order fry roast make".split())
_DRINKS: Final = frozenset(
    "coffee tea wine beer juice soda cola coke lemonade milk cocoa espresso latte kombucha".split()
)
_INGESTING: Final = frozenset({"drink", "eat", "smoke", "vape", "use", "take", "chew", "play", "practice"})
_GIVING_UP: Final = frozenset(
    {("quit", ""), ("ditch", ""), ("abandon", ""), ("kick", ""), ("give", "up"), ("cut", "out"), ("swear", "off")}
)
_TURNING: Final = frozenset({("embrace", ""), ("turn", ""), ("go", ""), ("become", ""), ("adopt", "")})
_HEALING: Final = {"recover": "from", "get": "over", "heal": "from", "beat": "", "be": "over"}
_GONE: Final = frozenset({"heal", "vanish", "disappear", "subside"})
CHILDREN: Final = frozenset("child kid baby girl boy son daughter twin newborn".split())
_BREEDS: Final = frozenset("lab greyhound collie terrier husky dachshund spaniel bulldog corgi tabby siamese".split())
_ILL: Final = frozenset({"sick", "ill", "unwell", "injured", "dying", "weak"})
_HAPPENED: Final = frozenset({Temporality.CHANGE, Temporality.ENDED, Temporality.PAST})
_DYING: Final = frozenset({("die", ""), ("pass", "away")})
_OUT_OF_NONE: Final = frozenset({"adopt", "get", "buy", "have", "bring"})
PETS_VERBS: Final = frozenset({"die", "pass", "give"}) | _OUT_OF_NONE
HEALTH_VERBS: Final = frozenset({"be", "go", "clear"}) | _GONE | frozenset(_HEALING)
FOOD_VERBS: Final = _EATING | frozenset({"drink", "smoke"}) | frozenset(verb for verb, _ in _GIVING_UP | _TURNING)


def pets(was: Told, now: Told) -> Reason | None:
    """The pet that died, be it by its name; who has none, until there is one."""
    first = was.deeds[0]
    is_pet = not PETS.isdisjoint(was.subject) and (was.person, was.thing) == (now.person, now.thing)
    if first.verb == "be" and is_pet and was.person + was.thing != "user":
        return Reason.ENDED if not _ILL.isdisjoint(first.at()) and dies(now.deeds) else None  # "my dog Rex is sick"
    if was.thing or first.verb != "have":
        return None
    if first.is_not or any("polarity" in one.guards for one in was.frames):
        return _has_first(was, now, first)
    held = [word.word for word in first.words if word.kind in "nN"]
    if not dies(now.deeds) or PETS.isdisjoint(held):
        return None
    names = [
        one.value for one in was.frames if one.slot.startswith("have:") and one.value and not one.value[:1].isdigit()
    ]
    if not now.thing and now.person in names and len(names) == 1 and not (was.is_joined or PERSONS & now.said):
        return Reason.ENDED
    is_theirs = is_one_person(was.person, now.person) or _ours(was, now)
    gone = PETS & set(now.thing.split() or now.subject) & set(held)
    rest = {word for word in held if word in PETS} - gone
    return Reason.ENDED if is_theirs and len(gone) == 1 and rest and rest <= now.said else None


def dies(deeds: tuple[Deed, ...]) -> bool:
    """``passed away``, and no time with it."""
    gone = [one for one in deeds if (one.verb, one.particle) in _DYING and not one.is_not]
    return any(UNITS.issuperset(one.objects()) for one in gone)


def _ours(was: Told, now: Told) -> bool:
    return was.person == "user" and {"our", "whose"} & now.said != set()


def _has_first(was: Told, now: Told, first: Deed) -> Reason | None:
    if not is_same(was, now) or now.thing or len(was.deeds) > 1 or was.is_joined:
        return None
    if any("for" in deed.after for deed in now.deeds) or (PERSONS - CHILDREN) & now.said:
        return None  # it may be theirs for whom it was got
    for deed in now.deeds:
        got = deed.objects()
        if not CHILDREN.isdisjoint(first.at()):
            is_born = deed.verb in {"adopt", "have"} and not CHILDREN.isdisjoint(got[-1:]) and not deed.is_not
            is_born |= deed.verb == "give" and "birth" in got
            if is_born:
                return Reason.VALUE_CHANGED
        is_had = deed.verb == "have" or any(one.temporality in _HAPPENED for one in now.frames)  # "is getting a puppy"
        if not is_had or {"pet", "animal"}.isdisjoint(first.at()) or deed.verb not in _OUT_OF_NONE or deed.is_not:
            continue
        is_named = deed.verb == "adopt" and any(one.startswith(("name", "call")) for one in now.said)
        if is_named or not (PETS | _BREEDS).isdisjoint(got[-1:]):
            return Reason.VALUE_CHANGED
    return None


def health(was: Told, now: Told) -> Reason | None:
    """What one has, suffers, or recovers from, until it is over."""
    first = was.deeds[0]
    if not is_same(was, now) or was.is_joined or len(was.deeds) > 2:
        return None
    had = first.at() if first.verb in {"have", "suffer"} and not first.is_not else []
    had = had or (first.at("from") if first.verb == "recover" else []) or first.at("because", "of")
    if not had:
        return None
    had += [word for one in was.frames if one.slot.startswith("have:") for word in one.value.split()]
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
    if first.verb == "go" and not first.particle:
        return len(deeds) == 1 and first.after <= {"after", "since"} and not first.at()  # "is gone after a week"
    if first.verb == "be":
        return last.verb == "go" and not last.words
    return len(deeds) == 1 and (
        first.verb in _GONE or (first.verb, first.particle) in {("go", "away"), ("clear", "up")}
    )


def food(was: Told, now: Told) -> Reason | None:
    """What one eats and drinks, until that is given up, or other things are had by habit."""
    if not is_same(was, now) or len(was.deeds) > 1:
        return None
    first = was.deeds[0]
    is_habit = now.is_now or not _OFTEN.isdisjoint(now.said)
    is_mine = not now.thing or not _MEALS.isdisjoint(now.thing.split())
    others = PERSONS | PETS - MEAT - _FISH
    if not holds(now) and not any(
        (one.verb, one.particle) in _GIVING_UP | _TURNING | {("go", "off")} for one in now.deeds
    ):
        return None
    if was.has("diet") in MEATLESS and not (was.is_joined or first.is_not):
        flesh = MEAT | (_FISH if "started" in now.frames[0].cues else frozenset())
        is_habit |= "started" in now.frames[0].cues
        eats = [one for one in now.deeds if one.verb in _EATING and not one.is_not and not flesh.isdisjoint(one.at())]
        eats += [one for one in now.deeds if one.verb == "be" and now.thing and not MEAT.isdisjoint(one.at())]
        return Reason.VALUE_CHANGED if eats and is_habit and is_mine and not others & now.said else None
    if first.verb == "eat" and not MEAT.isdisjoint(first.objects()[:1]) and not first.is_not and not now.thing:
        turned = [one for one in now.deeds if (one.verb, one.particle) in _TURNING and not one.is_not]
        named = [(one.at() if one.verb in {"go", "turn", "become"} else one.objects()[-1:])[:1] for one in turned]
        is_so = any(word.removesuffix("ism").startswith(tuple(MEATLESS)) for words in named for word in words)
        return Reason.VALUE_CHANGED if is_so and not others & now.said else None
    if was.has("diet") and not first.is_not and "off" not in {first.particle, *first.after}:
        off = [one.objects() for one in now.deeds if (one.verb, one.particle) == ("go", "off") and not one.is_not]
        return (
            Reason.ENDED if any(words and set(words) <= {*was.has("diet").split(), "diet"} for words in off) else None
        )
    if first.verb == "drink" and "only" in was.said and not first.after and not now.thing and not others & now.said:
        has = [one for one in now.deeds if one.verb in {"have", "drink"} and not one.is_not and "for" not in one.after]
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
        had = [first.objects()[:1], *([["smoking"]] if first.verb == "smoke" else [])]
        is_it = any(one.objects() in had and "for" not in one.after for one in left)
        is_it |= first.verb == "smoke" and now.deeds[0].verb == "smoke" and now.deeds[0].is_not and "since" in now.said
        return Reason.ENDED if is_it and not others & now.said else None
    return None
