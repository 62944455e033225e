"""Readers of being: what somebody or something is, has the state of, or is at."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chronofact.text.frames import Frame, Holds, Polarity, Temporality
from chronofact.text.making import frame, is_person, is_thing_of, prop
from chronofact.text.phrases import (
    Value,
    Whose,
    after_noun,
    is_measured,
    joined,
    possessor,
    value_of,
    version_type,
    whose,
)
from chronofact.text.timing import time_at
from chronofact.text.types import place_type, type_of
from chronofact.text.words import (
    DIETS,
    FAMILY,
    GROUPS,
    HALFWAY,
    NO_ROLE_ENDINGS,
    NO_ROLES,
    PARTNERS,
    PERSONS,
    PETS,
    RELATIONS,
    ROLE_ENDINGS,
    ROLES,
    SIDE_ROLES,
    STATUS,
    STATUS_PHRASES,
    UNITS,
    never_changes,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause

_BEING: Final = frozenset({"be", "become", "get", "turn", "remain", "stay", "feel"})
_WRITTEN: Final = frozenset({"number", "email", "address", "handle", "username", "url", "website", "extension"})
_ATTRIBUTES: Final = frozenset({"diet", "major", "hobby", "sport", "role", "title", "profession", "occupation"})
_DUE: Final = frozenset({"deadline", "date"})
_BY_THE_WAY: Final = frozenset({"by", "to", "as", "after", "with", "without", "before", "through", "thanks", "ahead"})
"""What follows says who brought a thing into its state, or what came of it, and limits nothing."""


def read_be(clause: Clause) -> list[Frame]:
    """Copulas and the passive of states."""
    if clause.subject is None or clause.subject.dep_ == "expl":
        return []
    if clause.lemma in _BEING and clause.complement is not None:
        if clause.lemma in {"become", "get", "turn"}:
            clause.temporality = _changed(clause)
        several = joined(clause.complement)
        read = [found for one in several for found in _complement(clause, one)]
        # "his languages are Go and Rust": an attribute with two values holds several
        return [
            replace(one, cardinality=Holds.MANY) if len(several) > 1 and one.slot.startswith("prop:") else one
            for one in read
        ]
    if clause.lemma == "be":
        return _at(clause)
    return []


def _changed(clause: Clause) -> Temporality:
    """``became`` is a change whatever its tense; a plan stays what it is."""
    return Temporality.CHANGE if clause.temporality in {Temporality.PAST, Temporality.CURRENT} else clause.temporality


def _complement(clause: Clause, token: Token) -> list[Frame]:
    clause.take(token)
    if (timed := time_at(token)) is not None and not is_person(clause.about):
        return [_scheduled_at(clause, timed)]
    is_number = token.text[:1].isdigit() and token.i == token.left_edge.i  # "2.5.0", read as an adjective
    if token.pos_ in {"ADJ", "VERB", "ADV"} and token.text not in clause.prepared.names and not is_number:
        return adjective(clause, token, token.lemma_.lower() if token.pos_ == "VERB" else token.lower_)
    if (inner := possessor(token)) is not None and clause.subject is not None and possessor(clause.subject) is None:
        return _inverted(clause, token, inner)
    return _noun(clause, token)


def _scheduled_at(clause: Clause, timed: tuple[str, str]) -> Frame:
    """When it is; a birthday is no appointment."""
    holds = Holds.IMMUTABLE if never_changes(clause.about.noun) else Holds.ONE
    return frame(clause, "schedule", timed[0], entity=scheduled(clause.about), value_type=timed[1], cardinality=holds)


def _inverted(clause: Clause, token: Token, owner: Token) -> list[Frame]:
    """``Blue is his favorite color``."""
    named = whose(token, clause.prepared)
    if clause.subject is None or is_person(Whose(clause.about.entity, head=named.head)) or owner.i == clause.subject.i:
        return _kind_of(clause, token)
    value = value_of(clause.subject, clause.prepared)
    return [prop(clause, named, value, value.type or named.head)]


def adjective(clause: Clause, token: Token, said: str) -> list[Frame]:
    """A state: relation, diet, status, measure, or one among many."""
    value = value_of(token, clause.prepared)
    lower = token.lower_
    if clause.lemma == "feel":
        return [frame(clause, f"feels:{lower}", value.text, cardinality=Holds.MANY)]
    if value.has_number:
        return [_measure(clause, value.words, lower)]
    if lower in RELATIONS:
        partner = clause.after("to", "with")
        if partner is not None and not value_of(partner, clause.prepared).is_name:
            partner = None
        clause.take(partner)
        text = f"{lower} {value_of(partner, clause.prepared).text}" if partner is not None else lower
        return [frame(clause, "rel_status", text, value_type="relation", cardinality=Holds.ONE)]
    if lower in DIETS:
        return [frame(clause, "diet", lower, value_type="diet", cardinality=Holds.ONE)]
    if lower == "allergic" and (what := clause.after("to")) is not None:
        clause.take(what)
        return _each(clause, "allergic", what)
    if lower in {"interested", "keen", "into"} and (what := clause.after("in", "on")) is not None:
        clause.take(what)
        return _each(clause, "like", what)
    if lower == "due" and (when := clause.after("on", "by", "at", "in")) is not None and (timed := time_at(when)):
        clause.take(when)
        return [_scheduled_at(clause, timed)]
    if lower in STATUS or said in STATUS:
        if lower.endswith("ed") and clause.temporality is Temporality.PAST:
            clause.temporality = Temporality.CHANGE
        return status(clause, lower)
    kind = type_of(lower)
    favorite = (
        clause.about.noun.startswith(("favorite", "favourite", "preferred", "best")) or clause.about.head in _ATTRIBUTES
    )
    if (kind or favorite) and is_thing_of(clause.about):
        return [prop(clause, clause.about, lower, kind or clause.about.head)]
    return [frame(clause, f"is:{lower}", value.text, cardinality=Holds.MANY)]


def status(clause: Clause, said: str) -> list[Frame]:
    """The state of a thing; what is cancelled is on no schedule either."""
    how = [
        child
        for one in (*clause.verbs, clause.complement)
        if one is not None
        for child in one.children
        if child.dep_ == "advmod"
    ]
    half = next((child.lower_ for child in how if child.lower_ in HALFWAY), "")
    said = f"{half} {said}".strip()
    is_habit = said == "done" and clause.temporality is Temporality.CURRENT  # "is done weekly"
    clause.take(
        *(one for one in how if (one.lower_.endswith(("ly", "night")) and not is_habit) or one.lower_ in HALFWAY)
    )
    clause.take(*(inner for one in how if one.lower_ in HALFWAY for inner in one.children))
    clause.take(*(inner for told, token in clause.preps if told in _BY_THE_WAY for inner in token.subtree))
    if clause.about.entity == "user":
        return [frame(clause, f"is:{said}", said, cardinality=Holds.MANY)]
    found = [frame(clause, "status", said, value_type="status", cardinality=Holds.ONE)]
    if said in {"cancelled", "canceled"} and clause.polarity is Polarity.POSITIVE:
        found.append(frame(clause, "end", "", cues=("ends:plan", "all"), temporality=Temporality.ENDED))
    return found


def _each(clause: Clause, slot: str, token: Token) -> list[Frame]:
    found = []
    for one in joined(token):
        clause.take(one)
        value = value_of(one, clause.prepared)
        found.append((one, value))
    return [frame(clause, f"{slot}:{value.text}", value.text, cardinality=Holds.MANY) for _, value in found]


def _measure(clause: Clause, words: tuple[str, ...], adjective: str) -> Frame:
    numbers = [word for word in words if word not in {"old", adjective}]
    unit = "old" if adjective in {"old", "year"} else adjective
    return frame(clause, f"num:{unit}", " ".join(numbers), value_type="number", cardinality=Holds.ONE)


def _noun(clause: Clause, token: Token) -> list[Frame]:
    value, about = value_of(token, clause.prepared), clause.about
    if about.head in _WRITTEN and about.owner:
        return [_prop_of(clause, value)]
    if is_measured(value) and set(about.noun.split()) & (PERSONS | PETS):
        return [_measure(clause, value.words, "old")]
    if value.has_number and not value.is_name and not is_person(about):
        return [measured(clause, value.text)]
    if is_thing_of(about) or (about.owner and (value.is_name or value.has_number)):
        if any(child.dep_ in {"relcl", "acl"} for child in token.children):
            return []
        if (
            _is_indefinite(token)
            and not value.has_number
            and not value.is_name
            and about.head not in {"job", "role", "title", "position", "goal"}
        ):
            return _kind_of(clause, token)
        return [_prop_of(clause, value)]
    if is_measured(value) and value.has_number:
        if is_person(about) or about.owner:
            return [_measure(clause, value.words, "old")]
        return [frame(clause, "value", value.text, value_type="number", cardinality=Holds.ONE)]
    return _kind_of(clause, token)


def _prop_of(clause: Clause, value: Value) -> Frame:
    """The value of an attribute; numbers of telephones and addresses as they are written."""
    about = clause.about
    if about.head in _WRITTEN and clause.complement is not None:
        said = clause.verb.doc.text[clause.verb.idx + len(clause.verb.text) :].strip(" .")
        for invented, name in clause.prepared.names.items():
            said = said.replace(invented, name)
        return prop(clause, about, said.lower(), about.head)
    kind = version_type(value) or ("number" if value.has_number and not value.is_name else value.type or about.head)
    return prop(clause, about, value, kind)


def _kind_of(clause: Clause, token: Token) -> list[Frame]:
    """``is a N``: a diet, a role, a membership, or one thing among many that somebody is."""
    value = value_of(token, clause.prepared)
    of = clause_of(token, "of")
    if value.head in DIETS:
        return [frame(clause, "diet", value.head, value_type="diet", cardinality=Holds.ONE)]
    if value.head == "member" or (value.head == "person" and token.lower_ == "member"):
        named = value_of(of, clause.prepared).text if of is not None else ""
        return [frame(clause, f"member:{named}", named, cardinality=Holds.MANY)]
    if value.head == "fan" and of is not None:
        named = value_of(of, clause.prepared).text
        return [frame(clause, f"like:{named}", named, cardinality=Holds.MANY)]
    if is_role(value.head) and (clause.about.entity == "user" or not clause.about.owner or is_person(clause.about)):
        return _role(clause, token, value)
    if value.is_name and not _is_indefinite(token) and _is_the_one(clause):
        kind = value.type or clause.about.head
        return [frame(clause, "value", value.text, value_type=kind, cardinality=Holds.ONE, cues=("named",))]
    return [frame(clause, f"is:{value.head}", value.text, cardinality=Holds.MANY)]


def _role(clause: Clause, token: Token, value: Value) -> list[Frame]:
    """``is a nurse at Mercy``: what somebody is, and for whom; beside one's work one may be a mentor somewhere."""
    where = [after for said, after in [*clause.preps, *after_noun(token)] if said in {"at", "for", "with"}]
    clause.take(*where)
    places = [value_of(one, clause.prepared) for one in where]
    cues = [f"at:{place.text}" for place in places]
    found = [frame(clause, "occupation", value.text, value_type="role", cardinality=Holds.ONE, cues=cues)]
    if places and places[0].is_name and value.head not in SIDE_ROLES:
        found.append(frame(clause, "employer", places[0].text, value_type="organisation", cardinality=Holds.ONE))
    return found


def _is_the_one(clause: Clause) -> bool:
    """``The queue backend is Kafka``: a definite thing that a name tells which it is."""
    if clause.subject is None or clause.about.owner or is_person(clause.about) or clause.about.is_name:
        return False
    is_bare = clause.subject.i == 0 and clause.subject.text.islower() and not list(clause.subject.children)
    return clause.subject.tag_ == "NN" and (is_bare or any(child.lower_ == "the" for child in clause.subject.children))


def clause_of(token: Token, preposition: str) -> Token | None:
    """What follows a preposition of a noun."""
    for child in token.children:
        if child.dep_ == "prep" and child.lower_ == preposition:
            return next((inner for inner in child.children if inner.dep_ == "pobj"), None)
    return None


def is_role(head: str) -> bool:
    """Whether a noun names what somebody does for a living, by its ending."""
    if head in ROLES:
        return True
    if head.endswith(NO_ROLE_ENDINGS):
        return False
    return (
        len(head) > 4 and head.endswith(ROLE_ENDINGS) and head not in NO_ROLES | FAMILY and head not in DIETS | PARTNERS
    )


def _is_indefinite(token: Token) -> bool:
    return any(child.lower_ in {"a", "an"} for child in token.children if child.dep_ == "det")


def scheduled(about: Whose) -> str:
    """The thing that has the time: the report, for its deadline."""
    words = about.entity.split()
    if len(words) > 1 and words[-1] in _DUE:
        words = [word for word in words if word not in {"deadline", "date", "due"}]
    return " ".join(words) or about.entity


def _at(clause: Clause) -> list[Frame]:
    """``is at``, ``is on``, ``is in``: a time, a place, a state, a plan."""
    if clause.complement is None and not clause.preps:
        return []
    said, token = clause.preps[0]
    clause.take(token)
    value = value_of(token, clause.prepared)
    if said == "off" and clause.polarity is Polarity.POSITIVE and is_person(clause.about):  # is on it no more
        said, clause.polarity, clause.temporality = "on", Polarity.NEGATIVE, Temporality.ENDED
    if f"{said} {value.text}" in STATUS_PHRASES:
        return status(clause, f"{said} {value.text}")
    if said in {"at", "on", "in", "by", "from"} and (timed := time_at(token)) is not None:
        clause.take(*(after for _, after in clause.preps if after.lower_ in {"am", "pm"}))
        return [_scheduled_at(clause, timed)]
    if value.has_number and said == "at" and not is_person(clause.about):
        return [measured(clause, value.text)]
    return _placed(clause, said, token)


def measured(clause: Clause, text: str, **said: object) -> Frame:
    """The number that a thing is at."""
    if is_thing_of(clause.about):
        return prop(clause, clause.about, text, "number", **said)
    return frame(clause, "value", text, value_type="number", cardinality=Holds.ONE, **said)


def _placed(clause: Clause, said: str, token: Token) -> list[Frame]:
    value = value_of(token, clause.prepared)
    if said == "into":
        return _each(clause, "like", token)
    if value.head == "relationship":
        clause.take(clause.after("with"), *(after for said, after in after_noun(token) if said == "with"))
        return [frame(clause, "rel_status", "dating", value_type="relation", cardinality=Holds.ONE)]
    if value.has_number and not value.is_name:
        noun = " ".join(word for word in value.words if not word[:1].isdigit() and word not in UNITS)
        number = " ".join(word for word in value.words if word[:1].isdigit() or word in UNITS)
        return [frame(clause, f"num:{said}:{noun}", number, value_type="number", cardinality=Holds.ONE)]
    definite = any(child.lower_ in {"the", "a", "an"} for child in token.children if child.dep_ == "det")
    if value.head in GROUPS and any(child.lower_ in {"a", "an"} for child in token.children):
        return [frame(clause, f"member:{value.text}", value.text, cardinality=Holds.MANY)]
    if said in {"on", "in"} and definite and value.modifiers and value.modifiers != value.text and not value.is_name:
        return [_assigned(clause, value.head, value.modifiers)]
    if value.is_name and definite and len(value.words) > 1:
        return [_assigned(clause, value.words[-1], " ".join(value.words[:-1]))]
    if said in {"in", "at", "on"} and value.is_name:
        if clause.about.noun in {"home", "house"}:
            return [
                frame(
                    clause,
                    "residence",
                    value.text,
                    entity=clause.about.owner,
                    value_type=place_type(value.text),
                    cardinality=Holds.ONE,
                )
            ]
        kind = value.type or (place_type(value.text) if said == "in" else "name")
        many = is_person(clause.about)
        return [frame(clause, f"at:{said}", value.text, value_type=kind, cardinality=Holds.MANY if many else Holds.ONE)]
    if value.head == "diet":
        return [frame(clause, "diet", value.modifiers, value_type="regime", cardinality=Holds.ONE)]
    holds = Holds.UNKNOWN if value.head in GROUPS else Holds.ONE
    if not value.modifiers or value.modifiers == value.text:
        return [frame(clause, f"at:{said}:{value.head}", "", cardinality=Holds.MANY)]
    return [frame(clause, f"at:{said}:{value.head}", value.modifiers, value_type=value.head, cardinality=holds)]


def _assigned(clause: Clause, noun: str, value: str) -> Frame:
    """``is on the free plan``: the plan is the free one."""
    if noun == "diet":
        return frame(clause, "diet", value, value_type="regime", cardinality=Holds.ONE)
    return frame(clause, f"prop:{noun}", value, value_type=type_of(value) or noun, cardinality=Holds.ONE)
