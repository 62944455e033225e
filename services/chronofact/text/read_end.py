"""Readers of endings: left, sold, cancelled, finished, died."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chronofact.text.frames import Frame, Modality, Polarity, Temporality
from chronofact.text.making import frame, is_thing_of, may_act
from chronofact.text.phrases import joined, value_of
from chronofact.text.timing import time_at
from chronofact.text.words import DYING, ENDING, GENERIC, PETS

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause

_PARTS: Final = frozenset(
    {"some", "a", "an", "few", "several", "most", "half", "one", "two", "three", "many", "extra", "spare"}
)
_POSTS: Final = frozenset({"job", "position", "role", "post", "gig"})
"""What one holds: "lost his job as a banker" ends being a banker."""
_OBJECTLESS: Final = frozenset(
    {"retire", "resign", "graduate", "drop out", "lay", "fire", "unsubscribe", "dismiss", "lay off", "step down"}
)


def read_end(clause: Clause) -> list[Frame]:
    """An ending frame, where a verb of ending is said of something named; plain presents end nothing."""
    if clause.polarity is Polarity.NEGATIVE or clause.subject is None or clause.modality is not Modality.ASSERTED:
        return []
    if clause.temporality is Temporality.CURRENT and "perfect" not in clause.cues:
        return []
    return _died(clause) or _ended(clause)


def _died(clause: Clause) -> list[Frame]:
    """``his hamster Pip died``: he has it no more."""
    about = clause.about
    if clause.phrasal not in DYING or not about.owner or clause.objects or clause.is_passive:
        return []
    is_alive = not set(about.noun.split()).isdisjoint(PETS)
    if clause.lemma not in {"heal", "recover"} and not is_alive:
        return []
    families = ("ends:health",) if clause.lemma in {"heal", "recover"} else ("ends:death",)
    words = about.noun
    named = [child for child in clause.subject.children if child.dep_ == "appos"] if clause.subject is not None else []
    words = " ".join([words, *(value_of(child, clause.prepared).text for child in named)])
    return [frame(clause, "end", words, entity=about.owner, cues=families, temporality=Temporality.ENDED)]


def _ended(clause: Clause) -> list[Frame]:
    verb = clause.phrasal if clause.phrasal in ENDING else clause.lemma
    rid = clause.after("of") if clause.verb.lower_ == "rid" else None
    verb = "get rid" if rid is not None else verb
    if verb == "lose" and any(token.lower_ in {"interest", "weight", "touch", "track"} for token in clause.objects):
        return []
    if verb not in ENDING or not may_act(clause.about):
        return []
    families = tuple(f"ends:{family}" for family in ENDING[verb])
    what = [rid] if rid is not None else list(clause.objects)
    if not what and verb in _OBJECTLESS:
        after = clause.after("from", "at", "of", "as")
        what = [after] if after is not None else []
    if not what or any(child.dep_ == "dative" for child in clause.verb.children) or len(what) > len(joined(what[0])):
        return []
    clause.take(*what, clause.after("until", "to"))
    if (
        "ends:work" in families + ("ends:work",) * (verb == "lose")
        and value_of(what[0], clause.prepared).head in _POSTS
    ):
        role = clause.after("as", "at", "with")
        clause.take(role)
        return [_end(clause, one, ("ends:work",), role) for one in what]
    return [_end(clause, one, families) for one in what]


def _end(clause: Clause, token: Token, families: tuple[str, ...], role: Token | None = None) -> Frame:
    value = value_of(token, clause.prepared)
    said: dict[str, str] = {}
    words = [word for word in value.words if word not in GENERIC]
    words += _planned(clause, token)
    if any(child.lower_ in _PARTS for child in token.children if child.dep_ in {"det", "amod", "nummod", "predet"}):
        words.append("part")  # "sold some shoes" leaves some
    for child in token.children:
        if child.dep_ == "prep" and child.lower_ in {"to", "in", "at", "for", "with"}:
            for inner in child.children:
                if inner.dep_ == "pobj" and not time_at(inner):
                    clause.take(inner)
                    words += value_of(inner, clause.prepared).words
    if role is not None:
        words += value_of(role, clause.prepared).words
    to = clause.after("to")
    if to is not None and to.pos_ == "VERB":
        said["scope"] = ""  # "left the bank to work at a startup"
    elif to is not None and not time_at(to):
        words += [word for word in value_of(to, clause.prepared).words if word not in words]
    return frame(clause, "end", " ".join(words), cues=families, temporality=Temporality.ENDED, **said)


def _planned(clause: Clause, token: Token) -> list[str]:
    """``cancelled plans to run the Boston Marathon``: what was planned."""
    verb = next(
        (child for child in token.children if child.dep_ in {"acl", "relcl", "xcomp"} and child.tag_ == "VB"), None
    )
    if verb is None or value_of(token, clause.prepared).head not in {"plan", "idea"}:
        return []
    taken = [child for child in verb.children if child.dep_ == "dobj"]
    taken += [
        inner for child in verb.children if child.dep_ == "prep" for inner in child.children if inner.dep_ == "pobj"
    ]
    clause.take(verb, *taken)
    return [verb.lemma_.lower(), *(word for one in taken for word in value_of(one, clause.prepared).words)]


def read_done(clause: Clause) -> list[Frame]:
    """What was done is planned no more; as an event it is history."""
    if clause.temporality is not Temporality.PAST or clause.modality is not Modality.ASSERTED or not clause.is_main:
        return []
    if clause.polarity is Polarity.NEGATIVE or is_thing_of(clause.about):
        return []
    words = [clause.lemma]
    for token in clause.objects[:1] or [token for said, token in clause.preps[:1] if said in {"to", "for"}]:
        words.append(value_of(token, clause.prepared).text)
        clause.take(token)
    if len(words) == 1:
        return []
    return [frame(clause, "end", " ".join(words), cues=("ends:done",), temporality=Temporality.ENDED)]
