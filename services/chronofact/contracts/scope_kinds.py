"""The kinds of scope of ``schemas/scope_kinds.yaml`` and how each normalises its key (semantics §1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from chronofact.contracts.meant import hint
from chronofact.domain.errors import Rejected
from chronofact.runtime.resources import schema_path

SCOPE_BYTES_MAX: Final = 512
DEFAULT_SCOPE: Final = "user:self"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_ESCAPES: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+", re.ASCII)
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_LOOKUPS_KEPT: Final = 4_096
_ROUNDS_MAX: Final = 8


class Scope(NamedTuple):
    """A normalised scope."""

    kind: str
    key: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.key}"


@dataclass(frozen=True, slots=True)
class ScopeKind:
    """One kind: the steps that normalise its key, the key when none is named, the only keys there are."""

    steps: tuple[str, ...] = ("nfc",)
    default: str | None = None
    keys: frozenset[str] = frozenset()

    def normalised(self, key: str) -> str:
        """The key after its steps, which change it no more; refused when they never settle."""
        for _ in range(_ROUNDS_MAX):
            before = key
            for step in self.steps:
                key = _STEPS[step](key)
            if key == before:
                return key
        raise Rejected("scope_malformed", "the scope's key has no normal form", field="scope")


class ScopeKinds:
    """The known kinds by name."""

    def __init__(self, kinds: Mapping[str, ScopeKind]) -> None:
        self._kinds = kinds
        self.normalise = lru_cache(_LOOKUPS_KEPT)(self._normalise)

    @classmethod
    def load(cls, path: Path | None = None) -> ScopeKinds:
        """The shipped kinds, with the further ones of a file of the same form if one is given.

        Raises:
            ValueError: the file is not of that form, or changes a shipped kind.
        """
        shipped = _read(schema_path("scope_kinds.yaml"))
        added = {} if path is None else _read(path)
        if clash := shipped.keys() & added.keys():
            raise ValueError(f"{path}: the kind {min(clash)} ships with Chronofact and can't be changed")
        return cls(shipped | added)

    def names(self) -> list[str]:
        """The known kinds, sorted."""
        return sorted(self._kinds)

    def _normalise(self, scope: str) -> Scope:
        """The scope that ``kind:key`` names.

        Raises:
            Rejected: ``scope_malformed``, ``scope_kind_unknown``, ``scope_too_long``, ``surrogate_lone`` or
                ``nul_character``, field ``scope``.
        """
        name, colon, key = scope.partition(":")
        kind = self._kinds.get(name)
        if kind is None:
            if _NAME.fullmatch(name) is None:
                small = "; a kind is written in small letters" if name.lower() in self._kinds else ""
                raise Rejected(
                    "scope_malformed", f"scope is written kind:key, like repo:acme/web{small}", field="scope"
                )
            known, near = ", ".join(self.names()), hint(name, self._kinds)
            raise Rejected(
                "scope_kind_unknown", f"the kind of scope is not known; known are {known}{near}", field="scope"
            )
        if not colon:
            key = kind.default or ""
        _check_characters(key)
        key = kind.normalised(key)
        _check_key(kind, key)
        return Scope(name, key)

    def pattern(self, pattern: str) -> str:
        """A credential's scope pattern in the form that ``covers`` compares: ``*``, ``kind:*``, ``kind:key/*``."""
        kind, _, key = pattern.partition(":")
        every = pattern == "*" or (key == "*" and kind in self._kinds)
        return pattern if every else str(self._normalise(pattern))


def covers(patterns: Iterable[str], scope: Scope) -> bool:
    """Whether one of the normalised patterns names the scope; ``*`` at a pattern's end stands for anything."""
    spelled = str(scope)
    return any(spelled.startswith(one[:-1]) if one.endswith("*") else spelled == one for one in patterns)


def _check_characters(key: str) -> None:
    if not key.isascii():
        try:
            key.encode()
        except UnicodeEncodeError:
            raise Rejected("surrogate_lone", "scope has a lone surrogate", field="scope") from None
    if "\x00" in key:
        raise Rejected("nul_character", "scope has the character U+0000", field="scope")
    if any(one < " " or one == "\x7f" for one in key) or key != key.strip():
        raise Rejected("scope_malformed", "scope has control characters or outer white space", field="scope")
    if len(key.encode()) > SCOPE_BYTES_MAX:
        raise Rejected("scope_too_long", f"scope is longer than {SCOPE_BYTES_MAX} bytes", field="scope")


def _check_key(kind: ScopeKind, key: str) -> None:
    if not key:
        raise Rejected("scope_malformed", "scope has no key", field="scope")
    _check_characters(key)
    if kind.keys and key not in kind.keys:
        raise Rejected(
            "scope_malformed", f"this kind of scope has the keys {', '.join(sorted(kind.keys))} only", field="scope"
        )


def _nfc(key: str) -> str:
    return unicodedata.normalize("NFC", key)


def _slashes(key: str) -> str:
    return "/".join(part for part in key.split("/") if part)


def _percent(key: str) -> str:
    return _ESCAPES.sub(_unescaped, key) if "%" in key else key


def _unescaped(escapes: re.Match[str]) -> str:
    """Escapes of unreserved and non-ASCII characters as those characters; the rest stays, in lower case."""
    raw = bytes.fromhex(escapes.group().replace("%", ""))
    spelled = bytearray()
    for byte in raw:
        if byte in _UNRESERVED or byte >= 0x80:
            spelled.append(byte)
        else:
            spelled += b"%%%02x" % byte
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        return escapes.group().lower()


def _read(path: Path) -> dict[str, ScopeKind]:
    try:
        declared: dict[str, dict[str, Any]] = yaml.safe_load(path.read_bytes())["kinds"] or {}
        return {name: _kind(name, fields or {}) for name, fields in declared.items()}
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: not a file of scope kinds: {error}") from error


def _kind(name: str, fields: dict[str, Any]) -> ScopeKind:
    if _NAME.fullmatch(name) is None:
        raise ValueError("a kind's name is a-z, 0-9 and _, starting with a letter, at most 32")
    if unknown := fields.keys() - {"steps", "default", "keys"}:
        raise ValueError(f"unknown field {min(unknown)}")
    steps = tuple(fields.get("steps", ("nfc",)))
    if not set(steps) <= _STEPS.keys():
        raise ValueError(f"steps are {', '.join(_STEPS)}")
    default, keys = fields.get("default"), fields.get("keys", [])
    texts = [] if default is None else [default]
    if not isinstance(keys, list) or not all(one and isinstance(one, str) for one in texts + keys):
        raise ValueError("default is a text and keys a list of texts, in quotes where YAML reads them otherwise")
    return ScopeKind(steps, default, frozenset(keys))


_STEPS: Final[Mapping[str, Callable[[str], str]]] = {
    "percent": _percent,
    "nfc": _nfc,
    "fold": str.casefold,
    "slashes": _slashes,
    "git": lambda key: key.removesuffix(".git"),
}
