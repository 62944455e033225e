"""Transactions in memory as Postgres has them at READ COMMITTED: who changes a line holds it until the transaction ends."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from chronofact.runtime.failures import ConstraintBroken, Transient

Place: TypeAlias = "tuple[str, Hashable]"
"""A table and the key of a line in it."""
_GONE: Final = object()


def give_up(_place: Place, _transaction: Transaction) -> None:
    """Waiting for another transaction in a test of one thread would be waiting for ever."""
    raise Transient("postgres_busy", "another transaction holds the line")


class Database:
    """Tables by name, each a mapping from key to line, and the lines that open transactions hold."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[Any, Any]] = {}
        self.holders: dict[Place, Transaction] = {}
        self.wait: Callable[[Place, Transaction], None] = give_up
        """Comes back once the line may be free, or raises."""
        self.released: Callable[[Transaction], None] = lambda _transaction: None

    def table(self, name: str) -> dict[Any, Any]:
        """What is committed; it is replaced by each commit and never changed."""
        return self.tables.setdefault(name, {})

    def lock(self, place: Place, transaction: Transaction) -> None:
        """Hold a line, once nobody else does."""
        while self.holders.get(place, transaction) is not transaction:
            self.wait(place, transaction)
            transaction.must_be_open()
        self.holders[place] = transaction
        transaction.held.append(place)


class Transaction:
    """Sees what is committed at each look, under its own changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changes: dict[str, dict[Any, Any]] = {}
        self.held: list[Place] = []
        self.is_open = True
        self.lock_timeout_s = 10.0
        self.committed: Callable[[], None] = lambda: None
        """Told when it has taken effect."""

    def get(self, table: str, key: Hashable) -> Any:
        """A line, or None."""
        self.must_be_open()
        changes = self._changes.get(table)
        found = self._database.table(table).get(key) if changes is None or key not in changes else changes[key]
        return None if found is _GONE else found

    def lines(self, table: str) -> Iterator[tuple[Any, Any]]:
        """Keys and lines, in no order."""
        self.must_be_open()
        changes: Mapping[Any, Any] = self._changes.get(table, {})
        yield from ((key, line) for key, line in self._database.table(table).items() if key not in changes)
        yield from ((key, line) for key, line in changes.items() if line is not _GONE)

    def lock(self, table: str, key: Hashable) -> None:
        """As ``for update``."""
        self.must_be_open()
        self._database.lock((table, key), self)

    def put(self, table: str, key: Hashable, line: Any) -> None:
        """Insert or replace."""
        self.lock(table, key)
        self._changes.setdefault(table, {})[key] = line

    def insert(self, table: str, key: Hashable, line: Any, constraint: str) -> None:
        """Insert a line that must not be there."""
        self.lock(table, key)
        if self.get(table, key) is not None:
            raise ConstraintBroken(constraint)
        self._changes.setdefault(table, {})[key] = line

    def delete(self, table: str, key: Hashable) -> None:
        """As if it had never been there."""
        self.put(table, key, _GONE)

    def commit(self) -> None:
        """All of it at once."""
        self.must_be_open()
        for name, changes in self._changes.items():
            merged = {**self._database.table(name), **changes}
            self._database.tables[name] = {key: line for key, line in merged.items() if line is not _GONE}
        self.committed()
        self._end()

    def rollback(self) -> None:
        """Nothing of it; no matter whether it has ended already."""
        if self.is_open:
            self._end()

    def must_be_open(self) -> None:
        """Raises as a broken connection does."""
        if not self.is_open:
            raise Transient("postgres_away", "the session was ended")

    def _end(self) -> None:
        self.is_open = False
        for place in self.held:
            self._database.holders.pop(place, None)
        self._database.released(self)
