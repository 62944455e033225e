"""How a clause is meant: asserted or not, past or not, and the shapes that forbid a supersession (semantics §7, rule 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chronofact.text.frames import Modality, Polarity, Temporality
from chronofact.text.words import (
    ADDITIVE,
    AFTER_NUMBER,
    APPROXIMATE,
    AT_LEAST,
    AT_MOST,
    CONDITIONS,
    CUES,
    HISTORY,
    HYPOTHETICAL,
    ONE_OFF,
    ONE_OFF_PHRASES,
    PLAIN_CALLS,
    PLANNED,
)

if TYPE_CHECKING:
    from spacy.tokens import Span

    from chronofact.text.clauses import Clause

_SAME_PAST: Final = frozenset({"quit", "cut", "put", "set", "hit", "let", "shut", "split", "bet", "cast"})
_HEADS: Final = frozenset({"VERB", "AUX", "ADP"})
"""What a sentence hangs on; "no longer like jazz" is read with a preposition."""
_DATING: Final = frozenset({"this week", "this month"})
WORDS_MAX: Final = 16
"""A longer sentence says more than its frames do."""


def settle(clause: Clause, sentence: Span) -> None:
    """Fills modality, temporality, polarity, cues and guards of a clause."""
    words = [token.lower_ for token in sentence]
    said = f" {' '.join(words)} "
    _polarity(clause)
    _tense(clause)
    _modality(clause, words)
    if clause.polarity is Polarity.NEGATIVE and any(
        f" {word} " in said for word in ("anymore", "any longer", "any more", "no longer")
    ):
        clause.temporality = Temporality.ENDED
    clause.cues += [word for word in words if word in CUES and word not in clause.cues]
    if any(
        f" {phrase} " in said
        for phrase in (
            "these days",
            "no longer",
            "as of",
            "from now on",
            "any longer",
            "any more",
            "has since",
            "since then",
        )
    ):
        clause.cues.append("now")
    if " these days " in said or " nowadays " in said:
        clause.cues.append("these days")  # and not only at this moment
    if sum(any(ch.isalnum() for ch in word) for word in words) > WORDS_MAX:
        clause.guards.append("long_sentence")
    if (
        any(word in ADDITIVE and not _is_place(words, place) for place, word in enumerate(words))
        or " as well " in said
        or " in addition " in said
    ):
        clause.guards.append("additive")
    if _is_one_off(words, said, is_done=clause.verb.tag_ in {"VBD", "VBN"}):
        clause.guards.append("one_off")
    if _is_history(words, said):
        clause.guards.append("past")
    if any(token.dep_ == "intj" and token.lower_ not in PLAIN_CALLS for token in sentence):
        clause.guards.append("not_asserted")
    if _is_unsure(sentence):
        clause.guards.append("unsure_parse")
    if _is_restricted(clause):
        clause.guards.append("scope_differs")
    clause.cues += _vagueness(sentence)
    if not clause.is_main:
        clause.guards.append("subordinate")


def _is_place(words: list[str], place: int) -> bool:
    """``in second grade`` says which, ``a second job`` says one more."""
    return words[place] == "second" and place > 0 and words[place - 1] in {"in", "the", "on", "to", "is"}


def _is_unsure(sentence: Span) -> bool:
    """A word that the parser hangs anywhere, or a sentence that it finds no verb in."""
    return (
        any(token.dep_ in {"dep", ""} and token.lower_ not in {"any", "longer"} for token in sentence)
        or sentence.root.pos_ not in _HEADS
    )


def _is_restricted(clause: Clause) -> bool:
    """``his favorite color to wear``: the subject's noun is only some of what it names; after a comma it is all of it."""
    if clause.subject is None or not clause.is_main:
        return False
    return any(
        (child.dep_ in {"relcl", "acl", "npadvmod"} or any(inner.dep_ == "pcomp" for inner in child.children))
        and child.lower_ not in {"named", "called"}
        and not any(inner.text == "," for inner in clause.subject.children if inner.i < child.i)
        for child in clause.subject.children
    )


def _vagueness(sentence: Span) -> list[str]:
    """How a number is meant that is no exact one: ``about 50``, ``over 50``, ``up to 50``, ``50 at most``."""
    words = [token.lower_ for token in sentence]
    said = f" {' '.join(words)} "
    found = [cue for phrase, cue in AFTER_NUMBER.items() if f" {phrase} " in said]
    for place, token in enumerate(sentence):
        if place == 0 or not (token.like_num or token.text[:1].isdigit()):
            continue
        end = place - 1 if words[place - 1] in {"$", "€", "£"} else place
        last, two = " ".join(words[max(0, end - 1) : end]), " ".join(words[max(0, end - 2) : end])
        if last in APPROXIMATE:
            found.append("about")
        elif last in AT_LEAST or two in AT_LEAST:
            found.append("at least")
        elif (last in AT_MOST or two in AT_MOST) and not (
            two == "up to"
            and (sentence[end - 2].head.pos_ == "VERB" or (end >= 3 and sentence[end - 3].pos_ == "VERB"))
        ):  # "went up to 50" is exact
            found.append("at most")
    return found


def _is_history(words: list[str], said: str) -> bool:
    """A change dated years back is no news, whenever it is told."""
    if "ago" in words and any(word.startswith(("year", "decade")) for word in words):
        return True
    if any(
        word == "in" and words[place + 1].isdecimal() and len(words[place + 1]) == 4
        for place, word in enumerate(words[:-1])
    ):
        return True
    is_again = any(f" {word} back in " in said for word in ("is", "are", "came", "moved", "be"))
    return any(f" {phrase} " in said for phrase in HISTORY if phrase != "back in" or not is_again)


def _is_one_off(words: list[str], said: str, *, is_done: bool) -> bool:
    """``this month`` limits what is, and only dates what was done."""
    said = said.replace(" as of this ", " since ")
    for place, word in enumerate(words):
        if word == "once" and words[place + 1 : place + 2] not in (["a"], ["per"], ["every"]):
            return True
        if word in ONE_OFF and word not in {"once", "just"}:
            return True
    return any(f" {phrase} " in said for phrase in ONE_OFF_PHRASES if not (is_done and phrase in _DATING))


def _polarity(clause: Clause) -> None:
    for verb in clause.verbs:
        for child in verb.children:
            is_never = child.lower_ in {"never", "hardly", "rarely", "barely", "neither"}
            no_longer = child.lower_ == "longer" and any(inner.lower_ == "no" for inner in child.children)
            if child.dep_ == "attr" and any(inner.lower_ == "longer" for inner in child.children):
                no_longer = any(inner.lower_ == "no" for inner in child.subtree)  # "is no longer pizza"
            if child.dep_ == "neg" or is_never or no_longer:
                if clause.temporality is Temporality.ENDED:  # "hasn't stopped using"
                    clause.guards.append("polarity")
                clause.polarity = Polarity.NEGATIVE
            if is_never or child.lower_ == "yet":
                clause.guards.append("polarity")


def _tense(clause: Clause) -> None:
    """The plain past is history, unless the verb is a change; readers of changes put that right."""
    if clause.temporality is not Temporality.CURRENT:
        return
    helpers = [child for child in clause.verb.children if child.dep_ in {"aux", "auxpass"}]
    if clause.matrix is not None:
        helpers += [child for child in clause.matrix.children if child.dep_ in {"aux", "auxpass"}]
    head = clause.matrix or clause.verb
    perfect = any(child.lemma_ in {"have", "'ve"} or child.lower_ in {"'ve", "has", "have", "had"} for child in helpers)
    if any(child.lower_ == "had" for child in helpers):
        clause.temporality = Temporality.PAST
    elif perfect:
        since = (
            any(said in {"since", "for"} for said, _ in clause.preps)
            or clause.verb.tag_ == "VBG"
            or clause.verb.lemma_ == "be"
        )
        clause.temporality = Temporality.CURRENT if since or clause.is_passive else Temporality.PAST
        clause.cues.append("perfect")
    elif (
        head.tag_ == "VBD"
        or (head.tag_ in {"VBP", "VB"} and head.lower_ in _SAME_PAST and not helpers and _is_third(clause))
        or any(child.tag_ == "VBD" for child in helpers)
        or (head.tag_ == "VBN" and not helpers)
    ):
        clause.temporality = Temporality.PAST


def _is_third(clause: Clause) -> bool:
    """A third person whose verb lacks its ``s``: ``his son quit``."""
    subject = clause.subject
    return (
        subject is not None and subject.lower_ not in {"i", "we", "you", "they"} and subject.tag_ not in {"NNS", "NNPS"}
    )


def _modality(clause: Clause, words: list[str]) -> None:
    helpers = {child.lower_ for child in clause.verb.children if child.dep_ == "aux"}
    if clause.matrix is not None:
        helpers |= {child.lower_ for child in clause.matrix.children if child.dep_ == "aux"}
    if (words and words[-1] == "?") or (clause.subject is not None and words[0] in {"should", "is", "are", "does", "do", "can", "what", "how"}
                                      and clause.subject.i > clause.verb.sent.start and words[-1] == "?"):  # fmt: skip
        clause.modality = Modality.QUESTION
    elif helpers & HYPOTHETICAL or any(word in CONDITIONS for word in words):
        clause.modality = Modality.HYPOTHETICAL
    elif helpers & PLANNED:
        clause.modality = Modality.PLANNED
    if (
        clause.verb.tag_ == "VB"
        and not clause.is_imperative
        and clause.matrix is None
        and not helpers
        and not clause.is_main
    ):
        clause.modality = Modality.HYPOTHETICAL
