"""The clauses of a parsed sentence: each verb with its subject, what it takes, and how it is meant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chronofact.text.frames import Modality, Polarity, Temporality
from chronofact.text.phrases import Whose, joined, whose
from chronofact.text.words import (
    CUES,
    FACTIVE,
    HATING,
    LIKING,
    PLANNING,
    STARTING,
    STOPPING,
    SWITCHING,
    USING,
    WONDERING,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spacy.tokens import Span, Token

    from chronofact.text.prepare import Prepared

_TRANSITIVE = (
    LIKING
    | HATING
    | USING
    | {"prefer", "eat", "drink", "speak", "play", "run", "weigh", "target", "have", "own", "take"}
)
_TAKING = LIKING | HATING | {"prefer", "stand", "mind", "bear"}
"""Verbs whose gerund is their object: liking to run is not running."""
_ADVERBS = CUES | {"here", "there", "well", "fine", "so", "too", "better", "best", "together", "alone", "back", "home", "away", "out", "still",
                   "already", "never", "always", "often", "more", "less", "much", "also", "ever", "longer", "twice", "only", "even"}  # fmt: skip
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_LEMMAS = {
    "hat": "hate",
    "hop": "hope",
    "did": "do",
    "cod": "code",
    "rewrote": "rewrite",
    "bas": "base",
    "life": "live",
    "rid": "ride",
    "texte": "text",
}


@dataclass(slots=True)
class Clause:
    """One verb. ``objects`` are all direct ones; ``preps`` are (preposition, what follows it)."""

    prepared: Prepared
    verb: Token
    lemma: str
    subject: Token | None
    about: Whose
    is_main: bool
    is_imperative: bool = False
    polarity: Polarity = Polarity.POSITIVE
    modality: Modality = Modality.ASSERTED
    temporality: Temporality = Temporality.CURRENT
    cues: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    matrix: Token | None = None
    particle: str = ""
    objects: list[Token] = field(default_factory=list)
    preps: list[tuple[str, Token]] = field(default_factory=list)
    complement: Token | None = None
    is_passive: bool = False
    used: set[int] = field(default_factory=set)
    """Places of the tokens that became the slot or the value; the rest is scope."""

    @property
    def phrasal(self) -> str:
        """The verb with its particle."""
        return f"{self.lemma} {self.particle}" if self.particle else self.lemma

    @property
    def verbs(self) -> tuple[Token, ...]:
        """The verb, and the one above it."""
        return (self.verb,) if self.matrix is None or self.matrix.i == self.verb.i else (self.verb, self.matrix)

    def after(self, *prepositions: str) -> Token | None:
        """What follows the first of these prepositions, taken out of the scope."""
        for said, token in self.preps:
            if said in prepositions:
                return token
        return None

    def take(self, *tokens: Token | None) -> None:
        """These are said by the frame."""
        self.used |= {token.i for token in tokens if token is not None}


def lemma_of(token: Token) -> str:
    """The lemma, with the errors of the small model patched."""
    lemma: str = token.lemma_.lower()
    return _LEMMAS.get(lemma, lemma)


def clauses_of(sentence: Span, prepared: Prepared) -> Iterator[Clause]:
    """Main clauses first, then what is subordinate to them."""
    root = sentence.root
    mains = _main_verbs(root)
    subject: Token | None = None
    seen: set[int] = set()
    for verb in mains:
        subject = _subject(verb) or subject
        yield _clause(verb, subject, prepared, is_main=True, seen=seen)
    for token in sentence:
        if token.i not in seen and _is_subordinate(token):
            inner = _subject(token) or (token.head if token.dep_ in {"relcl", "acl"} else subject)
            yield _clause(token, inner, prepared, is_main=False, seen=seen)


def _is_subordinate(token: Token) -> bool:
    if token.pos_ not in {"VERB", "AUX"} or token.dep_ in {"aux", "auxpass", "amod", "compound"}:
        return False
    if token.dep_ == "acl" and token.tag_ == "VBN" and lemma_of(token) in {"name", "call"}:
        return False
    return token.dep_ in {"relcl", "acl", "advcl", "ccomp", "xcomp", "pcomp", "csubj", "conj", "parataxis", "dep"}


def _main_verbs(root: Token) -> list[Token]:
    found = [root]
    for child in root.children:
        if child.dep_ == "conj" and child.pos_ in {"VERB", "AUX"}:
            found += _main_verbs(child)
    return found


def _subject(verb: Token) -> Token | None:
    helpers = [child for child in verb.children if child.dep_ in {"aux", "auxpass"}]
    found = next((child for one in (verb, *helpers) for child in one.children if child.dep_ in SUBJECTS), None)
    if found is None and verb.tag_ in {
        "VBZ",
        "VBD",
    }:  # "the build service runs on X": a noun hung as if the verb were one
        found = next((child for child in verb.children if child.dep_ == "compound" and child.i < verb.i), None)
    return found


def _clause(verb: Token, subject: Token | None, prepared: Prepared, *, is_main: bool, seen: set[int]) -> Clause:
    about = whose(subject, prepared) if subject is not None else Whose("")
    clause = Clause(prepared, verb, lemma_of(verb), subject, about, is_main)
    _go_inside(clause, seen)
    seen.add(clause.verb.i)
    for token in [clause.verb] if clause.verb.i == verb.i else [verb, clause.verb]:
        _gather(clause, token)
    clause.is_passive = any(child.dep_ in {"auxpass", "nsubjpass"} for child in clause.verb.children)
    clause.is_imperative = subject is None and verb.tag_ in {"VB", "VBP"} and is_main
    if about.is_unknown:
        clause.guards.append("pronoun")
    return clause


def _go_inside(clause: Clause, seen: set[int]) -> None:
    """``started running`` is about running: the verb under the matrix verb is the clause's."""
    for _ in range(3):
        inner = next(
            (child for child in clause.verb.children if child.dep_ == "xcomp" and child.pos_ in {"VERB", "AUX"}), None
        )
        if inner is None and clause.lemma in {
            "think",
            "dream",
            "talk",
            "look",
            "end",
            "give",
            "retire",
            "be",
            "plan",
            "keep",
            "insist",
            "decide",
        }:
            inner = _gerund_after_preposition(clause)
        if inner is None:
            return
        matrix = clause.lemma
        if matrix == "promote" and inner.tag_ == "VB":
            seen.add(inner.i)  # "promoted to lead": a role, and no verb
            clause.preps.append(("to", inner))
            return
        if inner.lower_ == "work" and matrix not in PLANNING and len(list(inner.children)) <= 2 and inner.tag_ == "VB":
            seen.add(inner.i)  # "bikes to work" is a way, and no verb
            clause.preps.append(("to", inner))
            return
        is_gerund = inner.tag_ == "VBG"
        if matrix == "use" and any(child.dep_ == "dobj" for child in clause.verb.children):
            seen.add(inner.i)  # "uses Trello to manage tasks": what for
            return
        if is_gerund and matrix in _TAKING:
            seen.add(inner.i)
            return
        if matrix == "be":
            clause.matrix, clause.verb, clause.lemma = clause.verb, inner, lemma_of(inner)
            seen.add(clause.matrix.i)
            continue
        if matrix in STARTING:
            clause.temporality = Temporality.STARTED
            clause.cues.append("started")
        elif matrix == "finish" and lemma_of(inner) in SWITCHING:
            clause.cues.append("changed")  # "finished migrating": it is done
        elif matrix in STOPPING or (matrix == "give" and is_gerund):
            clause.temporality, clause.polarity = Temporality.ENDED, Polarity.NEGATIVE
        elif matrix == "use" and clause.verb.tag_ == "VBD":
            clause.temporality = Temporality.PAST
        elif matrix in PLANNING and not (is_gerund and matrix in {"like", "go", "try"}):
            clause.modality = Modality.PLANNED
        elif matrix in WONDERING or (matrix not in FACTIVE and not is_gerund):
            clause.modality = Modality.HYPOTHETICAL
        elif is_gerund and matrix not in FACTIVE and matrix != "go":  # "goes running" is running
            return
        seen.add(clause.verb.i)
        clause.matrix = clause.matrix or clause.verb
        clause.verb, clause.lemma = inner, lemma_of(inner)


def _gerund_after_preposition(clause: Clause) -> Token | None:
    for child in clause.verb.children:
        if child.dep_ == "prep":
            for inner in child.children:
                if inner.dep_ == "pcomp" and inner.tag_ == "VBG":
                    if child.lower_ == "against":
                        clause.polarity = Polarity.NEGATIVE
                    return inner
    return None


def _gather(clause: Clause, verb: Token) -> None:
    """What the verb takes."""
    for child in verb.children:
        match child.dep_:
            case "dobj" | "dative" if child.pos_ != "ADP":
                clause.objects += joined(child)
                if clause.lemma in SWITCHING:
                    _gather_inside(clause, child)
            case "attr" | "acomp" | "oprd":
                clause.complement = clause.complement or child
                if child.pos_ in {"ADJ", "VERB"}:
                    _gather_inside(clause, child)
            case "prep" | "agent" | "dative":
                _gather_prep(clause, child, verb)
            case "pobj" if verb.pos_ == "ADP":  # "no longer like jazz": a preposition that has a subject is a verb
                clause.objects += joined(child)
            case "prt" if verb.i == clause.verb.i:
                clause.particle = child.lower_
            case "advmod" if child.lower_ in {"away", "up", "out", "off", "down", "back"} and not clause.particle:
                clause.particle = child.lower_
                for inner in child.children:
                    if inner.dep_ == "prep":
                        _gather_prep(clause, inner, verb)
            case "prepc" | "dep" | "npadvmod" | "advmod" if _is_stray_object(clause, child):
                clause.objects.append(child)
            case _:
                pass
    if not any(said == "instead of" for said, _ in clause.preps):
        _gather_instead(clause, verb)


def _gather_inside(clause: Clause, complement: Token) -> None:
    """``interested in crypto``: what follows the adjective."""
    for child in complement.children:
        if child.dep_ == "prep":
            _gather_prep(clause, child, complement)


def _is_stray_object(clause: Clause, token: Token) -> bool:
    """An object that the small model took for an adverb: unknown words right after a verb that wants one."""
    if clause.lemma not in _TRANSITIVE or clause.objects or token.i <= clause.verb.i or token.head.i != clause.verb.i:
        return False
    is_how = token.lower_.endswith("ly") and any(child.dep_ in {"dobj", "xcomp"} for child in token.head.children)
    is_word = token.pos_ in {"NOUN", "PROPN", "ADV", "NUM"} and token.lower_ not in _ADVERBS and not is_how
    return (
        is_word and all(inner.i > clause.verb.i for inner in token.subtree) and token.left_edge.i == clause.verb.i + 1
    )


def _gather_instead(clause: Clause, verb: Token) -> None:
    """``instead of X``, which the parser hangs anywhere."""
    sentence = list(verb.sent)
    for place, token in enumerate(sentence[:-2]):
        if token.lower_ == "instead" and sentence[place + 1].lower_ == "of":
            last = sentence[place + 2]
            while last.head.i > last.i and last.head.pos_ in {"NOUN", "PROPN"}:
                last = last.head
            clause.preps.append(("instead of", last))


def _gather_prep(clause: Clause, preposition: Token, verb: Token) -> None:
    said = preposition.lower_
    for child in preposition.children:
        if child.dep_ == "pobj":
            instead = any(c.lower_ == "instead" for c in preposition.children)
            clause.preps += [("instead of" if instead else said, token) for token in joined(child)]
            for inner in child.children:  # "from X to Y" is often read as one phrase
                if (
                    inner.dep_ == "prep"
                    and inner.lower_ in {"to", "from", "for", "at", "as", "in", "with", "over"}
                    and child.pos_ != "NOUN"
                ):
                    _gather_prep(clause, inner, verb)
        elif child.dep_ == "prep":
            if said in {"out", "off", "away"}:
                clause.particle = clause.particle or said
            _gather_prep(clause, child, verb)
