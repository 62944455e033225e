"""Frames made of clauses: scope, and the slots that several readers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chronofact.text.frames import Frame, Holds, Polarity, Temporality
from chronofact.text.phrases import Value, Whose, value_of
from chronofact.text.timing import time_at
from chronofact.text.words import KIN, PERSONS, PETS, RELOCATING, never_changes

if TYPE_CHECKING:
    from chronofact.text.clauses import Clause

CHANGED: Final = {"temporality": Temporality.CHANGE}
_DATES: Final = frozenset({"in", "on", "since", "last", "at", "after", "before", "during", "by", "until", "from", "as"})
_PLACES_OF_TIME: Final = frozenset(
    {
        "year",
        "week",
        "weekend",
        "summer",
        "winter",
        "spring",
        "autumn",
        "fall",
        "month",
        "day",
        "time",
        "today",
        "yesterday",
        "ago",
    }
)
_WHY: Final = frozenset({"because", "because of", "since", "after", "due", "due to", "so", "as"})
MODAL: Final = {"can": "can", "ca": "can", "must": "must"}
ENTITY_MAX: Final = 80
VALUE_MAX: Final = 120
HAPPENED: Final = frozenset({Temporality.CHANGE, Temporality.STARTED, Temporality.ENDED})


def frame(clause: Clause, slot: str, value: str, **said: Any) -> Frame:
    """A frame of the clause; what is not said is as the clause is."""
    scope = said.pop("scope", None)
    cues = list(said.pop("cues", ())) + clause.cues
    temporality = said.pop("temporality", clause.temporality)
    if clause.temporality == Temporality.ENDED:
        temporality = clause.temporality
    if temporality is Temporality.CHANGE:
        cues.append("changed")
    return Frame(
        entity=said.pop("entity", clause.about.entity)[:ENTITY_MAX],
        slot=slot[:ENTITY_MAX],
        value=value[:VALUE_MAX],
        polarity=said.pop("polarity", clause.polarity),
        modality=clause.modality,
        temporality=temporality,
        scope=(scope_of(clause, is_change=temporality in HAPPENED) if scope is None else scope)[:VALUE_MAX],
        is_main=clause.is_main,
        cues=tuple(dict.fromkeys(cues)),
        guards=tuple(dict.fromkeys([*clause.guards, *said.pop("guards", ())])),
        **said,
    )


def scope_of(clause: Clause, *, is_change: bool) -> str:
    """What limits the clause: phrases that became neither slot nor value. Dates of a change limit nothing."""
    found: list[str] = []
    for said, token in clause.preps:
        if token.i in clause.used or said in {"since", "instead of"}:
            continue
        if said == "for" and is_date(token):
            continue
        if (is_change or said == "since") and said in _DATES and _dates(token):
            continue
        if is_change and (said in _WHY or (said in {"for", "with"} and clause.lemma in RELOCATING)):
            continue  # "moved to Oslo for a job": who moves, moves altogether
        found.append(f"{said} {value_of(token, clause.prepared).text}")
    found += _inside(clause)
    for verb in clause.verbs:
        for child in verb.children:
            if (
                child.dep_ in {"npadvmod", "tmod"}
                and child.i not in clause.used
                and not (is_change and is_date(child))
                and not any(inner.lower_ == "these" for inner in child.children)
            ):
                found.append(value_of(child, clause.prepared).text or child.lower_)
            elif child.dep_ == "aux" and child.lower_ in MODAL:
                found.append(MODAL[child.lower_])  # what may be, or has to, is not yet what is
            elif child.dep_ == "advcl" and not (is_change and says_why(child)):
                found.append(f"{child.lemma_.lower()} clause")
    return " ".join(dict.fromkeys(found))


def says_why(verb: Any) -> bool:
    """Whether a clause beneath a change gives its reason or its purpose, which limits nothing."""
    if any(child.dep_ == "mark" for child in verb.children):
        return any(child.dep_ == "mark" and child.lower_ in _WHY for child in verb.children)
    return verb.tag_ == "VB" and any(child.tag_ == "TO" for child in verb.children)


def _dates(token: Any) -> bool:
    """Whether it says when a change came about; hours, and days in the plural, limit what changed."""
    timed = time_at(token)
    if timed is None:
        return is_date(token)
    return timed[1] != "clock" and not (timed[1] == "weekday" and token.lower_.endswith("days"))


def _inside(clause: Clause) -> list[str]:
    """What limits a noun that was taken: ``meat on Fridays``, ``a book by King``."""
    return [
        f"{child.lower_} {value_of(inner, clause.prepared).text}"
        for token in clause.verb.sent
        if token.i in clause.used
        for child in token.children
        if child.dep_ == "prep" and child.lower_ not in {"of", "since", "as", "per", "a", "instead"}
        for inner in child.children
        if inner.dep_ == "pobj" and inner.i not in clause.used and all(inner.i != after.i for _, after in clause.preps)
    ]


def is_date(token: Any) -> bool:
    """Whether a phrase says a day, a year or how long ago."""
    words = {inner.lemma_.lower() for inner in token.subtree}
    return bool(words & _PLACES_OF_TIME) or (token.text.isdigit() and len(token.text) == 4)


def prop(clause: Clause, whose: Whose, value: Value | str, kind: str, **said: Any) -> Frame:
    """``X's N is V``: N of X holds one value, unless there may be several N, or it never changes."""
    text = value if isinstance(value, str) else value.text
    words = set(whose.noun.split())
    holds = Holds.ONE
    if never_changes(whose.noun) and not words & {"favorite", "favourite"}:
        holds = Holds.IMMUTABLE
    elif (whose.head in (KIN | PETS) and "best" not in words) or (
        whose.noun == "name" and set(whose.owner.split(":")) & (KIN | PETS)
    ):
        holds = Holds.MANY
    if not isinstance(value, str) and value.is_name:
        said["cues"] = (*said.get("cues", ()), "named")
    noun = whose.noun.replace("favourite", "favorite").replace("preferred", "favorite")
    return frame(
        clause,
        f"prop:{noun}",
        text,
        entity=whose.owner,
        value_type=kind,
        cardinality=said.pop("cardinality", holds),
        **said,
    )


def is_person(whose: Whose) -> bool:
    """Whether it is the user, somebody's relative, or a bare name."""
    return whose.entity in {"user", "we", "?"} or whose.head in PERSONS or whose.head in PETS


def may_act(whose: Whose) -> bool:
    """Whether it can be somebody who leaves, joins, buys and sells."""
    return is_person(whose) or (whose.is_name and not whose.owner)


def is_thing_of(whose: Whose) -> bool:
    """``X's N`` where N is no person: an attribute."""
    return bool(whose.owner) and whose.head not in PERSONS and whose.head not in PETS


def flip(clause: Clause) -> Polarity:
    """The other polarity: hating is not liking."""
    return Polarity.POSITIVE if clause.polarity is Polarity.NEGATIVE else Polarity.NEGATIVE
