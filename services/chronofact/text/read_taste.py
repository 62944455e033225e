"""Readers of taste: what somebody likes, prefers, or wants it to be like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality
from chronofact.text.making import flip, frame
from chronofact.text.phrases import Value, after_noun, joined, value_of
from chronofact.text.types import type_of
from chronofact.text.words import HATING, LIKING

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause


def read_taste(clause: Clause) -> list[Frame]:
    """All of this file."""
    return _more(clause) or _likes(clause) or _prefers(clause) or _wants(clause)


def _likes(clause: Clause) -> list[Frame]:
    """Each thing liked is a slot of its own; hating it is the other answer."""
    hates = clause.lemma in HATING or (clause.lemma == "stand" and clause.polarity is Polarity.NEGATIVE)
    lost = clause.lemma == "lose" and any(token.lower_ == "interest" for token in clause.objects)
    if not (clause.lemma in LIKING or hates or lost):
        return []
    what = _liked(clause)
    if lost:
        about = clause.after("in") or next(
            (after for token in clause.objects for said, after in after_noun(token) if said == "in"), None
        )
        what = joined(about) if about is not None else []
        clause.temporality = Temporality.ENDED
    clause.take(*what, *clause.objects)
    polarity = Polarity.NEGATIVE if clause.lemma == "stand" else flip(clause) if hates or lost else clause.polarity
    values = [value_of(token, clause.prepared).text for token in what]
    return [
        frame(clause, f"like:{value}", value, polarity=polarity, cardinality=Holds.MANY) for value in values if value
    ]


def _more(clause: Clause) -> list[Frame]:
    """``likes dogs more than cats``."""
    than = next(
        (
            inner
            for token in clause.verb.subtree
            if token.lower_ == "than"
            for inner in token.children
            if inner.dep_ == "pobj"
        ),
        None,
    )
    if clause.lemma not in LIKING or than is None or len(clause.objects) != 1:
        return []
    clause.take(than, *clause.objects)
    value, other = value_of(clause.objects[0], clause.prepared), value_of(than, clause.prepared)
    return [
        frame(clause, "prefer", value.text, value_type=kind_of(value), from_value=other.text, cardinality=Holds.ONE)
    ]


def _liked(clause: Clause) -> list[Token]:
    if clause.objects:
        return clause.objects
    return [child for child in clause.verb.children if child.dep_ in {"xcomp", "ccomp"} and child.tag_ == "VBG"]


def _prefers(clause: Clause) -> list[Frame]:
    """``prefers X (over Y)``; of one type one prefers one thing."""
    liked = _liked(clause) or [one for one in (clause.complement,) if one is not None]
    if clause.lemma not in {"prefer", "favor", "favour"} or len(liked) != 1:
        return []
    token = liked[0]
    value = value_of(token, clause.prepared)
    over = clause.after("over", "to")
    if over is None:
        over = next((inner for child in token.children if child.dep_ == "prep" and child.lower_ in {"over", "to"}
                     for inner in child.children if inner.dep_ == "pobj"), None)  # fmt: skip
    clause.take(token, over)
    against = value_of(over, clause.prepared).text if over is not None else ""
    return [frame(clause, "prefer", value.text, value_type=kind_of(value), from_value=against, cardinality=Holds.ONE)]


def kind_of(value: Value) -> str:
    """The type of a value; for a phrase like ``aisle seats`` what kind of seats it says."""
    known = value.type
    if known or value.is_name or len(value.words) < 2:
        return known
    return type_of(value.modifiers) or value.head


def _wants(clause: Clause) -> list[Frame]:
    """``wants replies in English``."""
    if clause.lemma not in {"want", "need", "prefer"} or len(clause.objects) != 1:
        return []
    noun = clause.objects[0]
    inside = clause.after("in", "as")
    if inside is None:
        inside = next((inner for child in noun.children if child.dep_ == "prep" and child.lower_ in {"in", "as"}
                       for inner in child.children if inner.dep_ == "pobj"), None)  # fmt: skip
    value = value_of(noun, clause.prepared)
    if inside is None and any(child.lower_ in {"a", "an"} for child in noun.children):
        clause.take(noun)
        clause.modality = Modality.PLANNED
        return [frame(clause, f"plan:get {value.text}", f"get {value.text}", cardinality=Holds.MANY)]
    if inside is None:
        return []
    clause.take(noun, inside)
    value = value_of(inside, clause.prepared)
    return [
        frame(
            clause,
            f"want:{value_of(noun, clause.prepared).text}",
            value.text,
            value_type=value.type or "in",
            cardinality=Holds.ONE,
        )
    ]
