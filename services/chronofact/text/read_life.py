"""Readers of work, home, relations and plans: what a person has one of at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality
from chronofact.text.making import frame, is_person, may_act, scope_of
from chronofact.text.phrases import after_noun, value_of
from chronofact.text.types import place_type
from chronofact.text.words import GETTING, PARTNERS, RESIDING, SOCIETIES

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause

_CHANGE = {"temporality": Temporality.CHANGE}


def read_life(clause: Clause) -> list[Frame]:
    """Work, home and relations."""
    return _works(clause) or _promoted(clause) or _hired(clause) or _resides(clause) or _born(clause) or _pairs(clause)


def _works(clause: Clause) -> list[Frame]:
    """``works at X as a Y``, ``is employed by X``."""
    if clause.lemma not in {"work", "employ"} or clause.particle:
        return []
    where, role = clause.after("at", "for", "by", "with"), clause.after("as")
    found: list[Frame] = []
    if clause.lemma == "work" and not is_person(clause.about) and clause.about.owner:
        return []
    if where is None and role is not None:
        where = next((after for said, after in after_noun(role) if said in {"at", "for", "with"}), None)
    clause.take(role, where)
    if where is not None and (clause.lemma == "employ" or clause.after("at", "for") is not None or role is not None):
        clause.take(where)
        found.append(_employer(clause, where, cues=("as",) if role is not None else ()))
    if role is not None:
        value = value_of(role, clause.prepared)
        at = (f"at:{value_of(where, clause.prepared).text}",) if where is not None else ()
        found.append(frame(clause, "occupation", value.text, value_type="role", cardinality=Holds.ONE, cues=at))
    return found


def _employer(clause: Clause, token: Token, **said: Any) -> Frame:
    value = value_of(token, clause.prepared)
    kind = "organisation" if value.is_name else "place"
    return frame(clause, "employer", value.text, value_type=kind, cardinality=Holds.ONE, **said)


def _promoted(clause: Clause) -> list[Frame]:
    """``was promoted to Y``, ``became a Y`` is read as being."""
    to = clause.after("to")
    if clause.lemma != "promote" or to is None or clause.polarity is Polarity.NEGATIVE:
        return []
    clause.take(to, *(after for said, after in after_noun(to) if said in {"at", "for", "with", "in"}))
    clause.cues.append("promoted")
    return [
        frame(
            clause,
            "occupation",
            value_of(to, clause.prepared).text,
            value_type="role",
            cardinality=Holds.ONE,
            **_CHANGE,
        )
    ]


def _hired(clause: Clause) -> list[Frame]:
    """``joined X``, ``got a new job at X``, ``started a position with X``, ``was hired by X``."""
    if clause.polarity is Polarity.NEGATIVE:
        return []
    if clause.lemma == "hire" and clause.is_passive and (where := clause.after("by", "at")) is not None:
        clause.take(where)
        return [_employer(clause, where, **_CHANGE)]
    if not clause.objects or not may_act(clause.about):
        return []
    what = clause.objects[0]
    value = value_of(what, clause.prepared)
    if clause.lemma == "join" and value.text in SOCIETIES:
        return [frame(clause, f"member:{value.text}", value.text, cardinality=Holds.MANY, **_CHANGE)]
    if clause.lemma == "join":
        clause.take(*clause.objects)
        if value.is_name and len(clause.objects) == 1:
            return [_employer(clause, what, **_CHANGE)]
        return [frame(clause, f"member:{value.text}", value.text, cardinality=Holds.MANY, **_CHANGE)]
    if value.head in {"job", "position", "role"} and clause.lemma in {
        "get",
        "start",
        "take",
        "find",
        "land",
        "accept",
        "begin",
    }:
        where = clause.after("at", "with", "for") or _inside(what)
        if where is not None and not value_of(where, clause.prepared).has_number:
            clause.take(what, where)
            return [_employer(clause, where, **_CHANGE)]
    return []


def _inside(token: Token) -> Token | None:
    for child in token.children:
        if child.dep_ == "prep" and child.lower_ in {"at", "with", "for"}:
            return next((inner for inner in child.children if inner.dep_ == "pobj"), None)
    return None


def _resides(clause: Clause) -> list[Frame]:
    """``lives in X``, ``is based in X``."""
    where = clause.after("in", "at", "out of")
    if clause.lemma not in RESIDING or where is None or clause.particle:
        return []
    value = value_of(where, clause.prepared)
    clause.take(where)
    if not is_person(clause.about) and clause.about.owner:
        return [frame(clause, "at:in", value.text, value_type=place_type(value.text), cardinality=Holds.ONE)]
    if not value.is_name:
        return [frame(clause, "housing", value.text, value_type="housing", cardinality=Holds.ONE)]
    if clause.lemma == "stay":  # where one stays is no home, but one stays in one place
        return [frame(clause, "staying", value.text, value_type=place_type(value.text), cardinality=Holds.ONE)]
    return [frame(clause, "residence", value.text, value_type=place_type(value.text), cardinality=Holds.ONE)]


def _born(clause: Clause) -> list[Frame]:
    """Where and when somebody was born or grew up never changes."""
    said = "born" if clause.lemma == "bear" or clause.verb.lower_ == "born" else clause.phrasal
    if said not in {"born", "grow up"}:
        return []
    where = clause.after("in", "on", "at")
    clause.take(where)
    value = value_of(where, clause.prepared).text if where is not None else ""
    kind = "number" if value[:1].isdigit() else "place"
    return [
        frame(
            clause,
            f"origin:{said}:{kind}",
            value,
            value_type=kind,
            cardinality=Holds.IMMUTABLE,
            temporality=Temporality.CURRENT,
        )
    ]


def _pairs(clause: Clause) -> list[Frame]:
    """Dating, marrying, breaking up; a girlfriend is who one dates."""
    if not may_act(clause.about):
        return []
    who = clause.objects[0] if clause.objects else clause.after("with", "from", "to")
    name = value_of(who, clause.prepared) if who is not None else None
    said = {
        "date": "dating",
        "marry": "married",
        "remarry": "married",
        "divorce": "divorced",
        "engage": "engaged",
        "separate": "separated",
    }.get(clause.lemma, "")
    when = {"temporality": Temporality.CHANGE}
    if clause.lemma == "date":
        when = {}
    elif any(child.lower_ in {"was", "were"} for child in clause.verb.children if child.dep_ == "auxpass"):
        when = {"temporality": Temporality.PAST}
    if clause.phrasal in {"break up", "split up", "split"} and not clause.objects:
        said, name = "single", None
        clause.take(who)
    elif clause.lemma in {"have", "get"} and name is not None and name.head in PARTNERS:
        said, name, when = "dating" if name.head in {"girlfriend", "boyfriend", "partner"} else "", None, {}
        if clause.lemma == "get" or clause.modality is not Modality.ASSERTED:
            return []
    if not said or (clause.polarity is Polarity.NEGATIVE and clause.temporality is not Temporality.ENDED):
        return []
    clause.take(who, *clause.objects)
    text = f"{said} {name.text}" if name is not None and name.is_name else said
    holds = Holds.UNKNOWN if clause.lemma == "have" else Holds.ONE
    return [frame(clause, "rel_status", text, value_type="relation", cardinality=holds, **when)]


def read_plan(clause: Clause) -> list[Frame]:
    """What is planned: a slot of its own, ended by doing or cancelling it, never a statement of now."""
    if clause.modality is not Modality.PLANNED or clause.subject is None:
        return []
    words = ["get" if clause.lemma in GETTING else clause.lemma]
    if clause.objects:
        words.append(value_of(clause.objects[0], clause.prepared).text)
        clause.take(clause.objects[0])
    else:
        to = clause.after("to", "for", "in", "with", "at")
        if to is not None:
            words.append(value_of(to, clause.prepared).text)
            clause.take(to)
    value = " ".join(word for word in words if word)
    when = scope_of(clause, is_change=True)  # a plan's date limits nothing: it is done when it is done
    return [frame(clause, f"plan:{value}", value, cardinality=Holds.MANY, scope=when)]


def read_saving(clause: Clause) -> list[Frame]:
    """``is saving for a new laptop`` plans to get it."""
    what = clause.after("for", "up for")
    if clause.lemma != "save" or what is None or clause.matrix is not None or clause.temporality is Temporality.PAST:
        return []
    clause.take(what)
    clause.modality = Modality.PLANNED
    value = f"get {value_of(what, clause.prepared).text}"
    return [frame(clause, f"plan:{value}", value, cardinality=Holds.MANY)]


def read_trip(clause: Clause) -> list[Frame]:
    """``is planning a trip to Greece``."""
    if clause.lemma not in {"plan", "organize", "organise"} or not clause.objects or clause.matrix is not None:
        return []
    what = [value_of(clause.objects[0], clause.prepared).text]
    clause.take(clause.objects[0])
    for child in clause.objects[0].children:
        if child.dep_ == "prep" and child.lower_ in {"to", "in", "for", "with"}:
            what += [value_of(inner, clause.prepared).text for inner in child.children if inner.dep_ == "pobj"]
    to = clause.after("to", "for", "with")
    if to is not None:
        clause.take(to)
        what.append(value_of(to, clause.prepared).text)
    value = " ".join(dict.fromkeys(what))
    return [frame(clause, f"plan:{value}", value, cardinality=Holds.MANY)]
