"""A TCP proxy in threads that cuts, or falls silent, at a chosen byte or at the commit."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

To = Literal["server", "client"]
COMMIT = b"COMMIT"


class Wire:
    """Carries bytes; each `cut_…` arms one fault, which the next bytes set off."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._left: dict[To, int] = {}
        self._at_commit: Literal["before", "after"] | None = None
        self._answer_is_due = False
        self._links: set[socket.socket] = set()
        self.cuts = 0
        self.has_cut = threading.Event()
        threading.Thread(target=self._take, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def cut_after(self, size_bytes: int, *, to: To) -> None:
        """The connection breaks once so many bytes more have gone that way."""
        with self._lock:
            self.has_cut.clear()
            self._left[to] = size_bytes

    def cut_at_commit(self, side: Literal["before", "after"]) -> None:
        """The next COMMIT does not arrive, or arrives and its answer does not: the client can't tell which."""
        with self._lock:
            self.has_cut.clear()
            self._at_commit = side

    def close(self) -> None:
        self._listener.close()
        self._break()

    def _take(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(self._target)
                except OSError:
                    # the server is away: so is this end
                    client.close()
                    continue
                with self._lock:
                    self._links |= {client, server}
                threading.Thread(target=self._carry, args=(client, server, "server"), daemon=True).start()
                threading.Thread(target=self._carry, args=(server, client, "client"), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket, to: To) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                passing, is_cut = self._let_through(data, to)
                if passing:
                    sink.sendall(passing)
                if is_cut:
                    self._break()
                    self.cuts += 1
                    self.has_cut.set()
                    return
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        with self._lock:
            self._links -= {source, sink}

    def _let_through(self, data: bytes, to: To) -> tuple[bytes, bool]:
        with self._lock:
            if to == "server" and self._at_commit is not None and COMMIT in data:
                side, self._at_commit = self._at_commit, None
                if side == "before":
                    return b"", True
                self._answer_is_due = True
                return data, False
            if to == "client" and self._answer_is_due:
                self._answer_is_due = False
                return b"", True
            left = self._left.get(to)
            if left is None:
                return data, False
            if len(data) < left:
                self._left[to] = left - len(data)
                return data, False
            del self._left[to]
            return data[:left], True

    def _break(self) -> None:
        """Reset, as a lost network does."""
        with self._lock:
            links, self._links = self._links, set()
        for link in links:
            with contextlib.suppress(OSError):
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                link.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(OSError):
                link.close()


@contextmanager
def wire_to(database: str) -> Iterator[tuple[Wire, str]]:
    """A wire, and the database's address through it."""
    there = conninfo_to_dict(database)
    wire = Wire(str(there["host"]), int(there["port"] or 5432))
    try:
        yield wire, make_conninfo(database, host="127.0.0.1", port=str(wire.port))
    finally:
        wire.close()
