"""Noun phrases as plain words: values, and who or what a clause is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from chronofact.text.types import is_tool, type_of
from chronofact.text.words import NUMBERS, ONE_OF_MANY, ORDINALS, UNITS

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.prepare import Prepared

_PARTS: Final = frozenset({"compound", "amod", "nummod", "quantmod", "nmod", "npadvmod", "advmod", "predet", "attr"})
PASSED_OVER: Final = frozenset({"new", "own", "current", "very", "really", "other", "same", "different", "old", "now", "also", "still",
                           "already", "just", "only", "actually", "currently", "longer", "no", "about", "around", "to", "up",
                           "approximately", "roughly", "a", "previous", "former", "anymore", "again", "instead"})  # fmt: skip
_FORMER: Final = frozenset({"old", "former", "previous", "other", "ex", "different"})
_PEOPLE: Final = frozenset({"member", "people", "person", "employee"})
_SOME: Final = frozenset(
    {"one", "some", "most", "many", "any", "few", "half", "none", "all", "both", "either", "part", "parts"}
)
WORDS_MAX: Final = 12


@dataclass(frozen=True, slots=True)
class Value:
    """A phrase's words without what says nothing; ``is_name`` where its head is a proper name."""

    words: tuple[str, ...]
    head: str
    is_name: bool = False
    has_number: bool = False

    @property
    def text(self) -> str:
        """All words, in order."""
        return " ".join(self.words)

    @property
    def modifiers(self) -> str:
        """All but the head."""
        return " ".join(self.words[:-1]) if self.words and self.words[-1] == self.head else self.text

    @property
    def type(self) -> str:
        """The type of the whole, else nothing."""
        return type_of(self.text)


@dataclass(frozen=True, slots=True)
class Whose:
    """Who or what a clause is about; ``owner`` and ``noun`` where it is somebody's something."""

    entity: str
    owner: str = ""
    noun: str = ""
    head: str = ""
    is_unknown: bool = False
    is_name: bool = False


def word_of(token: Token, prepared: Prepared) -> str:
    """A token as a plain word: names as written, numbers as digits, nouns in the singular."""
    name = prepared.names.get(token.text)
    if name is not None:
        return name
    lower: str = token.text.lower().strip("'\"")
    if lower in NUMBERS:
        return NUMBERS[lower]
    if lower[:1].isdigit() or token.like_num:
        return lower.replace(",", "")
    if token.pos_ == "PROPN":
        return lower
    if is_tool(lower):
        return lower
    lemma: str = token.lemma_.lower()
    if lower in _PEOPLE or lemma in _PEOPLE:
        return "person"
    return lemma if token.pos_ in {"NOUN", "VERB"} else lower


def value_of(token: Token, prepared: Prepared) -> Value:
    """The phrase that the token heads, without determiners, possessors, clauses and what is joined to it."""
    parts = sorted(_parts(token), key=lambda part: part.i)[:WORDS_MAX]
    words: list[str] = []
    for part in parts:
        if part.dep_ in {"quantmod", "advmod"} and part.pos_ in {"ADV", "ADP", "ADJ"} and part.head.like_num:
            continue  # "over 300": how the number is meant is a cue of the clause
        for word in word_of(part, prepared).split():
            if word not in PASSED_OVER and word not in words:
                words.append(word)
    head = word_of(token, prepared)
    is_name = token.text in prepared.names or (token.pos_ == "PROPN" and token.lower_ not in UNITS)
    return Value(tuple(words), head.split()[-1] if head else "", is_name, any(_numeric(part) for part in parts))


def _numeric(token: Token) -> bool:
    if token.lower_ in ORDINALS or token.lower_[-2:] in {"st", "nd", "rd", "th"}:
        return False
    return bool(token.like_num or token.pos_ == "NUM" or token.text[:1].isdigit())


def _parts(token: Token) -> list[Token]:
    """The token and what stands to its phrase, ``of`` and what follows it too."""
    found = [token]
    for child in token.children:
        if (
            (child.dep_ in _PARTS and child.pos_ not in {"VERB", "DET"})
            or (child.dep_ in _PARTS and child.tag_ in {"VBG", "VBN"})
            or (child.dep_ == "poss" and child.tag_ != "PRP$")
        ):
            found += _parts(child)
        elif child.tag_ in {"$", "SYM"} or (child.text == "%" and child.dep_ != "punct"):
            found.append(child)
        elif child.dep_ == "prep" and child.lower_ in {"of", "a", "per"}:
            for inner in child.children:
                if inner.dep_ in {"pobj", "pcomp"}:
                    found += _parts(inner)
    return found


def joined(token: Token) -> list[Token]:
    """The token and all that is joined to it by and, or and commas."""
    found = [token]
    for child in token.children:
        if child.dep_ == "conj" and child.pos_ in {"NOUN", "PROPN", "NUM", "ADJ", "PRON"}:
            found += joined(child)
    return found


def possessor(token: Token) -> Token | None:
    """Whose it is, by ``'s``, a possessive pronoun, or ``of``."""
    for child in token.children:
        if child.dep_ == "poss":
            return child
    for child in token.children:
        if child.dep_ == "prep" and child.lower_ == "of":
            for inner in child.children:
                if inner.dep_ == "pobj" and (
                    inner.pos_ == "PROPN" or any(c.dep_ == "poss" or c.lower_ == "the" for c in inner.children)
                ):
                    return inner
    return None


def whose(token: Token, prepared: Prepared) -> Whose:
    """Who or what the phrase names."""
    if token.pos_ == "PRON" or token.tag_ in {"PRP", "PRP$"}:
        lower = token.lower_
        if lower in prepared.users:
            return Whose("user")
        if lower in prepared.who:
            return Whose(prepared.who[lower], is_name=True)
        if lower in {"we", "us", "our", "ours"}:
            return Whose("we")
        return Whose("?", is_unknown=True)
    value = value_of(token, prepared)
    former = [child.lower_ for child in token.children if child.lower_ in _FORMER]
    owner = possessor(token)
    if token.lower_ in _SOME and any(child.dep_ == "prep" and child.lower_ == "of" for child in token.children):
        return Whose("?", is_unknown=True)  # "one of my sisters": which, nothing tells
    if value.text == "work" and (on := _object_of(token, "on")) is not None:
        return whose(on, prepared)  # "work on the search project has resumed"
    if owner is None:
        is_any = value.head in ONE_OF_MANY and any(child.lower_ in {"a", "an"} for child in token.children)
        return Whose(
            " ".join([*former, value.text or token.lower_, *_placed(token, prepared)]),
            head=value.head,
            is_unknown=is_any,
            is_name=value.is_name or _is_bare(token),
        )
    of = whose(owner, prepared)
    words = [word for word in value.words if word not in of.entity.split()] or [value.head]
    noun = " ".join([*former, *words, *_placed(token, prepared)])
    return Whose(f"{of.entity}:{noun}", of.entity, noun, value.head, of.is_unknown or _is_anyone(token, noun))


def _object_of(token: Token, preposition: str) -> Token | None:
    inside = (inner for child in token.children if child.lower_ == preposition for inner in child.children)
    return next((inner for inner in inside if inner.dep_ == "pobj"), None)


def _is_bare(token: Token) -> bool:
    """``Nate``, read as a noun: one in the singular that nothing stands before is a name."""
    return token.i == 0 and token.tag_ == "NN" and token.text.istitle() and not list(token.children)


def _is_anyone(token: Token, noun: str) -> bool:
    """``my friend``, of whom nothing tells which one it is."""
    return noun in ONE_OF_MANY and not any(child.dep_ in {"appos", "relcl", "acl"} for child in token.children)


def _placed(token: Token, prepared: Prepared) -> list[str]:
    """What tells one store from another: ``the store in Lyon``."""
    return [
        word
        for child in token.children
        if child.dep_ == "prep" and child.lower_ != "of"
        for inner in child.children
        if inner.dep_ == "pobj"
        for word in (child.lower_, *value_of(inner, prepared).words)
    ]


def is_measured(value: Value) -> bool:
    """Whether it is a number of a unit, money, or a bare number."""
    return value.has_number and all(
        word in UNITS or word[:1].isdigit() or word.lstrip("$€£")[:1].isdigit() or word in {"old", "a", "per", "each"}
        for word in value.words
    )


def version_type(value: Value) -> str:
    """``version of python`` for Python 3.13."""
    words = [word for word in value.words if not word[:1].isdigit()]
    known = type_of(value.text)
    return known or f"version of {' '.join(words)}" if value.is_name and words and len(words) < len(value.words) else ""


def after_noun(token: Token) -> list[tuple[str, Token]]:
    """Prepositions of a noun, and what follows them."""
    return [
        (child.lower_, inner)
        for child in token.children
        if child.dep_ == "prep"
        for inner in child.children
        if inner.dep_ == "pobj"
    ]
