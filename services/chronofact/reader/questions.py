"""What a caller asks, checked: a fact or a chain of them, at two instants, after a position."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from chronofact.contracts.fact_keys import check_key
from chronofact.contracts.meant import hint
from chronofact.contracts.position import Position
from chronofact.contracts.reading import Scopes
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE, Scope, ScopeKinds, covers
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import FactIdentity, fact_id_of, subject_id_of
from chronofact.domain.interval import parse_instant
from chronofact.runtime.auth import Caller

SUBJECT_CHARS_MAX: Final = 512
SCOPES_MAX: Final = 16
INSTANT_CHARS_MAX: Final = 64
WAIT_MS: Final = 1_000
WAIT_MS_MAX: Final = 30_000
_FIELDS: Final = frozenset({"subject", "key", "scope", "valid_at", "as_of"})
_REMEMBERED: Final = 8_192
_BLANK_FOR_PLUS: Final = re.compile(r":[\d.]+ \d{2}:\d{2}$", re.ASCII)
"""An offset whose plus was read as the blank that it stands for in an address."""

instant_of = lru_cache(_REMEMBERED)(parse_instant)
key_checked = lru_cache(_REMEMBERED)(check_key)


@lru_cache(_REMEMBERED)
def _subject(tenant_id: UUID, subject: str) -> UUID:
    if not subject:
        raise Rejected("field_empty", "subject is empty", field="subject")
    if len(subject) > SUBJECT_CHARS_MAX:
        raise Rejected("field_too_long", f"subject is longer than {SUBJECT_CHARS_MAX} characters", field="subject")
    if "\x00" in subject:
        raise Rejected("nul_character", "subject has the character U+0000", field="subject")
    try:
        return subject_id_of(tenant_id, subject)
    except UnicodeEncodeError:
        raise Rejected("surrogate_lone", "subject has a lone surrogate", field="subject") from None


@dataclass(frozen=True, slots=True)
class Slot:
    """A fact as the caller names it, and its id."""

    fact_id: bytes
    subject: str
    scope: Scope
    key: str


@dataclass(frozen=True, slots=True)
class Question:
    """A chain of facts, nearest scope first, at two instants; ``system_as_of`` None is everything applied."""

    slots: tuple[Slot, ...]
    valid_at: int
    system_as_of: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """The position that a read must have passed, and how long it may wait for that."""

    after: Position | None = None
    wait_ms: int = WAIT_MS


class Asking:
    """Reads one caller's questions; ``now`` is the request's, taken once."""

    def __init__(self, caller: Caller, kinds: ScopeKinds, *, now: int) -> None:
        self.tenant_id = caller.tenant_id
        self.now = now
        self._patterns = caller.scopes
        self._covers_all = "*" in caller.scopes
        self._kinds = kinds

    def question(self, fields: Mapping[str, Any]) -> Question:
        """From a query of the body of ``POST /v1/resolve``.

        Raises:
            Rejected: naming the field.
        """
        if not fields.keys() <= _FIELDS:
            unknown = next(name for name in fields if name not in _FIELDS)
            raise Rejected("field_unknown", f"no query has such a field{hint(unknown, _FIELDS)}", field=unknown)
        chain = fields.get("scope")
        valid_at = self.instant(fields.get("valid_at"), "valid_at")
        return Question(
            self.slots(
                _text(fields, "subject"),
                _text(fields, "key"),
                (DEFAULT_SCOPE,) if chain is None else (chain,) if isinstance(chain, str) else _texts(chain),
            ),
            self.now if valid_at is None else valid_at,  # 1970 began at 0
            self.instant(fields.get("as_of"), "as_of"),
        )

    def slots(self, subject: str, key: str, chain: Sequence[str]) -> tuple[Slot, ...]:
        """The facts that a subject, a key and scopes name."""
        scopes = self.chain(chain)
        key_checked(key)
        subject_id = self.subject_id(subject)
        return tuple([self._slot(subject, subject_id, key, scope) for scope in scopes])

    def chain(self, chain: Sequence[str]) -> Sequence[Scope]:
        """The scopes of a chain, nearest first; one that is named twice counts where it is nearer.

        Raises:
            Rejected: which of them can't be asked, and why.
        """
        if len(chain) == 1:
            return (self.scope(chain[0]),)
        if not 0 < len(chain) <= SCOPES_MAX:
            raise Rejected("field_value", f"a chain has 1 to {SCOPES_MAX} scopes", field="scope")
        found: dict[Scope, None] = {}
        for number, scope in enumerate(chain, start=1):
            try:
                found[self.scope(scope)] = None
            except Rejected as error:
                told = f"scope {number} of the chain: {error.message}"
                raise Rejected(error.code, told, field=error.field) from None
        return tuple(found)

    def _slot(self, subject: str, subject_id: UUID, key: str, scope: Scope) -> Slot:
        identity = FactIdentity(self.tenant_id, subject_id, scope.kind, scope.key, key)
        return Slot(fact_id_of(identity), subject, scope, key)

    def subject_id(self, subject: str) -> UUID:
        """A UUID as it is, any other string within the tenant."""
        return _subject(self.tenant_id, subject)

    def scope(self, scope: str) -> Scope:
        """A scope, normalised and covered by the credential."""
        found = self._kinds.normalise(scope)
        if not self._covers_all and not covers(self._patterns, found):
            raise Rejected("scope_not_covered", "the credential does not cover this scope", field="scope")
        return found

    def covers(self, kind: str, key: str) -> bool:
        """Whether the credential covers a stored scope."""
        return self._covers_all or covers(self._patterns, Scope(kind, key))

    def scopes(self) -> Scopes | None:
        """What lists are limited to."""
        if self._covers_all:
            return None
        exact = tuple(one for one in self._patterns if not one.endswith("*"))
        return Scopes(exact, tuple(one[:-1] for one in self._patterns if one.endswith("*")))

    def instant(self, text: Any, field: str) -> int | None:
        """An instant of a query; None stays None."""
        if text is None:
            return None
        if not isinstance(text, str):
            raise Rejected("field_type", f"{field} is a string or null", field=field)
        if len(text) > INSTANT_CHARS_MAX:
            raise Rejected("instant_malformed", f"{field} is too long for an instant", field=field)
        try:
            return instant_of(text)
        except Rejected as error:
            if _BLANK_FOR_PLUS.search(text):
                raise Rejected(error.code, f"{error.message}; in an address + is written %2B", field=field) from None
            raise error.at(field) from None


def wait_of(after: Any, wait_ms: Any) -> Wait:
    """The position to wait for, and how long.

    Raises:
        Rejected: ``position_malformed``, ``parameter_malformed``.
    """
    if after is not None and not isinstance(after, str):
        raise Rejected("position_malformed", "not a position that this service gave", field="after")
    limit = WAIT_MS if wait_ms is None else _whole(wait_ms, "wait_ms", least=0, most=WAIT_MS_MAX)
    try:
        return Wait(None if after is None else Position.parse(after), limit)
    except Rejected as error:
        raise error.at("after") from None


def fact_id_in(text: str) -> bytes:
    """The 16 bytes of a fact's id in an address or a parameter.

    Raises:
        Rejected: ``id_malformed``.
    """
    return id_in(text, "fact_id")


def id_in(text: str, field: str) -> bytes:
    """The 16 bytes of an id.

    Raises:
        Rejected: ``id_malformed``.
    """
    try:
        found = UUID(text)
    except ValueError:
        found = None
    if found is None or str(found) != text.lower():
        raise Rejected("id_malformed", f"a {field} is a UUID of 36 characters", field=field)
    return found.bytes


def whole_number(text: str | None, field: str, *, least: int, most: int, default: int) -> int:
    """A parameter that is a whole number within limits."""
    if text is None:
        return default
    return _whole(int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else text, field, least, most)


def _whole(number: Any, field: str, least: int, most: int) -> int:
    if isinstance(number, str) and number.isascii() and number.isdecimal() and len(number) < 10:
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise Rejected("parameter_malformed", f"{field} is a whole number from {least} to {most}", field=field)
    return number


def _text(fields: Mapping[str, Any], name: str) -> str:
    found = fields.get(name)
    if isinstance(found, str):
        return found
    if found is None:
        raise Rejected("field_missing", f"a query has the field {name}", field=name)
    raise Rejected("field_type", f"{name} is a string", field=name)


def _texts(chain: Any) -> list[str]:
    if not isinstance(chain, list) or not all(isinstance(one, str) for one in chain):
        raise Rejected("field_type", "scope is a string or a list of strings", field="scope")
    return chain
