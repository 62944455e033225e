"""Readers of how far a thing is: the phase that it is in or came into, ahead or behind, what it waits for, what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality
from chronofact.text.making import frame, is_person
from chronofact.text.phrases import Whose, after_noun, value_of, whose
from chronofact.text.read_be import status
from chronofact.text.states import RESULT, THING, kinds_of
from chronofact.text.words import STATUS

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause

_STANDING: Final = frozenset({"be", "remain", "stay", "run", "sit", "lag", "fall", "slip"})
_ENTERING: Final = frozenset({"enter", "reach", "begin"})
_PASSING: Final = frozenset(
    {"move", "advance", "progress", "go", "graduate", "transition", "shift", "pass", "proceed", "head", "switch"}
)
_NOUNS: Final = frozenset({"phase", "stage"})
_LATE: Final = {"behind": "late", "late": "late", "ahead": "ahead", "early": "ahead"}
_AGAINST: Final = frozenset({"schedule", "plan", "time", "deadline", "target"})
_CAME_OF: Final = {
    "wrap up": "finished", "close out": "closed", "roll out": "released", "fall through": "failed", "turn down": "rejected",
    "sign off": "approved", "go live": "live", "take down": "removed", "come out": "released", "call off": "cancelled",
}  # fmt: skip
_DONE_TO: Final = {"pass": "approved", "defend": "approved", "file": "submitted", "win": "won", "lift": "lifted"}
_PAST: Final = frozenset({Temporality.PAST, Temporality.CURRENT, Temporality.CHANGE})


def read_phase(clause: Clause) -> list[Frame]:
    """All of this file but ``told_of``; only of things."""
    if clause.subject is None or clause.subject.dep_ == "expl" or is_person(clause.about):
        return []
    if clause.polarity is Polarity.NEGATIVE or clause.modality is not Modality.ASSERTED:
        return []
    return (
        _before(clause)
        or _against_plan(clause)
        or _in_phase(clause)
        or _entered(clause)
        or _waits(clause)
        or _came_of(clause)
    )


def _before(clause: Clause) -> list[Frame]:
    """``is still pre-launch``."""
    sentence = clause.verb.sent
    for token in sentence[:-2] if clause.lemma == "be" else ():
        hyphen, noun = token.nbor(1), token.nbor(2)
        if (
            token.i > clause.verb.i
            and token.lower_ == "pre"
            and hyphen.text == "-"
            and noun.pos_ in {"NOUN", "VERB", "PROPN"}
        ):
            clause.take(token, noun)
            return status(clause, f"pre {noun.lower_}")
    return []


def _against_plan(clause: Clause) -> list[Frame]:
    """``is running three weeks late``, ``is behind schedule``."""
    if clause.lemma not in _STANDING:
        return []
    for token in clause.verb.subtree:
        if (
            token.lower_ not in _LATE
            or token.i < clause.verb.i
            or token.head.i not in {clause.verb.i, clause.verb.i + 1}
        ):
            continue
        inner = [child for part in (token, *token.children) for child in part.children if child.dep_ == "pobj"]
        if any(child.lower_ not in _AGAINST for child in inner):
            return []
        span = [child for part in (token, clause.verb) for child in part.children if child.dep_ == "npadvmod"]
        clause.take(token, *inner, *(part for child in span for part in child.subtree))
        said = [word for child in span for word in value_of(child, clause.prepared).words]
        return status(clause, " ".join([*said, _LATE[token.lower_]]))
    return []


def _in_phase(clause: Clause) -> list[Frame]:
    """``is in closed beta``, ``is under investigation``, ``is in its screening phase``."""
    if clause.lemma not in {"be", "remain", "stay"}:
        return []
    work = clause.complement
    if (
        work is not None
        and work.lower_ == "work"
        and [token.lower_ for said, token in after_noun(work) if said == "in"] == ["progress"]
    ):
        clause.take(*work.subtree)
        return status(clause, "in progress")
    if work is not None or not clause.preps:
        return []
    out = next((token for said, token in clause.preps if said in {"of", "out of"} and clause.particle == "out"), None)
    if out is not None and kinds_of(f"out {out.lower_}"):
        clause.take(out)
        return status(clause, f"out {out.lower_}")
    said, token = clause.preps[0]
    return _phase(clause, said, token) if said in {"in", "under", "on", "at"} else []


def _entered(clause: Clause) -> list[Frame]:
    """``has entered closed beta``, ``moved from screening into the treatment phase``, ``went live``."""
    to = clause.after("into", "to", "in", "onto")
    if clause.lemma in _ENTERING and len(clause.objects) == 1:
        to = clause.objects[0]
    elif clause.lemma not in _PASSING or clause.objects:
        return []
    if clause.lemma == "go" and clause.complement is not None and clause.complement.lower_ in STATUS:
        to = clause.complement
        clause.take(to)
        clause.temporality = Temporality.CHANGE
        return status(clause, to.lower_)
    former = clause.after("from")
    for child in clause.verb.children:  # "from screening into treatment", read as if one screened into it
        for inner in child.children if child.lower_ == "from" and to is None else ():
            further = [
                one
                for after in inner.children
                if after.lower_ in {"into", "to"}
                for one in after.children
                if one.dep_ == "pobj"
            ]
            former, to = (inner, further[0]) if further else (former, to)
    return _phase(clause, "in", to, former) if to is not None else []


def _phase(clause: Clause, said: str, token: Token, former: Token | None = None) -> list[Frame]:
    """The phase that a phrase names: a bare noun of one, or whatever is called a phase."""
    value = value_of(token, clause.prepared)
    if value.head in _NOUNS:
        words = [word for word in value.words if word not in _NOUNS]
        if not words or any(child.dep_ == "prep" for child in token.children):
            return []
        _go(clause, token, former)
        return [frame(clause, "prop:phase", " ".join(words), value_type="phase", cardinality=Holds.ONE)]
    is_bare = not any(child.dep_ in {"det", "poss"} and child.lower_ != "its" for child in token.children)
    if not is_bare or value.is_name or value.has_number or not kinds_of(f"{said} {value.head}"):
        return []
    _go(clause, token, former)
    return status(clause, f"{said} {value.text}")


def _go(clause: Clause, token: Token, former: Token | None) -> None:
    """Whether it is there, or came there."""
    clause.take(token, former)
    if clause.lemma in _ENTERING | _PASSING and clause.temporality in _PAST:
        clause.temporality = Temporality.CHANGE


def _waits(clause: Clause) -> list[Frame]:
    """``is awaiting approval``, ``is waiting for review``."""
    what = (
        clause.objects[:1]
        if clause.lemma == "await"
        else [token for said, token in clause.preps[:1] if said in {"for", "on"}]
    )
    if clause.lemma not in {"await", "wait"} or not what or clause.temporality is not Temporality.CURRENT:
        return []
    clause.take(*(part for token in what for part in token.subtree))
    return status(clause, "waiting")


def _came_of(clause: Clause) -> list[Frame]:
    """``has wrapped up``, ``fell through``, ``was rolled out``."""
    particles = {child.lower_ for child in clause.verb.children if child.dep_ in {"prt", "advmod", "prep"}}
    said = next(
        (state for verb, state in _CAME_OF.items() if verb.split()[0] == clause.lemma and verb.split()[1] in particles),
        "",
    )
    is_done = clause.verb.tag_ in {"VBD", "VBN"}
    if not said or clause.objects or not is_done:
        return []
    clause.temporality = Temporality.CHANGE
    clause.take(*(child for child in clause.verb.children if child.lower_ in {"through", "up", "out", "off", "down"}))
    return status(clause, said)


def told_of(clause: Clause, frames: list[Frame]) -> list[Frame]:
    """``finished the rewrite``: the ending says of what it is, and how that is since."""
    if len(clause.objects) != 1 or not frames or frames[0].slot != "end":
        return frames
    said = clause.verb.lower_ if clause.verb.lower_ in STATUS else _CAME_OF.get(clause.phrasal, "")
    said = said or _DONE_TO.get(clause.lemma, "")
    about = whose(clause.objects[0], clause.prepared)
    if about.owner == "?" and clause.about.is_name and not clause.about.is_unknown:
        about = Whose(f"{clause.about.entity}:{about.noun}")  # "Ravi defended his thesis"
    is_any = any(child.lower_ in {"a", "an"} for child in clause.objects[0].children)
    if not said or about.is_unknown or is_any:
        return frames
    first, *others = frames
    return [replace(first, cues=(*first.cues, f"{THING}{about.entity}", f"{RESULT}{said}")), *others]
