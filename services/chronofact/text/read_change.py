"""Readers of changes: from one value to another, up or down to a number, to another time or place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality
from chronofact.text.making import frame, is_person, is_thing_of, prop
from chronofact.text.phrases import Value, Whose, after_noun, value_of, version_type, whose
from chronofact.text.read_be import measured, scheduled, status
from chronofact.text.states import THING
from chronofact.text.timing import time_at
from chronofact.text.types import place_type, type_of
from chronofact.text.words import GENERIC, MAKING, MOVING_TIME, RAISING, RELOCATING, REPLACING, STATUS, SWITCHING, UNITS

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause

_SET = frozenset({"schedule", "plan", "launch"})
_MOVES = frozenset({"move", "migration", "switch", "transition", "switchover", "upgrade", "conversion"})
_CHANGE = {"temporality": Temporality.CHANGE}


def is_negated(clause: Clause) -> bool:
    """``never switched`` changes nothing, and tells nothing that the rule could use."""
    return clause.polarity is Polarity.NEGATIVE


def read_change(clause: Clause) -> list[Frame]:
    """All of this file, the plainest first."""
    if clause.subject is None or is_negated(clause):
        return []
    return (
        _instead(clause)
        or _timed(clause)
        or _numbered(clause)
        or _relocated(clause)
        or _replaced(clause)
        or _by_noun(clause)
        or _switched(clause)
    )


def _by_noun(clause: Clause) -> list[Frame]:
    """``completed its move from X to Y``."""
    if clause.lemma not in {"complete", "finish", "make", "do"} or len(clause.objects) != 1:
        return []
    move = clause.objects[0]
    told = dict([*clause.preps, *after_noun(move)])
    if move.lemma_ not in _MOVES or "to" not in told:
        return []
    value, old = value_of(told["to"], clause.prepared), told.get("from")
    if not (value.is_name or value.type):
        return []
    clause.take(move, told["to"], old)
    return [_switch(clause, value, value_of(old, clause.prepared).text if old is not None else "")]


def _instead(clause: Clause) -> list[Frame]:
    """``uses Y instead of X``."""
    old = clause.after("instead of")
    inside = [after for token in clause.objects for after in after_noun(token)]
    before = [
        token
        for said, token in [*clause.preps, *inside]
        if said in {"in", "on", "with", "at", "to"} and old and token.i < old.i
    ]
    new = max(before, key=lambda token: token.i) if before else clause.objects[0] if clause.objects else None
    if old is None or new is None or clause.temporality is Temporality.PAST:
        return []  # "ordered tea instead of coffee" was once
    clause.take(old, new, *clause.objects)
    value, was = value_of(new, clause.prepared), value_of(old, clause.prepared).text
    things = [whose(one, clause.prepared) for one in clause.objects if before]
    mine = [_switch(clause, value, was, entity=one.entity) for one in things if one.owner and not one.is_unknown]
    return [_switch(clause, value, was), *mine]


def _switch(clause: Clause, new: Value | None, old: str, **said: str) -> Frame:
    value = new.text if new is not None else ""
    kind = said.pop("value_type", "") or type_of(value) or type_of(old)
    return frame(clause, "switch", value, from_value=old, value_type=kind, temporality=Temporality.CHANGE, **said)


def _timed(clause: Clause) -> list[Frame]:
    """``moved to 10am``, ``is scheduled for June``, ``leaves at 8:40``, ``takes place at``."""
    if is_person(clause.about) and not (clause.objects and clause.lemma in MOVING_TIME):
        return []
    until = clause.is_passive and clause.after("until", "till") is not None  # "was put off until September"
    moving = clause.lemma in MOVING_TIME or until
    for said, token in clause.preps:
        if said not in ({"to", "until", "till", "for", "by"} if moving else {"at", "on", "for", "in"}):
            continue
        timed = time_at(token)
        if timed is None or (not moving and said == "in" and clause.lemma not in _SET):
            continue
        about = clause.about
        if is_person(clause.about):
            if not _is_definite(clause.objects[0]):
                return []
            about = whose(clause.objects[0], clause.prepared)
        if not (
            moving
            or clause.lemma
            in {
                "schedule",
                "plan",
                "launch",
                "leave",
                "take",
                "start",
                "begin",
                "happen",
                "end",
                "open",
                "close",
                "set",
            }
        ):
            return []
        clause.take(token, *(after for _, after in clause.preps if after.lower_ in {"am", "pm"}), *clause.objects)
        when = {"temporality": Temporality.CHANGE if moving else Temporality.CURRENT}
        if clause.is_passive and not moving and clause.lemma not in {"schedule", "plan"}:
            return []
        about_it = {"value_type": timed[1], "cardinality": Holds.ONE, **when}
        slot = f"schedule:{clause.lemma}" if clause.lemma in {"open", "close", "end"} else "schedule"
        found = [frame(clause, slot, timed[0], entity=scheduled(about), **about_it)]
        if clause.lemma in {"extend", "shift", "move"}:
            found.append(frame(clause, "schedule:end", timed[0], entity=scheduled(about), **about_it))
        return [*found, _postponed(clause)] if is_person(clause.about) else found
    return []


def _postponed(clause: Clause) -> Frame:
    """``postponed the trip to Japan until December``: the former plan holds no more."""
    rest = [token for _, token in clause.preps if token.i not in clause.used]
    inside = [
        inner
        for token in clause.objects
        for child in token.children
        if child.dep_ == "prep"
        for inner in child.children
        if inner.dep_ == "pobj"
    ]
    words = [word for token in [*clause.objects, *rest, *inside] for word in value_of(token, clause.prepared).words]
    named = " ".join(word for word in dict.fromkeys(words) if word not in GENERIC)
    return frame(clause, "end", named, cues=("ends:plan",), temporality=Temporality.ENDED, scope="")


def _is_definite(token: Token) -> bool:
    return any(child.dep_ == "poss" or child.lower_ == "the" for child in token.children)


def _numbered(clause: Clause) -> list[Frame]:
    """``rose to 84%``, ``was raised to $98,000``, ``grew to eleven people``, ``turned 42``."""
    height = _number_after_to(clause)
    token = clause.after("to", "at") or height
    if clause.objects and is_person(clause.about) and (clause.lemma in RAISING or _goes_up(clause, height)):
        return _raised(clause, token)
    if clause.lemma not in RAISING:
        return []
    if token is None and clause.lemma in {"reach", "hit", "turn"} and clause.objects:
        token = clause.objects[0]
    if token is None or clause.lemma == "be":
        return []
    value = value_of(token, clause.prepared)
    if not value.has_number or value.is_name:
        return []
    former = clause.after("from", "by")
    clause.take(token, former)
    noun = " ".join(word for word in value.words if not word[:1].isdigit() and word not in UNITS)
    number = " ".join(word for word in value.words if word[:1].isdigit())
    if (
        " " in number
        and token.i > 0
        and clause.verb.sent.text.lower().count(" to ")
        and "from" in {t.lower_ for t in clause.verb.subtree}
    ):
        first, _, number = number.partition(" ")  # "from 40 to 75 employees"
        value = Value(tuple(word for word in value.words if word != first), value.head, value.is_name, value.has_number)
    if clause.lemma == "turn" and is_person(clause.about):
        return [frame(clause, "num:old", number, value_type="number", cardinality=Holds.ONE, **_CHANGE)]
    found = (
        [measured(clause, value.text, **_CHANGE)] if not is_person(clause.about) or clause.about.head == "team" else []
    )
    if noun:
        found.append(frame(clause, f"count:{noun}", number, value_type="number", cardinality=Holds.ONE, **_CHANGE))
    return found


def _raised(clause: Clause, token: Token | None) -> list[Frame]:
    """``raised the weekly budget to 150 dollars``."""
    things = [one for one in clause.objects if token is None or one.i != token.i]
    thing = things[0] if things else clause.objects[0]
    if token is None or len(things) != 1 or not _is_definite(thing):
        return []
    value, named = value_of(token, clause.prepared), whose(thing, clause.prepared)
    if not value.has_number or value.is_name:
        return []
    clause.take(token, thing)
    clause.cues = [cue for cue in clause.cues if cue != "at most"]  # "put it up to 75": that is where it is now
    owner, noun = named.owner or clause.about.entity, named.noun or named.entity
    return [prop(clause, Whose(f"{owner}:{noun}", owner, noun, named.head), value, "number", **_CHANGE)]


def _goes_up(clause: Clause, number: Token | None) -> bool:
    """``put the rate up to 75``, whatever the verb: a new height is told."""
    return number is not None and any(token.lower_ in {"up", "down"} for token in clause.verb.subtree)


def _number_after_to(clause: Clause) -> Token | None:
    """``went up to $2,050``, where ``to`` was read as part of the number."""
    for token in clause.verb.subtree:
        if token.lower_ == "to" and token.dep_ == "quantmod" and token.i > clause.verb.i:
            number = token.head
            return number.head if number.dep_ == "nummod" else number
    return None


def _relocated(clause: Clause) -> list[Frame]:
    """``moved to Berlin``, ``relocated from Lagos to Nairobi``, ``the office moved to Krakow``."""
    to = clause.after("to", "in", "into")
    if clause.lemma not in RELOCATING or to is None or clause.objects or (clause.is_passive and not _is_common(clause)):
        return []
    if clause.verb.tag_ == "VBG" and clause.matrix is None:
        clause.modality = Modality.PLANNED
    value = value_of(to, clause.prepared)
    old = clause.after("from")
    if (
        not value.is_name
        or value.type
        or not clause.prepared.products.isdisjoint(_starts(value))
        or (clause.lemma == "settle" and clause.after("on"))
    ):
        return []
    clause.take(to, old)
    slot = "residence"
    entity = clause.about.entity
    if (not is_person(clause.about) and clause.about.owner) or _is_common(clause):
        slot = "at:in"
    from_value = value_of(old, clause.prepared).text if old is not None else ""
    if from_value and clause.lemma == "move":
        clause.cues.append("moved from")
    clause.cues.append("moved")
    kind = place_type(value.text)
    return [
        frame(
            clause,
            slot,
            value.text,
            entity=entity,
            from_value=from_value,
            value_type=kind,
            cardinality=Holds.ONE,
            **_CHANGE,
        )
    ]


def _starts(value: Value) -> set[str]:
    """The phrase, and each beginning of it: ``level 5`` of ``level 5 game``."""
    return {" ".join(value.words[:count]) for count in range(1, len(value.words) + 1)} | {value.text}


def _is_common(clause: Clause) -> bool:
    """Whether the subject is a thing, by its noun."""
    return clause.subject is not None and clause.subject.pos_ == "NOUN" and not is_person(clause.about)


def _replaced(clause: Clause) -> list[Frame]:
    """``replaced X with Y``, ``swapped X for Y``, ``gave up X for Y``; ``X was replaced by Y`` is about nobody."""
    if clause.phrasal not in REPLACING or not clause.objects:
        return []
    new = clause.after("with", "by") if clause.lemma in {"replace", "substitute"} else clause.after("for", "with")
    if new is None and clause.lemma in {"replace", "swap"}:
        return []
    if new is None:
        return []
    old = value_of(clause.objects[0], clause.prepared)
    value = value_of(new, clause.prepared)
    clause.take(new, *clause.objects)
    is_tool = value.is_name or value.type or _is_indefinite(new) or value_of(clause.objects[0], clause.prepared).is_name
    if clause.lemma not in {"replace", "swap", "substitute"} and not is_tool:
        return []
    about = whose(clause.objects[0], clause.prepared)
    if (
        about.owner and not old.is_name and value.is_name and _is_known(clause, about)
    ):  # "replaced her laptop with an XPS"
        clause.take(*(child for child in clause.objects[0].children if child.lower_ == "old"))
        noun = about.noun.removeprefix("old ")
        owner = clause.about.entity if about.is_unknown else about.owner
        mine = Whose(f"{owner}:{noun}", owner, noun, about.head)
        return [prop(clause, mine, value, value.type or about.head, **_CHANGE), _switch(clause, value, old.text)]
    return [_switch(clause, value, old.text)]


def _is_known(clause: Clause, about: Whose) -> bool:
    """Whose it is: a pronoun after a named subject is the subject's."""
    return not about.is_unknown or (about.owner == "?" and is_person(clause.about)) or clause.about.is_name


def _is_indefinite(token: Token) -> bool:
    return any(child.lower_ in {"a", "an"} for child in token.children)


def _switched(clause: Clause) -> list[Frame]:
    """``switched (banks) from X to Y``, ``was upgraded to Y``, ``changed to``."""
    is_again = clause.lemma.startswith("re") and clause.lemma[2:] in MAKING and clause.is_passive
    if clause.about.is_unknown or (clause.lemma not in SWITCHING and not is_again and not _is_new_version(clause)):
        return []
    to, old = clause.after("to", "into", "onto", "in", "with"), clause.after("from", "off")
    if to is None or (clause.lemma == "go" and old is None):
        return []
    value = value_of(to, clause.prepared)
    if not value.text or to.pos_ == "VERB":
        return []
    if clause.is_passive and clause.lemma.startswith("re"):
        clause.cues.append(f"again {clause.lemma[2:]}")
    was = value_of(old, clause.prepared) if old is not None else None
    clause.take(to, old, to.head if to.head.lower_ == "onto" else None)
    if clause.lemma in {"rename", "reassign"}:
        return [_retitled(clause, value)]
    moved = clause.objects[0] if clause.objects else None
    if moved is not None:
        return _of_object(clause, moved, value, was)
    if is_thing_of(clause.about) and clause.lemma in {"change", "switch"}:
        return [prop(clause, clause.about, value, value.type or clause.about.head, **_CHANGE)]
    if value.text in STATUS and not is_person(clause.about):
        return status(clause, value.text)
    if clause.lemma in {"move", "migrate", "transfer", "relocate"}:
        clause.cues.append("moved")
    definite = any(child.lower_ in {"the", "a", "an"} for child in to.children)
    found: list[Frame] = []
    if definite and not value.is_name and value.modifiers and value.modifiers != value.text:
        found.append(_assigned(clause, value))
    is_kind = value.modifiers not in {"", value.text} and not (value.is_name or value.has_number or was is not None)
    if is_kind and not is_person(clause.about):
        clause.take(clause.after("with"))
        found.append(_switch(clause, value, "", value_type=value.head))  # "switched to a square grid"
    elif value.is_name or value.type or was is not None:
        found.append(
            _switch(clause, value, was.text if was is not None else "", value_type=version_type(value) or value.type)
        )
    return found


def _is_new_version(clause: Clause) -> bool:
    """``was bumped to Node 22``: whatever the verb, what has a number is a version."""
    to = clause.after("to")
    return to is not None and clause.is_passive and version_type(value_of(to, clause.prepared)).startswith("version of")


def _assigned(clause: Clause, value: Value) -> Frame:
    slot = "diet" if value.head == "diet" else f"prop:{value.head}"
    kind = "regime" if value.head == "diet" else type_of(value.modifiers) or value.head
    return frame(clause, slot, value.modifiers, value_type=kind, cardinality=Holds.ONE, **_CHANGE)


def _retitled(clause: Clause, value: Value) -> Frame:
    """``was renamed to``, ``was reassigned to``."""
    slot = "prop:name" if clause.lemma == "rename" else "prop:assignee"
    return frame(clause, slot, value.text, value_type=slot[5:], cardinality=Holds.ONE, **_CHANGE)


def _of_object(clause: Clause, moved: Token, value: Value, was: Value | None) -> list[Frame]:
    """``switched banks to Ally``, ``changed the internet provider to Telekom``, ``migrated the project to Vite``."""
    clause.take(moved)
    about = whose(moved, clause.prepared)
    named = value_of(moved, clause.prepared)
    old = was.text if was is not None else ""
    if clause.lemma in {"change", "switch", "upgrade", "downgrade"} and named.text and not named.is_name:
        owner = about.owner or clause.about.entity
        noun = about.noun or named.text
        whose_ = Whose(f"{owner}:{noun}", owner, noun, named.head)
        found = prop(clause, whose_, value, value.type or named.head, from_value=old, **_CHANGE)
        if clause.lemma not in {"change", "switch"}:
            return [found]
        return [
            found,
            _switch(clause, value, old, value_type=named.head, entity=owner),
        ]
    if named.is_name:
        return [_switch(clause, value, named.text)] if clause.lemma in {"swap", "upgrade"} and was is None else []
    if not value.is_name or not (old or (value.type and _is_definite(moved))):
        return [frame(clause, f"moved:{named.text}", value.text)]
    if not old:
        owner = about.owner or clause.about.entity
        return [_switch(clause, value, "", entity=one) for one in (named.text, f"{owner}:{named.text}")]
    mine = about.entity if about.owner and not about.is_unknown else named.text
    if about.owner == "?" and clause.about.is_name and not clause.about.is_unknown:
        mine = f"{clause.about.entity}:{about.noun}"  # "Thomas moved his pipeline"
    clause.cues.append(f"{THING}{named.text}")
    return [_switch(clause, value, old), _switch(clause, value, old, entity=mine)]
