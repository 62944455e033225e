"""Readers of all the rest: rules for the agent, states of things, habits, and what anybody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chronofact.text.frames import Frame, Holds, Temporality
from chronofact.text.making import frame, is_person, is_thing_of
from chronofact.text.phrases import value_of
from chronofact.text.read_be import status
from chronofact.text.read_own import no_longer_pregnant
from chronofact.text.read_taste import kind_of
from chronofact.text.timing import time_at
from chronofact.text.types import place_type
from chronofact.text.words import STATUS

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause


_IN_ONE_PLACE: Final = frozenset(
    {"sleep", "sit", "stand", "park", "work", "stay", "commute", "rest", "operate", "hang", "nap"}
)
_SHUT: Final = frozenset({"shut down", "close down", "call off", "scrap", "shelve", "discontinue"})
_ONCE_A_DAY: Final = frozenset({"wake up", "get up", "wake", "rise"})


def read_rule(clause: Clause) -> list[Frame]:
    """``Always answer in formal tone``: a rule for the agent; another degree of the same is another rule."""
    if not clause.is_imperative:
        return []
    called = next((child for child in clause.verb.children if child.dep_ == "oprd"), None)
    if clause.lemma == "call" and called is not None and [token.lower_ for token in clause.objects] == ["me"]:
        clause.take(called, *clause.objects)
        name = value_of(called, clause.prepared).text
        return [frame(clause, "prop:name", name, entity="user", value_type="name", cardinality=Holds.ONE)]
    tokens = [*clause.objects, *(token for _, token in clause.preps)]
    if not tokens:
        return [frame(clause, f"rule:{clause.lemma}", "", entity="agent", cardinality=Holds.MANY)]
    heads: list[str] = []
    values: list[str] = []
    for token in tokens[:4]:
        value = value_of(token, clause.prepared)
        kind = value.type or (kind_of(value) if len(value.words) > 1 else "")
        heads.append(kind or value.head)
        values.append(value.modifiers if kind and kind == value.head else value.text)
        clause.take(token)
    slot = f"rule:{clause.lemma}:{' '.join(heads)}"
    return [frame(clause, slot, " ".join(values), entity="agent", value_type="rule", cardinality=Holds.ONE)]


def read_state(clause: Clause) -> list[Frame]:
    """``was resolved``, ``is enabled``, ``has shipped``, ``died``: the state that a thing is in."""
    if is_person(clause.about) or clause.subject is None or clause.objects:
        return []
    helpers = {child.lower_ for child in clause.verb.children if child.dep_ in {"aux", "auxpass"}}
    if clause.verb.tag_ == "VBN" and "being" in helpers and not clause.preps:
        return status(clause, "being made")
    if clause.verb.tag_ == "VBG" and helpers & {"is", "are"} and clause.verb.lower_ in STATUS:
        return status(clause, clause.verb.lower_)
    if clause.is_passive and clause.phrasal in _SHUT and helpers & {"was", "were", "been"}:
        clause.temporality = Temporality.CHANGE
        return status(clause, "terminated")
    said = clause.verb.lower_ if clause.verb.tag_ == "VBN" else _participle(clause)
    if said not in STATUS or (said == "opened" and clause.is_passive):  # "the ticket was opened by Ana"
        return []
    clause.temporality = (
        Temporality.CURRENT if helpers & {"is", "are", "'s"} and clause.is_passive else Temporality.CHANGE
    )
    return status(clause, {"canceled": "cancelled"}.get(said, said))


def _participle(clause: Clause) -> str:
    if clause.verb.tag_ not in {"VBD", "VBN"}:
        return ""
    return str(clause.verb.lower_)


def read_habit(clause: Clause) -> list[Frame]:
    """``goes to the gym on Mondays``, ``wakes up at 6am``: when it is done is the value."""
    if clause.temporality is Temporality.PAST or clause.verb.tag_ == "VBG":
        return []
    timed = next(
        ((token, found) for said, token in clause.preps if said in {"on", "at"} and (found := time_at(token))), None
    )
    if timed is None:
        return []
    others = list(clause.objects) + [
        token
        for said, token in clause.preps
        if token.i != timed[0].i and said in {"to", "with", "in"} and token.lower_ not in {"am", "pm"}
    ]
    words = [clause.phrasal, *(value_of(token, clause.prepared).text for token in others)]
    clause.take(timed[0], *others, *(token for _, token in clause.preps if token.lower_ in {"am", "pm"}))
    holds = Holds.ONE if clause.phrasal in _ONCE_A_DAY else Holds.UNKNOWN
    return [frame(clause, f"when:{' '.join(words)}", timed[1][0], value_type=timed[1][1], cardinality=holds)]


def read_do(clause: Clause) -> list[Frame]:
    """Whatever else: the verb and its first noun. Ended by name, changed by ``now`` where it says which kind of that noun."""
    if clause.subject is None:
        return []
    if clause.lemma == "give" and any(token.lower_ == "birth" for token in clause.objects):
        return [no_longer_pregnant(clause)]
    if clause.objects:
        clause.take(*clause.objects)
        if clause.objects[0].lower_ == "diet":
            named = value_of(clause.objects[0], clause.prepared).modifiers
            return [frame(clause, "diet", named, value_type="regime", cardinality=Holds.ONE)]
        return [_done(clause, token, "") for token in clause.objects]
    if clause.preps:
        said, token = clause.preps[0]
        clause.take(token)
        return [_placed(clause, said, token)]
    value = " ".join(
        child.lower_
        for child in clause.verb.children
        if child.dep_ == "advmod" and child.lower_ not in {"now", "again", "also"}
    )
    return [
        frame(clause, f"do:{clause.phrasal}", value if is_thing_of(clause.about) else "", cardinality=Holds.UNKNOWN)
    ]


def _done(clause: Clause, token: Token, said: str) -> Frame:
    value = value_of(token, clause.prepared)
    verb = f"{clause.phrasal} {said}".strip()
    if value.modifiers and value.modifiers != value.text and not value.is_name:
        holds = Holds.UNKNOWN
        return frame(clause, f"do:{verb}:{value.head}", value.modifiers, value_type=value.head, cardinality=holds)
    return frame(clause, f"do:{verb}:{value.text}", "", cardinality=Holds.MANY)


def _placed(clause: Clause, said: str, token: Token) -> Frame:
    value = value_of(token, clause.prepared)
    if (
        said == "in"
        and value.is_name
        and not is_person(clause.about)
        and clause.lemma in {"sit", "live", "stand", "lie"}
    ):
        kind = value.type or place_type(value.text)
        return frame(clause, "at:in", value.text, value_type=kind, cardinality=Holds.ONE)
    is_one = clause.lemma in _IN_ONE_PLACE or value.type or value.has_number
    is_thing = (
        not is_person(clause.about) and said != "by"
    )  # a person goes to a gym and to a pool; where logs go, they go
    holds = Holds.UNKNOWN if is_one or is_thing else Holds.MANY
    kind = value.type or ((place_type(value.text) if said == "in" else "name") if value.is_name else "where")
    return frame(
        clause,
        f"do:{clause.phrasal}:{said}",
        value.text,
        value_type=kind,
        cardinality=holds,
    )
