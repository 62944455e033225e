"""Readers of having, liking, preferring, using, owning and doing: what may be many, and what is counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chronofact.text.frames import Frame, Holds, Polarity, Temporality
from chronofact.text.making import frame, is_person, may_act
from chronofact.text.phrases import after_noun, is_measured, joined, value_of, version_type, whose
from chronofact.text.read_taste import kind_of, read_taste
from chronofact.text.timing import time_at
from chronofact.text.types import type_of
from chronofact.text.words import CONSUMING, GETTING, HAVING, MAKING, OWNING, PETS, UNITS, USING

if TYPE_CHECKING:
    from spacy.tokens import Token

    from chronofact.text.clauses import Clause

_PERIODS: Final = frozenset({"day", "week", "month", "year", "night", "hour", "morning", "evening", "season"})
_PETS: Final = PETS | {"pet", "animal"}


def read_own(clause: Clause) -> list[Frame]:
    """All of this file, the most particular first."""
    return (
        _numbers(clause)
        or read_taste(clause)
        or _named(clause)
        or _leads(clause)
        or _has(clause)
        or _rides(clause)
        or _reads(clause)
        or _makes(clause)
        or _made_with(clause)
        or _uses(clause)
        or _belongs(clause)
    )


def _numbers(clause: Clause) -> list[Frame]:
    """``weighs 82 kg``, ``has two cats``, ``takes 10 mg of X``, ``sleeps five hours a night``."""
    if clause.subject is not None and clause.subject.dep_ == "expl":
        return _there(clause)
    token = _measured_by(clause)
    if token is None or len(clause.objects) > 1:
        return []
    value = value_of(token, clause.prepared)
    if not value.has_number or value.is_name:
        return []
    clause.take(token)
    if "perfect" in clause.cues:
        clause.temporality = Temporality.CURRENT
    words = [word for place, word in enumerate(value.words) if word not in _PERIODS or place < 2]
    every = " ".join(word for word in value.words if word not in words)
    number = [word for word in words if word.lstrip("$€£")[:1].isdigit() or word in UNITS]
    noun = [word for word in words if word not in number]
    return [replace(one, scope=f"{one.scope} {every}".strip()) for one in _numbered(clause, token, number, noun)]


def _measured_by(clause: Clause) -> Token | None:
    """The phrase with the number: an object, an adverb, or how long."""
    if clause.objects:
        return clause.objects[0]
    for child in clause.verb.children:
        if child.dep_ in {"npadvmod", "attr", "acomp"} and _counts(child):
            return child
    lasting = clause.after("for", "of") if clause.lemma == "consist" else clause.after("for")
    if lasting is None or "perfect" in clause.cues:
        return None
    words = value_of(lasting, clause.prepared).words[:2]
    is_span = not _PERIODS.isdisjoint(words)
    return (
        lasting
        if clause.lemma == "consist" or (not is_span and is_measured(value_of(lasting, clause.prepared)))
        else None
    )


def _numbered(clause: Clause, token: Token, number: list[str], noun: list[str]) -> list[Frame]:
    text = " ".join(number)
    if clause.lemma == "turn" and not noun:
        changed = Temporality.CHANGE
        return [frame(clause, "num:old", text, value_type="number", cardinality=Holds.ONE, temporality=changed)]
    if not noun or any(word in UNITS for word in number):
        slot = ":".join(part for part in ("num", clause.phrasal, " ".join(noun)) if part)
        return [frame(clause, slot, text, value_type="number", cardinality=Holds.ONE)]
    called = _called(clause, token)
    found = _counted(clause, noun, number)
    return [*found, frame(clause, f"have:{' '.join(noun)}", called, cardinality=Holds.MANY)] if called else found


def _there(clause: Clause) -> list[Frame]:
    """``There are 9 people on his team``: his team has them."""
    what = clause.complement
    if clause.lemma != "be" or what is None:
        return []
    value = value_of(what, clause.prepared)
    where = clause.after("on", "in", "at") or next(
        (after for said, after in after_noun(what) if said in {"on", "in", "at"}), None
    )
    if where is None or not value.has_number:
        return []
    clause.take(what, where)
    number = [word for word in value.words if word[:1].isdigit()]
    noun = [word for word in value.words if word not in number]
    clause.guards = [guard for guard in clause.guards if guard != "pronoun"]
    clause.about = whose(where, clause.prepared)
    return _counted(clause, noun, number)


def _counted(clause: Clause, noun: list[str], number: list[str]) -> list[Frame]:
    slot = "count" if clause.lemma in HAVING | {"be", "consist"} else f"count:{clause.lemma}"
    return [frame(clause, f"{slot}:{' '.join(noun)}", " ".join(number), value_type="number", cardinality=Holds.ONE)]


def _counts(token: Token) -> bool:
    return any(child.dep_ == "nummod" for child in token.children) or token.like_num


def _named(clause: Clause) -> list[Frame]:
    """``goes by Sam``, ``is called Falcon``."""
    by = clause.after("by")
    if clause.lemma == "go" and by is not None and value_of(by, clause.prepared).is_name:
        clause.take(by)
        return [
            frame(clause, "prop:name", value_of(by, clause.prepared).text, value_type="name", cardinality=Holds.ONE)
        ]
    if clause.lemma in {"call", "name"} and clause.is_passive and clause.complement is not None:
        clause.take(clause.complement)
        value = value_of(clause.complement, clause.prepared)
        holds = Holds.MANY if clause.about.head in _PETS or is_person(clause.about) else Holds.ONE
        return [
            frame(
                clause, "prop:name", value.text, value_type="name", cardinality=holds, temporality=Temporality.CURRENT
            )
        ]
    return []


def _leads(clause: Clause) -> list[Frame]:
    """``Priya owns the search project``, ``is managed by Priya``, ``reports to Dana``: one at a time."""
    to = clause.after("to")
    if clause.lemma == "report" and to is not None and not clause.objects:
        clause.take(to)
        return [
            frame(clause, "reports_to", value_of(to, clause.prepared).text, value_type="name", cardinality=Holds.ONE)
        ]
    if clause.lemma == "assign" and clause.is_passive and to is not None:
        clause.take(to)
        return [
            frame(
                clause,
                "prop:assignee",
                value_of(to, clause.prepared).text,
                value_type="assignee",
                cardinality=Holds.ONE,
            )
        ]
    if clause.lemma not in OWNING:
        return []
    by = clause.after("by")
    if clause.is_passive and by is not None:
        clause.take(by)
        owner = whose(by, clause.prepared)
        return [
            frame(
                clause,
                f"owner:{clause.lemma}",
                owner.entity,
                value_type="name",
                cardinality=Holds.ONE,
                temporality=Temporality.CURRENT,
            )
        ]
    if (
        len(clause.objects) != 1
        or clause.subject is None
        or not any(child.lower_ == "the" for child in clause.objects[0].children)
    ):
        return []
    thing = clause.objects[0]
    clause.take(thing)
    owner_name = clause.about.entity
    entity = value_of(thing, clause.prepared).text
    return [frame(clause, f"owner:{clause.lemma}", owner_name, entity=entity, value_type="name", cardinality=Holds.ONE)]


def _has(clause: Clause) -> list[Frame]:
    """Each thing had is a slot by its noun."""
    got = clause.lemma in GETTING
    if not (clause.lemma in HAVING or got) or not clause.objects:
        return []
    clause.take(*clause.objects)
    return [one for token in clause.objects for one in _had(clause, token, got=got)]


def _had(clause: Clause, token: Token, *, got: bool) -> list[Frame]:
    value = value_of(token, clause.prepared)
    none = any(child.lower_ == "no" for child in token.children)
    polarity = Polarity.NEGATIVE if none else clause.polarity
    when = {"temporality": Temporality.CHANGE} if got and clause.temporality is Temporality.PAST else {}
    name, modifiers, kind = value.head, "" if none else _called(clause, token) or value.modifiers, ""
    numbers = [word for word in value.words if word[:1].isdigit()]
    if value.is_name and numbers:
        name, modifiers, kind = (
            " ".join(word for word in value.words if word not in numbers),
            " ".join(numbers),
            "version",
        )
    elif value.modifiers == value.text:
        name, modifiers = value.text, "" if none else _called(clause, token)
    holds = Holds.UNKNOWN if kind else Holds.MANY
    found = [frame(clause, f"have:{name}", modifiers, value_type=kind, polarity=polarity, cardinality=holds, **when)]
    if (timed := _appointed(clause, token)) and not got and polarity is Polarity.POSITIVE:
        entity = f"{clause.about.entity}:{value.text}"  # she may have another; this one may be moved
        found = [frame(clause, "schedule", timed[0], entity=entity, value_type=timed[1], scope="")]
    if value.head in _PETS and value.head != "pet" and got:
        found.append(frame(clause, "have:pet", "", polarity=polarity, cardinality=Holds.MANY, **when))
    if when:
        found.append(frame(clause, "end", f"get {value.text}", cues=("ends:done",), temporality=Temporality.ENDED))
    if name == "baby" and clause.lemma == "have" and clause.temporality is Temporality.PAST:
        return [no_longer_pregnant(clause)]
    return found


def _appointed(clause: Clause, token: Token) -> tuple[str, str] | None:
    """``has a dentist appointment on Tuesday``: when it is."""
    for said, after in [*clause.preps, *after_noun(token)]:
        if said in {"on", "at"} and (timed := time_at(after)) is not None:
            return timed
    return None


def no_longer_pregnant(clause: Clause) -> Frame:
    """Giving birth ends being pregnant."""
    ended = {"temporality": Temporality.ENDED, "polarity": Polarity.NEGATIVE}
    return frame(clause, "is:pregnant", "pregnant", scope="", cardinality=Holds.MANY, **ended)


def _called(clause: Clause, token: Token) -> str:
    for child in token.children:
        if child.dep_ in {"acl", "relcl"} and child.lower_ in {"named", "called"}:
            return " ".join(
                value_of(inner, clause.prepared).text
                for inner in child.children
                if inner.dep_ in {"oprd", "dobj", "attr", "pobj"}
            )
    return ""


def _rides(clause: Clause) -> list[Frame]:
    """``drives a Honda Civic``."""
    if clause.lemma not in {"drive", "ride"} or len(clause.objects) != 1 or not may_act(clause.about):
        return []
    clause.take(*clause.objects)
    value = value_of(clause.objects[0], clause.prepared)
    return [frame(clause, "vehicle", value.text, value_type=clause.lemma, cardinality=Holds.ONE)]


def _reads(clause: Clause) -> list[Frame]:
    """``is reading Dune``: the progressive says that it is the one of now."""
    if (
        clause.lemma not in CONSUMING
        or len(clause.objects) != 1
        or clause.verb.tag_ != "VBG"
        or clause.matrix is not None
    ):
        return []
    clause.take(*clause.objects)
    value = value_of(clause.objects[0], clause.prepared)
    holds = Holds.ONE if value.is_name and clause.lemma == "read" else Holds.MANY
    return [frame(clause, f"media:{clause.lemma}", value.text, value_type="work", cardinality=holds)]


def _makes(clause: Clause) -> list[Frame]:
    """``is building a chess engine``, ``is working on X``: several may be in hand."""
    progressive = clause.verb.tag_ == "VBG"
    if clause.lemma not in MAKING or not progressive or clause.is_passive:
        return []
    what = [clause.after("on")] if clause.lemma == "work" else clause.objects[:1]
    if not what or what[0] is None:
        return []
    clause.take(what[0])
    value = value_of(what[0], clause.prepared).text
    return [frame(clause, f"project:{value}", value, cardinality=Holds.MANY)]


def _made_with(clause: Clause) -> list[Frame]:
    """``is written in Java``, ``runs on MySQL``, ``is hosted on Heroku``, ``targets Python 3.10``."""
    if is_person(clause.about) or clause.subject is None:
        return []
    if clause.lemma in {"use", "run", "target", "require"} and len(clause.objects) == 1:
        token, said = clause.objects[0], "use"
    elif clause.lemma in {"write", "run", "host", "build", "deploy", "implement", "power", "store", "make"}:
        found = next(((token, said) for said, token in clause.preps if said in {"in", "on", "with", "by"}), None)
        if found is None or (not clause.is_passive and clause.lemma != "run"):
            return []
        token, said = found[0], f"{clause.lemma} {found[1]}"
    else:
        return []
    value = value_of(token, clause.prepared)
    if not (value.is_name or value.type):
        return []
    clause.take(token)
    exclusive = said.startswith(("write", "host", "build"))
    version = version_type(value) if any(word[:1].isdigit() for word in value.words) else ""
    kind = version or version_type(value) or value.type or (said if exclusive else "")
    holds = Holds.MANY if clause.lemma == "use" and not version else Holds.ONE  # of what it uses, it may use several
    return [frame(clause, "made_with", value.text, value_type=kind, cardinality=holds, temporality=_now(clause))]


def _now(clause: Clause) -> Temporality:
    """``is written`` is a participle, and no past."""
    helpers = {child.lower_ for child in clause.verb.children if child.dep_ in {"aux", "auxpass"}}
    return Temporality.CURRENT if helpers & {"is", "are", "'s"} else clause.temporality


def _uses(clause: Clause) -> list[Frame]:
    """``uses X``, ``writes tests with X``, ``relies on X``: tools, several unless of one type."""
    if clause.lemma not in USING | {"work", "bank"} or clause.subject is None or clause.is_passive:
        return []
    tokens = clause.objects if clause.lemma == "use" else []
    if not tokens:
        after = clause.after("with", "on", "in", "upon")
        tokens = joined(after) if after is not None and (clause.lemma != "work" or _is_tool(clause, after)) else []
    found = []
    clause.take(*tokens)
    for token in tokens:
        value = value_of(token, clause.prepared)
        slot, kind = ("bank", "bank") if clause.lemma == "bank" else ("use", kind_of(value) or _template(clause))
        if value.text and (value.is_name or kind or token.pos_ == "NOUN") and time_at(token) is None:
            found.append(frame(clause, slot, value.text, value_type=kind, cardinality=Holds.ONE, scope=None))
    return found


def _template(clause: Clause) -> str:
    """What is done with the tool: two tools to track expenses with are of one type."""
    if clause.lemma == "use" or not clause.objects:
        return ""
    return f"{clause.lemma} {value_of(clause.objects[0], clause.prepared).text}"


def _is_tool(clause: Clause, token: Token) -> bool:
    return bool(value_of(token, clause.prepared).type) or bool(type_of(value_of(token, clause.prepared).modifiers))


def _belongs(clause: Clause) -> list[Frame]:
    """Subscriptions and studies, each by its name."""
    if clause.lemma == "subscribe" and (what := clause.after("to")) is not None:
        clause.take(what)
        value = value_of(what, clause.prepared).text
        return [frame(clause, f"subscribe:{value}", value, cardinality=Holds.MANY)]
    if clause.lemma in {"study", "attend"} and (clause.objects or clause.preps):
        where = clause.after("at", "in")
        words = [
            value_of(token, clause.prepared).text
            for token in [*clause.objects, *([where] if where is not None else [])]
        ]
        clause.take(*clause.objects, where)
        return [frame(clause, f"study:{' '.join(words)}", " ".join(words), cardinality=Holds.MANY)]
    return []
