"""The user's own table, read line by line over a cursor of the server, in a transaction that can't write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import Connection, sql

from chronofact.contracts.baseline import COLUMNS, BaselineUnreadable, RawLine
from chronofact.contracts.meant import hint
from chronofact.postgres.check_run import WATCHED
from chronofact.postgres.holding import snapshot

LINES_AT_ONCE: Final = 5_000
_OF_THE_STATEMENT: Final = ("0A", "22", "23", "25", "42", "54")
"""Classes of SQLSTATE that what was typed is to blame for, not the surroundings."""
_TEXT: Final = "S"


class BaselineSource:
    """The lines of one statement."""

    def __init__(
        self,
        connection: Connection[Any],
        statement: str,
        columns: Sequence[str],
        *,
        is_text: bool,
        needed: Sequence[str] = COLUMNS,
    ) -> None:
        self._connection = connection
        self._statement = statement
        self._columns = columns
        self.is_text = is_text
        """Whether values are of a type of text, so that a value may be JSON that is spelt as text."""
        self.columns_ignored = [name for name in columns if name not in needed]

    def lines(self) -> Iterator[RawLine]:
        """Each line, numbered from 1 in the statement's order."""
        chosen = ", ".join(
            f"b.{name}::text" if name in self._columns else f"null::text as {name}" for name in COLUMNS[:-1]
        )
        declare = sql.SQL(
            "declare baseline no scroll cursor for select {}, to_json(b.value)::text from (\n{}\n) as b"
        ).format(sql.SQL(chosen), sql.SQL(self._statement))
        number = 0
        with _told():
            # as binary, since then one statement is all that the server takes
            self._connection.execute(declare, binary=True)
            while some := self._connection.execute(f"fetch forward {LINES_AT_ONCE} from baseline").fetchall():
                for line in some:
                    number += 1
                    yield RawLine(number, *line)


@contextmanager
def reading(conninfo: str, statement: str, *, needed: Sequence[str] = COLUMNS) -> Iterator[BaselineSource]:
    """The statement as a source of lines.

    Raises:
        BaselineUnreadable: it is no SELECT, lacks a column, or fails.
        Transient, Unfit: that database is away, or refuses us.
    """
    chosen = statement.strip().rstrip(";").rstrip()
    if not chosen:
        raise BaselineUnreadable("the statement is empty")
    settings: dict[str, str | int] = {
        **WATCHED,
        "default_transaction_read_only": "on",
    }
    with snapshot(conninfo, "baseline", **settings) as connection:
        with _told():
            described = sql.SQL("select * from (\n{}\n) as b limit 0").format(sql.SQL(chosen))
            found = connection.execute(described, binary=True).description or []
        names = [one.name for one in found]
        _refuse_columns(names, needed)
        code = next(one.type_code for one in found if one.name == "value")
        yield BaselineSource(connection, chosen, names, is_text=_is_text(connection, code), needed=needed)


def _refuse_columns(names: Sequence[str], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in names]
    if missing:
        near = [hint(name, set(names) - set(COLUMNS)) for name in missing]
        told = ", ".join(f"{name}{said}" for name, said in zip(missing, near, strict=True))
        raise BaselineUnreadable(f"the statement has the columns {', '.join(names)}, and lacks {told}")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise BaselineUnreadable(f"the statement has a column twice: {', '.join(doubled)}")


def _is_text(connection: Connection[Any], type_code: int) -> bool:
    found = connection.execute("select t.typcategory from pg_type as t where t.oid = %s", (type_code,)).fetchone()
    return found is not None and found[0] in {_TEXT, "X"}


@contextmanager
def _told() -> Iterator[None]:
    """What the server says of the user's own statement is for the user."""
    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate
        if state is None or state[:2] not in _OF_THE_STATEMENT:
            raise
        said = error.diag.message_primary or type(error).__name__
        told = f"{said} ({error.diag.message_detail})" if error.diag.message_detail else said
        raise BaselineUnreadable(f"the statement fails: {told}, SQLSTATE {state}") from error
