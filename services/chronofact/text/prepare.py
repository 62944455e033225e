"""A text as the parser reads it best: the user is a pronoun, names are invented ones, it ends with a full stop."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from chronofact.text.types import is_tool
from chronofact.text.words import MONTHS, PERSONS, WEEKDAYS

_PRODUCT: Final = re.compile(
    r"\d|\.\w|[a-z][A-Z]|^[A-Z]{3,}$|\b(?:Mail|Drive|Cloud|Studio|Notes|Docs|Sheets|Code|Desktop|Server|Premium|Pro|App|Linux|Music|Actions|"
    r"Teams|Calendar|Keep|Reader|Browser|Manager|Inc|Corp|Labs|Bank|Health|Group|Systems|Software)$"
)
_AFTER: Final = re.compile(r"(\b(?:to|from|with) )([a-z][\w+#.-]*\w)( (?!(?:to|from|with)\b)[a-z][\w+#.-]*\w)?\b")
INVENTED: Final = ("Zorvex", "Belmor", "Tavrin", "Corvell", "Dalmer", "Marvick", "Perlan", "Quillan")
"""Plain words that no model knows: the parse can't depend on which name it was."""

_USER: Final = re.compile(r"\b(?:the )?user(?P<s>'s|s')?(?=\W|$)", re.IGNORECASE)
_OTHERS: Final = re.compile(r"\b(?:he|him|his|himself)\b", re.IGNORECASE)
_WOMEN: Final = re.compile(r"\b(?:she|her|hers|herself)\b", re.IGNORECASE)
_OF_ONE: Final = re.compile(r"\b(?:his|her)\b")
_STARTS: Final = re.compile(r"(?:The )?[Uu]ser (?!and\b)")
_OBJECT_BEFORE: Final = re.compile(
    r"\b(?:by|to|for|with|from|of|about|at|on|than|like|and|gave|told|helps?|asked|makes?)\s*$"
)
_WORD: Final = r"[A-Z][\w&+#'-]*(?:\.\w+)*|[a-z]{1,3}[A-Z]\w+"
_NAME: Final = re.compile(rf"(?:{_WORD})(?:(?: & | )(?:{_WORD}|(?<= )\d\w*(?:\.\w+)*)(?!\w))*")
VERB_FIRST: Final = re.compile(
    r"(?:[A-Z][a-z]+(?:s|ed)|Got|Had|Has|Is|Was|Went|Left|Began|Became|Bought|Sold|Quit|Gave|Met|Saw|Ran|Took|Made|Lost|Won)$"
)
_INITIAL: Final = frozenset(
    "he she they it we i his her their its our my the a an this that these those there since after before when while if in on at for from "
    "during every no not always never please do don't keep use now currently recently as with by after some all most both "
    "today yesterday last next one two three what which who how why should can could will would is are does did".split()
)
_ADJECTIVE: Final = re.compile(r"(?:ish|ese|ian|ean|can|ench|utch|eek|rab|wiss|erman|talian|hai)$")


@dataclass(slots=True)
class Prepared:
    """What to parse, and how to read the parse back."""

    text: str
    users: frozenset[str]
    """Lower-case pronouns that mean the user in this text."""
    names: dict[str, str] = field(default_factory=dict)
    """Invented name to the name it stands for, lower-case."""
    says_user: bool = True
    products: set[str] = field(default_factory=set)
    """Names that are written as no place is: with a digit, a dot, or a capital inside."""
    who: dict[str, str] = field(default_factory=dict)
    """Pronouns that stand for somebody who is named."""

    def as_said(self, text: str) -> str:
        """The text (lower-case) with its own names, where an invented one stayed in a word with what was written close to it."""
        for invented, name in self.names.items():
            text = text.replace(invented.lower(), name)
        return text


def prepare_named(text: str) -> Prepared:
    """The same where the first word is a person's name that the parser took for part of a noun."""
    name, _, rest = text.partition(" ")
    bare = name.removesuffix("'s")
    prepared = prepare(f"{'His' if bare != name else 'He'} {rest}")
    prepared.who = dict.fromkeys(("he", "his", "him"), bare.lower())
    return prepared


def prepare(text: str) -> Prepared:
    """The text (clean) for the parser."""
    subject, possessive, object_ = _own(text) or _pronouns(text)
    says_user = _USER.search(text) is not None

    def pronoun(found: re.Match[str]) -> str:
        before = text[: found.start()]
        if found["s"]:
            word = possessive
        elif _OBJECT_BEFORE.search(before):
            word = object_
        else:
            word = subject
        starts = not before.strip() or before.rstrip()[-1] in ".!?"
        return word.capitalize() if starts else word

    said = _USER.sub(pronoun, text)
    prepared = Prepared(said, _meaning_user(said, (subject, possessive, object_), says_user=says_user), {}, says_user)
    prepared.text = _masked(said, prepared.names, prepared.products)
    if prepared.text[-1] not in ".!?":
        prepared.text += "."
    return prepared


def _pronouns(text: str) -> tuple[str, str, str]:
    """Which pronoun is free for the user."""
    if not _OTHERS.search(text):
        return "he", "his", "him"
    if not _WOMEN.search(text):
        return "she", "her", "her"
    return "I", "my", "me"


def _own(text: str) -> tuple[str, str, str] | None:
    """``User changed his major``: his own, where the user is who begins the sentence and nobody else is named before."""
    found = _OF_ONE.search(text)
    begins = _STARTS.match(text)
    if found is None or begins is None or (_OTHERS.search(text) and _WOMEN.search(text)):
        return None
    before = text[: found.start()]
    if re.search(r"[A-Z]", before[begins.end() :]) or not PERSONS.isdisjoint(re.findall(r"[a-z]+", before)):
        return None
    return ("he", "his", "him") if _OTHERS.search(text) else ("she", "her", "her")


def _meaning_user(said: str, pronouns: tuple[str, str, str], *, says_user: bool) -> frozenset[str]:
    """The user's pronoun, and the first person; ``their`` too where nobody else is spoken of."""
    mine = {"i", "me", "my", "mine", "myself"}
    if says_user:
        mine |= {word.lower() for word in pronouns}
        if not re.search(r"\b(?:they|them|parents|friends|[a-z]+s' )\b", said, re.IGNORECASE):
            mine.add("their")
    return frozenset(mine)


def _masked(text: str, names: dict[str, str], products: set[str]) -> str:
    """Each name by an invented one; days, months, adjectives of nations and the first word stay."""
    given: dict[str, str] = {}
    written = text.lower()
    free = [one for one in INVENTED if one.lower() not in written]

    def invented(found: re.Match[str]) -> str:
        name = found[0]
        first = found.start() == 0 or text[: found.start()].rstrip()[-1:] in ".!?"
        head, _, rest = name.partition(" ")
        if first and rest and VERB_FIRST.match(head):
            return f"{head} {_NAME.sub(invented_inside, rest)}"
        if first and (head.lower() in _INITIAL or not rest):
            if not rest or head.lower() not in _INITIAL:
                return name
            return f"{head} {_NAME.sub(invented_inside, rest)}"
        return _invent(name)

    def invented_inside(found: re.Match[str]) -> str:
        return _invent(found[0])

    def _invent(name: str) -> str:
        possessive = "'s" if name.endswith("'s") else ""
        bare = name.removesuffix("'s")
        if (
            bare.split()[0].lower() in WEEKDAYS | MONTHS
            or bare.lower().rstrip("s") in WEEKDAYS
            or bare in {"I", "I'm", "I've", "I'll", "I'd"}
        ):
            return name
        if " " not in bare and (_ADJECTIVE.search(bare) or (bare.isupper() and bare.isalpha())):
            return name
        if bare not in given and len(given) < len(free):
            given[bare] = free[len(given)]
            names[given[bare]] = bare.lower()
            if _PRODUCT.search(bare):
                products.add(bare.lower())
        return given.get(bare, bare) + possessive

    def tool(found: re.Match[str]) -> str:
        if found[3] and is_tool(found[2] + found[3]):
            return found[1] + _invent(found[2] + found[3])
        return found[1] + (_invent(found[2]) if is_tool(found[2]) else found[2]) + (found[3] or "")

    return _AFTER.sub(tool, _NAME.sub(invented, text))
