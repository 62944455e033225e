"""What ``schemas/fact_keys.yaml`` declares of a fact key: cardinality and succession, by pattern, first match wins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import yaml

from chronofact.domain.errors import Rejected
from chronofact.domain.events import Cardinality, Succession
from chronofact.runtime.resources import schema_path

KEY_BYTES_MAX: Final = 200
_KEY: Final = re.compile(r"[a-z0-9_]+(?:[./-][a-z0-9_]+)*", re.ASCII)
_BEGINNING: Final = re.compile(r"(?:[a-z0-9_]+[./-])*[a-z0-9_]*", re.ASCII)
_PATTERN: Final = re.compile(r"[a-z0-9_*./-]+", re.ASCII)
_LOOKUPS_KEPT: Final = 4_096


@dataclass(frozen=True, slots=True)
class KeyDeclaration:
    """The stamps of a key's versions; ``is_declared`` is false for what no pattern matches."""

    cardinality: Cardinality = Cardinality.ONE
    succession: Succession = Succession.EXPLICIT
    is_declared: bool = False


class KeyDeclarations:
    """Declarations in the order in which they are asked."""

    def __init__(self, declared: Sequence[tuple[re.Pattern[str], KeyDeclaration]]) -> None:
        self._declared = declared
        self.of = lru_cache(_LOOKUPS_KEPT)(self._of)

    @classmethod
    def load(cls, path: Path | None = None) -> KeyDeclarations:
        """The shipped declarations, behind those of a file of the same form if one is given.

        Raises:
            ValueError: the file is not of that form.
        """
        shipped = _read(schema_path("fact_keys.yaml"))
        return cls(shipped if path is None else [*_read(path), *shipped])

    def _of(self, fact_key: str) -> KeyDeclaration:
        check_key(fact_key)
        for pattern, declaration in self._declared:
            if pattern.fullmatch(fact_key):
                return declaration
        return _UNDECLARED


_UNDECLARED: Final = KeyDeclaration()


def check_key(fact_key: str) -> None:
    """Refuses what is no fact key.

    Raises:
        Rejected: ``key_empty``, ``key_too_long`` or ``key_malformed``, field ``key``.
    """
    if not fact_key:
        raise Rejected("key_empty", "key is empty", field="key")
    if len(fact_key) > KEY_BYTES_MAX:
        raise Rejected("key_too_long", f"key is longer than {KEY_BYTES_MAX} bytes", field="key")
    if _KEY.fullmatch(fact_key) is None:
        raise Rejected(
            "key_malformed", "key must be words of a-z, 0-9 and _ joined by single '.', '/' or '-'", field="key"
        )


def check_prefix(prefix: str) -> None:
    """Refuses what no fact key starts with.

    Raises:
        Rejected: ``parameter_malformed``, field ``prefix``.
    """
    if len(prefix) > KEY_BYTES_MAX or _BEGINNING.fullmatch(prefix) is None:
        said = "prefix is no beginning of a key: words of a-z, 0-9 and _ joined by single '.', '/' or '-'"
        raise Rejected("parameter_malformed", said, field="prefix")


def _read(path: Path) -> list[tuple[re.Pattern[str], KeyDeclaration]]:
    try:
        lines: list[dict[str, Any]] = yaml.safe_load(path.read_bytes())["keys"] or []
        return [_declaration(line) for line in lines]
    except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a file of fact key declarations: {error}") from error


def _declaration(line: dict[str, Any]) -> tuple[re.Pattern[str], KeyDeclaration]:
    if unknown := line.keys() - {"pattern", "cardinality", "succession"}:
        raise ValueError(f"unknown field {min(unknown)}")
    cardinality = Cardinality(line.get("cardinality", "one"))
    succession = Succession(line.get("succession", "explicit"))
    return _compiled(line["pattern"]), KeyDeclaration(cardinality, succession, is_declared=True)


def _compiled(pattern: str) -> re.Pattern[str]:
    if _PATTERN.fullmatch(pattern) is None:
        raise ValueError("a pattern holds key characters and * only")
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.ASCII | re.DOTALL)
