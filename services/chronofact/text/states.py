"""States of things: which ends which, and whether two sentences speak of one thing (semantics §7)."""

from __future__ import annotations

from typing import Final

from chronofact.text.frames import Frame, Polarity, of_entity
from chronofact.text.reasons import Reason
from chronofact.text.values import contains
from chronofact.text.words import HALFWAY

THING: Final = "of:"
"""The begin of a cue: what it was that was finished."""
RESULT: Final = "so:"
"""The begin of a cue: the state in which that is since."""
_PHASE: Final = "prop:phase"
_SHARES: Final = ("num:complete", "num:completed", "num:done", "num:finished", "num:ready", "num:built")
"""How much of it is done."""
_KINDS: Final = {
    "planned": "planned|scheduled|in planning|in concept|in ideation|in discovery|in scoping|in research|in stealth|in talks|in negotiation|unreleased|unpublished|unbuilt|pending",
    "design": "in design|in prototyping|in prototype|in draft|in drafting|in outline",
    "made": "in training|started|underway|ongoing|in progress|in development|under development|under construction|being made|in construction|in implementation|active|running|resumed|"
    "unfinished|incomplete",
    "tried": "in testing|in test|in alpha|in beta|in qa|in staging|in pilot|in trial|in rehearsal|in preview",
    "polished": "in editing|in mixing|in mastering",
    "judged": "pending|waiting|submitted|in review|under review|under investigation|under consideration|under evaluation|under appeal|in arbitration|in appeal|in moderation|"
    "in escrow|under contract|under negotiation|in transit|on way|escalated|unresolved|open|reopened",
    "held": "on hold|on hiatus|on pause|on ice|in limbo|paused|suspended|blocked|stuck|stalled|postponed",
    "ready": "ready|unblocked|back on track",
    "late": "late|delayed|overdue|at risk",
    "timely": "on track|back on track|on schedule|on time|ahead",
    "done": "complete|completed|done|finished|concluded|closed|accepted|published|merged|approved|resolved|fixed|repaired|shipped|released|launched|deployed|signed|won|"
    "settled|ended|premiered|arrived|contained|granted|delivered|installed|certified|archived",
    "off": "rejected|denied|declined|terminated|cancelled|canceled|abandoned|scrapped|shelved|failed|withdrawn",
    "mended": "fixed|repaired|resolved",
    "handed": "submitted",
    "owed": "unpaid|overdue",
    "paid": "paid",
    "working": "opened|working|in effect|in force|online|running|operational|live|active|enabled|available|in production|passing|launched|shipped|released|deployed|open|reopened",
    "idle": "removed|out order|out service|lifted|revoked|repealed|expired|offline|down|broken|failing|stopped|disabled|inactive|unavailable|suspended|deprecated|decommissioned|closed",
    "public": "public|published",
    "private": "private|unpublished",
}  # fmt: skip
_KINDS_OF: Final = {
    state: frozenset(kind for kind, others in _KINDS.items() if state in others.split("|"))
    for states in _KINDS.values()
    for state in states.split("|")
}
_UNDER_WAY: Final = frozenset(
    {"planned", "design", "made", "tried", "polished", "judged", "held", "ready", "late", "timely"}
)
_EARLY: Final = ("planned", "design", "made", "tried", "polished")
_GOING: Final = frozenset({*_EARLY, "judged", "working"})
_OF_MONEY: Final = frozenset({"owed", "paid"})
_AGAINST_PLAN: Final = frozenset({"late", "timely"})
"""How it stands against its plan says nothing of how far it is, but that it is held up."""
_OVER: Final = frozenset({"done", "off"})
_OPPOSED: Final = (
    {"working", "idle"},
    {"mended", "idle"},
    {"handed", "late"},
    {"owed", "paid"},
    {"working", "off"},
    {"public", "private"},
    {"late", "timely"},
    {"held", "timely"},
)
_ONE_STATE: Final = tuple(
    frozenset(words.split("|"))
    for words in (
        "complete|completed|done|finished|concluded|closed|contained|delivered",
        "cancelled|canceled|abandoned|terminated|scrapped|shelved|withdrawn",
        "fixed|repaired|resolved|closed|contained",
        "shipped|released|launched|deployed|live|published|delivered|in production",
        "started|underway|ongoing|active|running|resumed",
        "approved|accepted|granted|signed",
        "rejected|denied|declined",
        "pending|submitted|waiting",
        "paused|suspended|stopped",
        "started|active|being made|in progress|in development|in construction|under development|under construction",
    )
)
_WHY_HELD: Final = frozenset({"judged", "held", "late", "idle"})
_OF_RESULTS: Final = frozenset({"for", "of", "out", "from", "against"})
_SEASONS: Final = frozenset({"spring", "summer", "fall", "autumn", "winter", "end"})
_MINE: Final = frozenset({"user", "we"})
_TAILS: Final = frozenset({"for", "in", "on", "at", "of", "with", "from", "to", "by"})
_SEVERAL: Final = frozenset(
    "bug issue ticket task test feature order part step thing request version pr branch chapter item file page module section component screen".split()
)
"""Of which there are so many that the bare word tells none."""
_DEEDS: Final = frozenset(
    "rewrite redesign migration rollout review launch upgrade port move rebuild refactor renovation repair restoration translation".split()
)
"""``the redesign of the site`` is no site."""
_PAPERS: Final = frozenset({"paper", "submission", "manuscript", "article"})


def kinds_of(state: str) -> frozenset[str]:
    """What kinds of state a phrase may tell of; none where it is unknown."""
    first, last = state.split()[:1], state.split()[-1:]
    if first == ["out"]:
        return _KINDS_OF.get(state, frozenset())
    if first == ["pre"]:
        return frozenset({"planned"})
    if not HALFWAY.isdisjoint(state.split()):
        return frozenset({"made"})
    tried = (state, " ".join(first + last), *last, *(f"in {word}" for word in last))
    return next((_KINDS_OF[said] for said in tried if said in _KINDS_OF), frozenset())


def are_one_state(old: str, new: str) -> bool:
    """Whether two words may tell of one and the same state; what is half done says little of what was."""
    if any(old in words and new in words for words in _ONE_STATE) or not HALFWAY.isdisjoint(new.split()):
        return True
    was, now = kinds_of(old), kinds_of(new)
    if was and now and (was <= _OF_MONEY) != (now <= _OF_MONEY):
        return True
    return any(one and one <= _AGAINST_PLAN and other & _GOING for one, other in ((was, now), (now, was)))


def follows(old: str, new: str) -> bool:
    """Whether a state ends another by itself; what is over is over, and what is enabled may well be public."""
    was, now = kinds_of(old), kinds_of(new)
    if not was or not now or was & now:
        return False
    if any({one, other} in _OPPOSED for one in was for other in now):
        return True
    if are_one_state(old, new):
        return False
    if not was & _UNDER_WAY:
        return False
    if now & _OVER:
        return True
    return bool(now & (_UNDER_WAY | {"working"})) and not _goes_back(was, now)


def _goes_back(was: frozenset[str], now: frozenset[str]) -> bool:
    """What is in testing is in development still."""
    places = [[place for place, kind in enumerate(_EARLY) if kind in kinds] for kinds in (was, now)]
    return all(places) and min(places[1]) < min(places[0])


def thing_keys(frame: Frame) -> tuple[str, ...]:
    """Under which a thing's states are found, however much of its name is said."""
    things = [cue.removeprefix(THING) for cue in frame.cues if cue.startswith(THING)]
    if _is_state(frame) or frame.slot.startswith("project:"):
        things.append(frame.entity if _is_state(frame) else frame.value)
    return tuple(f"state|{_parts(one)[1][-1]}" for one in things if _parts(one)[1])


def passes(old: Frame, new: Frame) -> Reason | None:
    """Why a thing is no more in a state that it was in; None where nothing of the kind is said."""
    is_work = old.slot.startswith("project:") and new.slot == "end" and of_entity(old) == of_entity(new)
    if not (_is_state(old) or is_work) or Polarity.NEGATIVE in {old.polarity, new.polarity}:
        return None
    if not (_is_state(new) or new.slot == "end"):
        return None
    results = [cue.removeprefix(RESULT) for cue in new.cues if cue.startswith(RESULT)]
    things = [new.entity] if _is_state(new) else [cue.removeprefix(THING) for cue in new.cues if cue.startswith(THING)]
    if not any(is_same_thing(old.value if is_work else old.entity, one) for one in things):
        return None
    if is_work:
        return Reason.ENDED
    was, now = _said(old), _said(new) if _is_state(new) else "".join(results[:1])
    if old.slot in _SHARES:
        return Reason.VALUE_CHANGED if kinds_of(now) & (_OVER | {"working"}) and not new.scope else None
    if not (follows(was, now) or _is_next(was, now, new)):
        return None
    return Reason.VALUE_CHANGED if _fits(old, new) else Reason.SCOPE_DIFFERS


def _is_state(frame: Frame) -> bool:
    return frame.slot in {"status", _PHASE, *_SHARES}


def _said(frame: Frame) -> str:
    return " ".join(word for word in frame.value.split() if word not in {"phase", "stage"})


def _is_next(was: str, now: str, new: Frame) -> bool:
    """From one phase into another, where it is said that it went there."""
    are_phases = all(one and kinds_of(one) <= set(_EARLY) for one in (was, now))
    bare = [one.removeprefix("in ") for one in (was, now)]
    return are_phases and not contains(*bare) and not are_one_state(was, now) and "changed" in new.cues


def _fits(old: Frame, new: Frame) -> bool:
    """Whether it is all of the thing that was in that state, and is in this; why it was held up limits nothing."""
    if old.scope == new.scope:
        return True
    if old.scope and not kinds_of(_said(old)) & _WHY_HELD:
        return False
    said, _, rest = new.scope.removesuffix(" in production").removeprefix("in production").partition(" ")
    is_result = bool(kinds_of(_said(new)) & _OVER) and said in _OF_RESULTS
    return not said or is_result or said in {"last", "this"} or (said == "in" and _SEASONS.issuperset(rest.split()))


def is_same_thing(old: str, new: str) -> bool:
    """Whether the later text names the thing of the earlier, by all or less of its name: ``the trial`` is the drug trial."""
    (owner, was, tail), (other, now, rest) = _parts(old), _parts(new)
    if not was or not now or was[-1] != now[-1] or (rest and rest != tail):
        return False
    if owner != other and (other or len(now) < len(was) or len(now) == 1):
        return False
    if any(any(ch.isdigit() for ch in word) for word in set(was) ^ set(now)):
        return False
    if set(was) == set(now):
        return not tail or tail == rest or len(was) > 1
    if set(now) < set(was):
        return len(now) > 1 or not (now[0] in _SEVERAL or _DEEDS.intersection(was[:-1]))
    return set(was) < set(now) and len(was) > 1


def _parts(entity: str) -> tuple[str, list[str], str]:
    """Whose it is, the words of its name, and what it is for; the user's own is as if nobody's."""
    *owners, noun = entity.removesuffix(" project").split(":")
    owner = ":".join(owners[1:] if owners and owners[0] in _MINE else owners)
    words = [word for word in noun.split() if word not in {"the", "'s"}]
    place = next((place for place, word in enumerate(words) if place and word in _TAILS), len(words))
    words, tail = words[:place], " ".join(words[place:])
    return owner, ["paper" if word in _PAPERS else word for word in words], tail
