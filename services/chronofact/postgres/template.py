"""SQL kept in files: found by folder and order, with ``{name}`` filled by quoted names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from psycopg import AsyncConnection, Connection, sql

from chronofact.runtime.resources import schema_path

Slot: TypeAlias = str | int | sql.Composable

_SLOT = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Script:
    """One .sql file."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the file, in hex."""
        return sha256(self.text.encode()).hexdigest()

    def filled(self, connection: Connection[Any] | AsyncConnection[Any], **slots: Slot) -> sql.SQL:
        """The statements with each ``{name}`` replaced: text as a quoted name, a number or composable as it is."""
        return sql.SQL(_SLOT.sub(_Filler(connection, slots), self.text))


@dataclass(frozen=True, slots=True)
class _Filler:
    connection: Connection[Any] | AsyncConnection[Any]
    slots: Mapping[str, Slot]

    def __call__(self, found: re.Match[str]) -> str:
        match self.slots[found[1]]:
            case int(number):
                return str(number)
            case str(name):
                return sql.Identifier(name).as_string(self.connection)
            case composable:
                return composable.as_string(self.connection)


def scripts(*folder: str) -> Iterator[Script]:
    """The files of a folder under ``schemas/postgres``, by name."""
    for path in sorted(schema_path("postgres", *folder).glob("*.sql")):
        yield Script(path.stem, path.read_text(encoding="utf-8"))


def script(*path: str) -> Script:
    """One file under ``schemas/postgres``, named without its ending."""
    file = schema_path("postgres", *path[:-1], f"{path[-1]}.sql")
    return Script(file.stem, file.read_text(encoding="utf-8"))
