"""A sentence as a line of words with their kinds: two that differ in one phrase tell of one thing (semantics §7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chronofact.text.clauses import lemma_of
from chronofact.text.phrases import word_of
from chronofact.text.words import CUES, MONTHS, WEEKDAYS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

    from chronofact.text.prepare import Prepared

WORDS_MAX: Final = 20
LINE_MAX: Final = 240
_PASSED_OVER: Final = CUES | {"a", "an", "the", "already", "still", "new", "back", "just"}
_PHRASES: Final = (("these", "days"), ("from", "now", "on"), ("as", "of", "now"), ("since", "then"))
_MINE: Final = frozenset({"my", "mine", "his", "her", "hers", "their", "your"})
_HALVES: Final = frozenset({"day", "night", "morning", "evening", "afternoon", "weekend"})
_DAYS: Final = WEEKDAYS | MONTHS | _HALVES | {f"{day}s" for day in WEEKDAYS | _HALVES}
_NOT: Final = frozenset({"not", "n't", "never", "no", "none", "nobody", "nothing", "neither"})


def line_of(doc: Doc, prepared: Prepared) -> str:
    """``n:user V:work P:at N:acme``, the words that only say since when left out; nothing for several sentences or many words."""
    tokens = [token for token in doc if not token.is_punct or token.text == "%"]
    if len(tokens) > WORDS_MAX or sum(1 for _ in doc.sents) > 1:
        return ""
    root = next(doc.sents).root
    left_out = _of_change([token.lower_ for token in tokens])
    said = [_item(token, root, prepared) for place, token in enumerate(tokens) if place not in left_out]
    line = " ".join(one for one in said if one)
    return line if len(line) <= LINE_MAX and " V:" in line else ""


def _of_change(words: list[str]) -> set[int]:
    """Places of the phrases that say no more than now."""
    return {
        place + step
        for place in range(len(words))
        for phrase in _PHRASES
        if tuple(words[place : place + len(phrase)]) == phrase
        for step in range(len(phrase))
    }


def _item(token: Token, root: Token, prepared: Prepared) -> str:
    """One word with its kind; nothing where it says nothing."""
    lower = token.lower_
    if token.i == root.i:
        return f"V:{lemma_of(token)}"
    if lower in _NOT:
        return "-:not"
    if (
        lower in _PASSED_OVER
        or token.tag_ == "POS"
        or (token.dep_ in {"aux", "auxpass"} and token.pos_ == "AUX" and token.tag_ != "MD")
    ):
        return ""
    if lower == "twice":
        return "#:2 n:time"
    if lower == "once" and token.i + 1 < len(token.doc) and token.nbor(1).lower_ in {"a", "per", "every", "each"}:
        return "#:1 n:time"
    if lower in prepared.users:
        return "u:whose" if token.tag_ == "PRP$" else "n:user"
    if lower in _MINE:
        return "u:whose"
    word = word_of(token, prepared).replace(" ", "_").replace(":", "_")
    return f"{_kind(token, prepared)}:{word}" if word else ""


def _kind(token: Token, prepared: Prepared) -> str:
    lower = token.lower_
    if lower in _DAYS:
        return "t"
    if token.text in prepared.names:
        return "N"
    if lower.endswith(("self", "selves")):
        return "x"
    if token.dep_ == "npadvmod" and not token.text[:1].isdigit() and not list(token.children):
        return "r"
    if token.like_num or token.text[:1].isdigit():
        return "#"
    match token.pos_:
        case "VERB" | "AUX":
            return "v"
        case "PROPN":
            return "N"
        case "NOUN":
            return "n"
        case "ADJ":
            return "a"
        case "ADV":
            return "r"
        case "ADP" | "SCONJ" | "PART":
            return "P"
        case "CCONJ":
            return "&"
        case "PRON":
            return "?"
        case _:
            return "x"
