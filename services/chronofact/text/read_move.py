"""Readers of what passes on: taken over, handed over, moved from one thing to another, down to a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.text.frames import Frame, Holds, Polarity, Temporality
from chronofact.text.making import frame, is_person
from chronofact.text.phrases import value_of, whose
from chronofact.text.read_be import measured
from chronofact.text.words import PETS, REPLACING, UNITS

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause


def read_move(clause: Clause) -> list[Frame]:
    """All of this file; what is negated passes nothing on."""
    if clause.subject is None or clause.polarity is Polarity.NEGATIVE:
        return []
    return _moved_out(clause) or _taken_over(clause) or _given_up(clause) or _down_to(clause) or _housed(clause)


def _moved_out(clause: Clause) -> list[Frame]:
    """``moved out of his parents' house``: he lives there no more."""
    out = clause.after("of", "out of")
    if clause.phrasal != "move out" or out is None or not is_person(clause.about):
        return []
    clause.take(out)
    said = {"cues": ("ends:home",), "temporality": Temporality.ENDED}
    return [frame(clause, "end", value_of(out, clause.prepared).text, **said)]


def _taken_over(clause: Clause) -> list[Frame]:
    """``Bob took over the project from Alice``, ``Alice handed the project over to Bob``: who has it now."""
    is_over = any(token.lower_ == "over" for token in clause.verb.children)
    if len(clause.objects) != 1 or not is_over or clause.about.is_unknown:
        return []
    if clause.lemma == "take":
        new, old = clause.about.entity, clause.after("from")
        was = whose(old, clause.prepared).entity if old is not None else ""
        clause.take(old)
    elif clause.lemma in {"hand", "pass", "sign"} and (to := clause.after("to")) is not None:
        new, was = whose(to, clause.prepared).entity, clause.about.entity
        clause.take(to)
    else:
        return []
    thing = clause.objects[0]
    if not was or not _is_definite(thing):
        return []
    clause.take(thing)
    entity = value_of(thing, clause.prepared).text
    return [_switch(clause, new, was, entity, "name")]


def _switch(clause: Clause, value: str, old: str, entity: str, kind: str) -> Frame:
    said = {"entity": entity, "value_type": kind, "from_value": old, "temporality": Temporality.CHANGE}
    return frame(clause, "switch", value, **said)


def _given_up(clause: Clause) -> list[Frame]:
    """``gave up Spanish for Italian``, ``dropped ballet in favour of judo``: whatever it is for, the former is left."""
    verb = clause.phrasal if clause.phrasal in REPLACING else clause.lemma
    if (
        verb not in REPLACING - {"replace", "leave", "sell", "substitute"}
        or len(clause.objects) != 1
        or clause.is_passive
    ):
        return []
    thing = clause.objects[0]
    inside = (
        inner for child in thing.children if child.lower_ == "for" for inner in child.children if inner.dep_ == "pobj"
    )
    new = _favored(clause) or clause.after("for") or next(inside, None)
    if new is None or not is_person(clause.about) or any(token.lower_ == "now" for token in new.subtree):
        return []
    old, value = value_of(clause.objects[0], clause.prepared), value_of(new, clause.prepared)
    if value.has_number or old.has_number or not old.text or old.head == value.head:
        return []
    clause.take(clause.objects[0], new)
    return [_switch(clause, value.text, old.text, clause.about.entity, value.type)]


def _favored(clause: Clause) -> Token | None:
    """``in favor of X``."""
    favor = clause.after("in")
    if favor is None or favor.lower_ not in {"favor", "favour"}:
        return None
    clause.take(favor)
    inside = (inner for child in favor.children if child.lower_ == "of" for inner in child.children)
    return next((inner for inner in inside if inner.dep_ == "pobj"), None)


def _down_to(clause: Clause) -> list[Frame]:
    """``is down to two cats``: so many are left."""
    to = clause.after("to")
    if clause.lemma != "be" or to is None or clause.particle not in {"down", "up"}:
        return []
    value = value_of(to, clause.prepared)
    number = [word for word in value.words if word[:1].isdigit()]
    noun = [word for word in value.words if not word[:1].isdigit() and word not in UNITS]
    if len(number) != 1 or value.is_name:
        return []
    clause.take(to)
    if not is_person(clause.about):
        return [measured(clause, value.text, temporality=Temporality.CHANGE)]
    if not noun:
        return []
    about = {"value_type": "number", "cardinality": Holds.ONE, "temporality": Temporality.CHANGE}
    return [frame(clause, f"count:{' '.join(noun)}", number[0], **about)]


def _housed(clause: Clause) -> list[Frame]:
    """``moved into a house``: in which one lives since."""
    into = clause.after("into")
    if clause.lemma != "move" or into is None or clause.objects or clause.about.head in PETS:
        return []
    value = value_of(into, clause.prepared)
    if value.is_name or value.has_number or not is_person(clause.about):
        return []
    clause.take(into)
    about = {"value_type": "housing", "cardinality": Holds.ONE, "temporality": Temporality.CHANGE}
    return [frame(clause, "housing", value.text, **about)]


def _is_definite(token: Token) -> bool:
    return any(child.dep_ == "poss" or child.lower_ == "the" for child in token.children) or token.pos_ == "PROPN"
