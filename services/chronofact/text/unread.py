"""What of a sentence none of its frames says: two memories are only compared by rule if they leave the same unread."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from chronofact.text.making import HAPPENED, is_date, says_why
from chronofact.text.phrases import PASSED_OVER, word_of
from chronofact.text.timing import TYPES as TIMES
from chronofact.text.timing import time_at
from chronofact.text.types import place_type
from chronofact.text.words import APPROXIMATE, AT_LEAST, AT_MOST, CUES, GENERIC, PLAIN_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spacy.tokens import Span, Token

    from chronofact.text.clauses import Clause
    from chronofact.text.frames import Frame
    from chronofact.text.prepare import Prepared

UNREAD_MAX: Final = 8
_WORD: Final = re.compile(r"[^\W_]+")
_FILLERS: Final = (
    CUES
    | (PLAIN_CALLS - {"well", "so"})
    | {
        "new",
        "own",
        "current",
        "currently",
        "still",
        "already",
        "longer",
        "newly",
        "and",
        "or",
        "any",
        "more",
        "all",
        "entire",
        "whole",
    }
)
"""Words that say that it holds, or has come to hold, and nothing beside."""
_ARTICLES: Final = frozenset({"a", "an", "the", "to"})
_PLAIN: Final = frozenset({"of", "in", "at", "on", "to", "for", "from", "with", "by", "as", "over", "since", "than", "into", "per",
                           "instead", "out", "up", "off", "down", "away", "back"})  # fmt: skip
"""Prepositions that say how what follows belongs to the clause; any other says more."""
_DUE: Final = frozenset({"due", "deadline", "date"})
_NEARLY: Final = APPROXIMATE | {word for phrase in (*AT_LEAST, *AT_MOST) for word in phrase.split()}


def unread(sentence: Span, clauses: Sequence[Clause], frames: Sequence[Frame], prepared: Prepared) -> tuple[str, ...]:
    """The words, sorted; empty where the frames say all of it."""
    mains = [clause for clause in clauses if clause.is_main]
    said = _said(one for one in frames if one.is_main)
    said |= {clause.particle for clause in mains}
    if any(one.slot == "end" for one in frames):
        said |= GENERIC
    if any(cue in one.cues for one in frames for cue in ("about", "at least", "at most")):
        said |= _NEARLY
    if any(one.value_type in TIMES for one in frames):
        said |= _DUE | {"am", "pm", "m"}
    read = {place for clause in mains for place in clause.used}
    read |= {verb.i for clause in mains for verb in clause.verbs}
    read |= _told_why(mains) if any(one.is_main and one.temporality in HAPPENED for one in frames) else set()
    found: set[str] = set()
    for token in sentence:
        if (
            token.i in read
            or _says_nothing(token, mains, prepared)
            or _is_when(token)
            or _is_of_place(token, read, prepared)
        ):
            continue
        found |= {word for word in _words(token, prepared) if word not in said}
    return tuple(sorted(found)[:UNREAD_MAX])


def _told_why(mains: Iterable[Clause]) -> set[int]:
    """Places of the words that give the reason or the purpose of what changed."""
    return {
        token.i
        for clause in mains
        for verb in clause.verbs
        for child in verb.children
        if child.dep_ == "advcl" and says_why(child)
        for token in child.subtree
    }


def _said(frames: Iterable[Frame]) -> set[str]:
    """All words of the frames, as they are compared."""
    texts = (
        text
        for one in frames
        for text in (
            one.entity,
            one.slot,
            one.value,
            one.value_type,
            one.scope,
            one.from_value,
            *(cue[3:] for cue in one.cues if cue.startswith("at:")),
        )
    )
    return {part for text in texts for word in text.split() for part in (word, *_WORD.findall(word))}


def _words(token: Token, prepared: Prepared) -> list[str]:
    """As a frame would spell them; of a name without what is passed over in it."""
    if token.lower_ in {"favourite", "preferred"}:
        return ["favorite"]
    words = [
        word for word in word_of(token, prepared).split() if token.text not in prepared.names or word not in PASSED_OVER
    ]
    return [part for word in words for part in _WORD.findall(word)]


def _says_nothing(token: Token, clauses: Sequence[Clause], prepared: Prepared) -> bool:
    lower = token.lower_
    if not any(ch.isalnum() for ch in lower) or lower in _ARTICLES or lower in _FILLERS or token.tag_ == "POS":
        return True
    match token.dep_:
        case "aux" | "auxpass" | "expl":
            return True
        case "nsubj" | "nsubjpass" if lower == "work":
            return any(child.lower_ == "on" for child in token.children)  # "work on it has resumed"
        case "neg":
            return any(token.head.i == verb.i for clause in clauses for verb in clause.verbs)
        case "prep" | "agent" | "dative" | "prt" if token.pos_ in {"ADP", "ADV"}:
            return lower in _PLAIN or any(_is_when(child) for child in token.children)
        case "det" if lower in {"no", "every", "each"}:
            return True
        case "pcomp" if lower == "on":
            return token.i > 0 and token.nbor(-1).lower_ == "now"
        case "acl" if lower in {"named", "called"}:
            return True
        case "quantmod" | "advmod" if lower == "only":
            return token.i + 1 < len(token.doc) and token.nbor(1).like_num
        case "quantmod" | "advmod" if lower in {"up", "down"}:
            return token.i + 1 < len(token.doc) and token.nbor(1).lower_ == "to"
        case "intj":
            return lower in PLAIN_CALLS
        case "advmod" if lower == "just":
            return token.head.tag_ in {"VBN", "VBD"}  # "has just moved"
        case _:
            pass
    if token.pos_ == "AUX" or (token.tag_ == "IN" and lower in _PLAIN):
        return True
    return _is_known_pronoun(token, clauses, prepared)


def _is_known_pronoun(token: Token, clauses: Sequence[Clause], prepared: Prepared) -> bool:
    lower = token.lower_
    if lower in prepared.users or lower in prepared.who or lower in {"we", "us", "our"}:
        return True
    # "Nate sold his car": whose, the subject tells
    return token.tag_ == "PRP$" and any(
        clause.subject is not None
        and clause.subject.i < clause.verb.i < token.i
        and clause.is_main
        and not clause.about.is_unknown
        for clause in clauses
    )


def _is_when(token: Token) -> bool:
    """Whether it is part of a phrase that says a day or a year."""
    if token.pos_ != "VERB" and any(top.lower_ == "since" for top in token.ancestors):
        return True
    for top in (token, *token.ancestors):
        if top.dep_ in {"npadvmod", "tmod", "pobj"}:
            return top.pos_ != "PRON" and (time_at(top) is not None or is_date(top))
        if top.pos_ in {"VERB", "AUX"}:
            return False
    return False


def _is_of_place(token: Token, read: set[int], prepared: Prepared) -> bool:
    """``Oakland, California``: the region says where the place is."""
    return (
        token.dep_ in {"appos", "conj", "npadvmod"}
        and token.head.i in read
        and place_type(word_of(token, prepared)) == "region"
    )
