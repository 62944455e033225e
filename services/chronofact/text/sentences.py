"""A turn to its sentences, and what the parse tells of each one's time; code, and what is too long, stays one piece."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from chronofact.text.english import CHARACTERS_MAX as READABLE_MAX
from chronofact.text.english import is_readable
from chronofact.text.periods import Lean
from chronofact.text.plain import clean

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, Token

SENTENCES_MAX: Final = 64
"""A turn of more is kept whole."""
CHARACTERS_MAX: Final = 4_000
"""A longer turn is kept whole."""
_BATCH_TEXTS: Final = 16
_WRAPPED_MIN: Final = 50
"""A line that is shorter was not broken for its length."""
_ITEM: Final = re.compile(r"[-*\u2022\u2013]\s|\d{1,3}[.)]\s")
_MARK: Final = re.compile(r"[-*\u2022\u2013]|\d{1,3}[.)]")
_SINCE: Final = frozenset({"starting", "beginning"})
_ASIDE: Final = frozenset({"relcl", "acl", "advcl", "ccomp", "csubj", "pcomp"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """To the letter as it was written. ``aside`` are the stretches of it that lie in subordinate clauses."""

    text: str
    lean: Lean = Lean.FUTURE
    is_perfect: bool = False
    aside: tuple[tuple[int, int], ...] = ()
    is_joined: bool = False
    """Whether it has several main clauses."""


def whole(text: str) -> Sentence:
    """A text that is not parted."""
    return Sentence(text)


def split(nlp: Language, texts: Iterable[str]) -> list[tuple[Sentence, ...]]:
    """The sentences of each text, in order; strings of the parse are forgotten after."""
    found: list[tuple[Sentence, ...]] = []
    waiting = iter(texts)
    while batch := list(islice(waiting, _BATCH_TEXTS)):
        with nlp.memory_zone():
            found += _split(nlp, batch)
    return found


def _split(nlp: Language, texts: list[str]) -> list[tuple[Sentence, ...]]:
    found: list[tuple[Sentence, ...]] = [(whole(text),) for text in texts]
    parted = [(place, part) for place, text in enumerate(texts) if _has_sentences(text) for part in _parts(text)]
    sentences: dict[int, list[Sentence]] = {}
    docs = nlp.pipe([part for _, part in parted], batch_size=_BATCH_TEXTS)
    for (place, _), doc in zip(parted, docs, strict=True):
        sentences.setdefault(place, []).extend(_sentences(doc))
    for place, some in sentences.items():
        if 0 < len(some) <= SENTENCES_MAX:
            found[place] = tuple(some)
    return found


def _parts(text: str) -> list[str]:
    """The lines of a text, where a line ends what it says; a wrapped one goes on in the next."""
    parts: list[str] = []
    is_open = False
    for line in text.splitlines(keepends=True):
        said = line.strip()
        if parts and (not said or (is_open and not _ITEM.match(said))):
            parts[-1] += line
        else:
            parts.append(line)
        is_open = len(said) >= _WRAPPED_MIN and said[-1] not in ".!?:;"
    return parts


def _has_sentences(text: str) -> bool:
    """English, by its beginning; code and other languages stay whole."""
    if len(text) > CHARACTERS_MAX:
        return False
    return is_readable(clean(text)[:READABLE_MAX])


def _sentences(doc: Doc) -> tuple[Sentence, ...]:
    """What the parser calls a sentence may be a mark alone: the one of an item, or one that belongs to the sentence before it."""
    spans: list[tuple[Span, int, int]] = []
    for span in doc.sents:
        if spans and not any(ch.isalnum() for ch in span.text):
            spans[-1] = (spans[-1][0], spans[-1][1], span.end_char)
        elif len(spans) == 1 and _MARK.fullmatch(doc.text[spans[0][1] : spans[0][2]].strip()):
            spans = [(span, spans[0][1], span.end_char)]
        else:
            spans.append((span, span.start_char, span.end_char))
    return tuple(_sentence(doc, *one) for one in spans if doc.text[one[1] : one[2]].strip())


def _sentence(doc: Doc, span: Span, start: int, end: int) -> Sentence:
    text = doc.text[start:end]
    lead = len(text) - len(text.lstrip())
    start += lead
    aside = tuple(
        (token.left_edge.idx - start, token.right_edge.idx + len(token.right_edge) - start)
        for token in span
        if token.dep_ in _ASIDE
        and token.lower_ not in _SINCE
        and token.i != span.root.i
        and token.pos_ in {"VERB", "AUX"}
        and not token.text[0].isupper()  # a name: "switched from Java to Go in 2024"
    )
    return Sentence(text.strip(), _lean(span.root), _is_perfect(span.root), aside, _is_joined(span.root))


def _is_joined(root: Token) -> bool:
    return any(
        child.dep_ in {"conj", "ccomp", "parataxis"}
        and child.pos_ in {"VERB", "AUX"}
        and any(inner.dep_ in {"nsubj", "nsubjpass", "dobj", "prep", "attr", "npadvmod"} for inner in child.children)
        for child in root.children
    )


def _lean(root: Token) -> Lean:
    """Back, where the main verb says the past: "moved", "did move", "has moved"."""
    if root.tag_ in {"VBD", "VBN"}:
        return (
            Lean.PAST
            if root.tag_ == "VBD" or not _helped(root, {"be", "will"}) or _helped(root, {"was", "were"})
            else Lean.FUTURE
        )
    return (
        Lean.PAST
        if any(child.tag_ == "VBD" and child.dep_ in {"aux", "auxpass"} for child in root.children)
        else Lean.FUTURE
    )


def _helped(root: Token, words: set[str]) -> bool:
    return any(
        child.dep_ in {"aux", "auxpass"} and not {child.lower_, child.lemma_.lower()}.isdisjoint(words)
        for child in root.children
    )


def _is_perfect(root: Token) -> bool:
    return any(child.dep_ == "aux" and child.lower_ in {"has", "have", "'ve", "'s"} for child in root.children) and (
        root.tag_ in {"VBN", "VBG"}
    )
