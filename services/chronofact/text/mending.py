"""A parse in which a verb was taken for a noun: the same words, said so that the parser sees the verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_HELPERS: Final = frozenset({"be", "have", "do", "get"})
_NOUNS: Final = frozenset({"NNS", "NNPS"})
_GOES_ON: Final = frozenset({"IN", "TO", "CD", "DT", "PRP$", "RB", "JJ", "VBG"})


def said_plainly(doc: Doc) -> str:
    """Another wording of a sentence whose verb was not seen; empty where nothing hints at that."""
    root = next(doc.sents).root
    for place, token in enumerate(doc):
        if (
            token.dep_ == "aux"
            and token.tag_ == "VBZ"
            and token.lemma_ not in _HELPERS
            and token.head.i == root.i == place + 1
        ):
            return _with(root, "the") if root.tag_ in {"VB", "VBP"} else _with(token, "already")
        if place > 1 and token.tag_ in _NOUNS and doc[place - 1].lower_ == "longer" and doc[place - 2].lower_ == "no":
            return f"{doc.text[: doc[place - 2].idx]}does not any longer {_bare(token.lower_)}{doc.text[token.idx + len(token.text) :]}"
    if root.pos_ in {"VERB", "AUX"}:
        return ""
    return next((_with(token, "already") for token in doc[1:-1] if _may_be_verb(token)), "")


def _may_be_verb(token: Token) -> bool:
    """``His flight leaves at 8``: a plural after a noun, with more to follow."""
    return (
        token.tag_ in _NOUNS
        and token.lower_.endswith("s")
        and token.nbor(-1).pos_ in {"NOUN", "PROPN"}
        and token.nbor(1).tag_ in _GOES_ON
    )


def _with(token: Token, word: str) -> str:
    text = token.doc.text
    return f"{text[: token.idx]}{word} {text[token.idx :]}"


def _bare(word: str) -> str:
    """``goes``, ``studies``, ``fosters`` without what the third person adds."""
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "oes")) else word.removesuffix("s")
