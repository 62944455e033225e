"""What a caller probably meant: the nearest of our names, for refusals; what was said is never repeated."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Final

SAID_CHARS_MAX: Final = 64
_NEAR: Final = 0.7
_REMEMBERED: Final = 4_096
_SEPARATORS: Final = re.compile(r"[^a-z0-9]+", re.ASCII)
_OTHER_WORDS: Final = MappingProxyType(
    {
        # parameters and fields
        "subject": "entity user userid about who person",
        "key": "factkey name attribute predicate property slot",
        "scope": "scopekind scopekey namespace context project repo",
        "valid_at": "at time when date asat validtime timestamp effectiveat",
        "as_of": "knownat systemasof systemtime knownasof transactiontime recordedat",
        "after": "position since token offset freshness",
        "wait_ms": "timeout timeoutms wait",
        "cursor": "page next pagetoken offset start",
        "limit": "size pagesize perpage count max top",
        "prefix": "startswith begins keyprefix",
        "budget": "maxchars chars tokens maxtokens",
        "queries": "query questions items asks",
        "dry_run": "validate test simulate check",
        "value": "val object content data text",
        "text": "content message body utterance memory value",
        "category": "kind topic type",
        "source": "sourceid evidence provenance origin",
        "valid_from": "validat at time when date from start since validsince begins startsat",
        "valid_to": "to until end validuntil ends expires expiresat endsat",
        "effective_at": "at time when endsat validfrom from",
        "type": "kind eventtype command op action event",
        "supersedes": "supersede replaces overrides",
        "lifecycle": "status state",
        "confidence": "score certainty probability",
        "version_id": "version id versionid",
        "new_version_id": "newer newversion new versionid",
        "old_version_id": "older oldversion old supersedesid",
        "left_version_id": "left",
        "right_version_id": "right",
        "keep": "winner keepid keepversionid kept",
        "decided_at": "at time when",
        "decided_by": "by who decider author",
        "reason": "why comment note message",
        # commands
        "assert": "create add insert set put say factasserted fact upsert",
        "activate": "admit approve accept factactivated confirm",
        "supersede": "replace override factsuperseded",
        "end": "close expire finish factended stop terminate",
        "revoke": "retract undo remove withdraw takeback factrevoked delete",
        "resolve_conflict": "settle decide conflictresolved resolve",
        "declare_relation": "relate relation relationdeclared",
        "check_relations": "checked relationschecked",
        # kinds of scope
        "user": "person self me",
        "repo": "repository git codebase",
        "org": "organization organisation team company tenant",
        "task": "ticket issue job",
        "agent": "bot assistant",
        "device": "machine host",
        "project": "workspace",
    }
)
"""Words of other systems for ours, without their separators."""


@lru_cache(_REMEMBERED)
def _meant(said: str, known: tuple[str, ...]) -> str | None:
    names = {_plain(name): name for name in known}
    word = _plain(said)
    if word in names:
        return names[word]
    for name in known:
        if word in _OTHER_WORDS.get(name, "").split():
            return name
    near = get_close_matches(word, names, 1, _NEAR)
    return names[near[0]] if near else None


def meant(said: str, known: Collection[str]) -> str | None:
    """The name of ours that was probably meant, if any is near enough; None also where it is one of ours."""
    if said in known:
        return None
    return _meant(said[:SAID_CHARS_MAX], tuple(sorted(known)))


def hint(said: str, known: Collection[str]) -> str:
    """The same as the end of a sentence; empty when nothing is near."""
    found = meant(said, known)
    return "" if found is None else f"; did you mean {found}?"


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name.lower())
