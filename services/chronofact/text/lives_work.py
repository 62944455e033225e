"""Work: what somebody has, lost, left, found, and what else says that it is another now (semantics §7)."""

from __future__ import annotations

from typing import Final, NamedTuple

from chronofact.text.deeds import Deed, Told, is_one_person
from chronofact.text.fitting import stem
from chronofact.text.frames import Temporality
from chronofact.text.reasons import Reason
from chronofact.text.values import contains
from chronofact.text.words import NO_ROLES, PERSONS, ROLE_ENDINGS, ROLES, SIDE_ROLES

_POSTS: Final = frozenset({"job", "work", "position", "role", "gig", "employment", "offer", "internship", "post"})
_FINDING: Final = frozenset({"start", "begin", "get", "land", "find", "accept", "take"})
_LEAVING: Final = frozenset({"quit", "leave", "resign", "give"})
_TEMPORARY: Final = frozenset({"intern", "trainee", "temp", "contractor", "apprentice", "freelancer", "freelance"})
_TITLES: Final = frozenset(
    "pm vp ceo cto cfo coo sr lead head chief director manager supervisor president principal".split()
)
_NAMING: Final = frozenset({"make", "name", "appoint"})
_TASKS: Final = frozenset(
    {"clean", "cook", "serve", "manage", "run", "wait", "sell", "drive", "help", "coach", "tend", "train", "answer"}
)
_AWAY: Final = frozenset({"sabbatical", "leave", "furlough"})
_SINCE: Final = frozenset({"", "in", "from", "as", "after", "at", "on", "when", "because", "during", "last"})


class Work(NamedTuple):
    """``names`` are words of who employs and as what; ``is_none`` where there is no work."""

    names: frozenset[str]
    verb: str
    is_none: bool = False
    is_temporary: bool = False
    is_away: bool = False


def works(one: Told) -> Work | None:
    """The work that a sentence says somebody has, or that it is wanting."""
    found = [_work_of(one, deed) for deed in one.deeds]
    if (
        not found
        or any(work is None for work in found)
        or (one.is_joined and not any(work.is_none for work in found if work))
    ):
        return None
    return found[0]


def _work_of(one: Told, deed: Deed) -> Work | None:
    if deed.is_not:
        return None
    said = frozenset(word.word for word in deed.words)
    if deed.verb == "be" and ("job" in deed.at("between") or not {"unemployed", "jobless"}.isdisjoint(deed.at())):
        return Work(said, "be", is_none=True)
    if deed.verb in {"look", "search", "hunt"} and not _POSTS.isdisjoint(deed.at("for")[-1:]):
        return Work(said, "look", is_none=True)
    if deed.verb == "work" and deed.after & {"at", "for", "as"} and one.has("employer") + one.has("occupation"):
        return Work(said, "work")
    if deed.verb == "work" and one.has("do:work:in"):
        return Work(said, "work")
    if deed.verb == "teach" and deed.words and all(word.kind != "t" for word in deed.words):
        return Work(said, "teach")
    role = one.has("occupation").split()[-1:]
    if deed.verb == "be" and not role and deed.after & {"in", "at"} and not (SIDE_ROLES | PERSONS | NO_ROLES) & said:
        is_one = any(frame.slot.startswith("is:") for frame in one.frames)  # an aide in a nursing home
        role = deed.objects()[-1:] if is_one else []
    if deed.verb == "be" and role and SIDE_ROLES.isdisjoint(role):
        return Work(said, "be", is_temporary=not _TEMPORARY.isdisjoint(role))
    if deed.verb == "be" and not _AWAY.isdisjoint(deed.at("on")[-1:]):
        return Work(said, "be", is_away=True)
    return Work(said, deed.verb) if "at" in deed.after and deed.verb in _TASKS else None


def leaves_work(was: Told, state: Work, now: Told) -> Reason | None:
    """Why what is said later leaves it; None where it does not."""
    if state.is_temporary and _is_kept_on(was, now):
        return Reason.VALUE_CHANGED
    if now.thing or not is_one_person(was.person, now.person):
        return None
    deeds = [one for one in now.deeds if not one.is_not]
    if any(_is_no_more(one, state, now) for one in now.deeds):
        return Reason.ENDED
    if state.verb in _TASKS:
        return None
    if state.is_away:
        returned = [one for one in deeds if one.verb in {"be", "go", "return", "come"}]
        return Reason.ENDED if any(one.at("at", "to")[:1] == ["work"] for one in returned) else None
    if state.is_none:
        return Reason.VALUE_CHANGED if any(_is_found(now, one) for one in deeds) else None
    if any((_is_out(one, now, state) and _is_of(one, state)) or _is_left(one, state) for one in deeds):
        return Reason.ENDED
    if state.verb == "teach":
        is_away = any(one.verb == "be" and "sabbatical" in one.at("on")[-1:] for one in deeds)
        return Reason.ENDED if is_away else None
    return Reason.VALUE_CHANGED if any(_is_other(was, now, one) for one in deeds) else None


def _is_no_more(deed: Deed, state: Work, now: Told) -> bool:
    """``does not work at the shelter anymore``."""
    is_left = (
        deed.is_not and deed.verb == "work" and bool(deed.at("at", "for")) and set(deed.at("at", "for")) <= state.names
    )
    return is_left and any("anymore" in one.cues or "now" in one.cues for one in now.frames)


def _is_kept_on(was: Told, now: Told) -> bool:
    """``took Hana on full time``."""
    is_whole = "full" in now.said or "permanently" in now.said
    of = [set(one.objects()) for one in now.deeds if one.verb in {"take", "hire", "bring", "keep"} and not one.is_not]
    return is_whole and any(set(was.person.split()) <= words for words in of)


def _is_found(now: Told, deed: Deed) -> bool:
    """Work of whatever kind, but beside which one looks for more."""
    held = [
        one for one in now.frames if one.slot in {"employer", "occupation"} and one.temporality is not Temporality.PAST
    ]
    role = [one.value.split()[-1] for one in held if one.slot == "occupation" and one.value]
    if deed.verb == "be" and not set(role) & set(deed.objects()):
        held = []
    if (
        held
        and SIDE_ROLES.isdisjoint(role)
        and deed.verb in {"work", "be", "join", "get", "start"}
        and "for" not in deed.after - {"at"}
    ):
        return True
    if deed.verb in _FINDING and not _POSTS.isdisjoint(deed.objects()[-1:]):
        is_task = deed.objects()[-1] == "work" and deed.after - {"at", "as", "for"}  # "started work on the garden"
        return "interview" not in now.said and not is_task
    as_role = deed.at("as")
    is_work = any(is_post(word) for word in as_role) or (deed.verb == "hire" and bool(deed.after & {"at", "by"}))
    return deed.verb in {"start", "begin", "hire"} and is_work and not deed.objects()


def is_post(word: str) -> bool:
    """Whether a word names what one does for a living."""
    return word in ROLES or (len(word) > 4 and word.endswith(ROLE_ENDINGS) and word not in PERSONS)


def _is_out(deed: Deed, now: Told, state: Work) -> bool:
    """Laid off, let go, fired; retired."""
    if deed.objects() and deed.verb != "retire":
        return False
    if deed.verb == "lay":
        return deed.particle == "off" and "of" not in deed.after
    if deed.verb == "let":
        after = now.deeds[now.deeds.index(deed) + 1 :][:1]
        is_let_go = bool(after) and after[0].verb == "go" and not deed.words
        return is_let_go and {one.after for one in after[0].words[:1]} <= _SINCE - {"at", "on"}
    if deed.verb == "retire":
        after = now.deeds[now.deeds.index(deed) + 1 :][:1]
        is_from_it = not after or "from" not in now.said or stem(after[0].verb) == stem(state.verb)
        return deed.after <= _SINCE and not _is_done_to(deed) and is_from_it
    return deed.verb in {"fire", "dismiss"} and deed.after <= _SINCE


def _is_done_to(deed: Deed) -> bool:
    """``retired the old server``: done to a thing."""
    return any(
        word not in {"year", "month", "week", "spring", "summer", "fall", "autumn", "winter"} for word in deed.objects()
    )


def _is_of(deed: Deed, state: Work) -> bool:
    """Whether the work that is named as the one left, if any, is the one had."""
    named = [one.word for one in deed.words if one.after in {"from", "as", "at", "with"} and one.kind in "nNv"]
    named = [one for one in named if one not in _POSTS and stem(one) != stem(state.verb)]
    return set(named) <= state.names or (deed.verb in {"let", "lay"} and not deed.after & {"from", "as"})


def _is_left(deed: Deed, state: Work) -> bool:
    """``quit McDonald's``, ``gave up teaching``."""
    if deed.verb not in _LEAVING or (deed.verb == "give" and deed.particle != "up"):
        return False
    left = [one.word for one in deed.words if one.after in {"", "from"} and one.kind in "nNv"]
    if left == ["work"] and deed.verb == "leave":
        return False  # for the day
    is_named = bool(left) and set(left) <= state.names | _POSTS and _is_of(deed, state)
    return is_named or [stem(one) for one in left] == [stem(state.verb)]


def _is_other(was: Told, now: Told, deed: Deed) -> bool:
    """Somewhere else by name now, or made something else."""
    new, old = now.has("employer"), was.has("employer")
    is_now = now.is_now and not (PERSONS & now.said)
    is_lasting = any("these days" in one.cues for one in now.frames)
    if deed.verb == "be" and is_lasting and old and now.has("at:at"):
        return all(one.kind == "N" for one in deed.words) and not contains(now.has("at:at"), old)
    if deed.verb == "work" and is_now and new and old:
        names = [one.value_type for side in (was, now) for one in side.frames if one.slot == "employer"]
        return set(names) == {"organisation"} and not contains(new, old) and not now.is_joined and deed.after == {"at"}
    if deed.verb in _NAMING and any(one.slot == "occupation" and not one.scope for one in was.frames):
        named = [one.word for one in deed.words if one.after in {"", "of", "to"} and one.kind in "nNa"]
        named = [one for one in named if one not in {"last", "week", "month", "year"}]
        is_title = any(one in _TITLES or is_post(one) for one in named)
        return is_title and len(named) <= 4 and not deed.after - {"of", "in", "on", "at", "to"}
    return False
