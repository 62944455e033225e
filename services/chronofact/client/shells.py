"""``Client`` and ``AsyncClient``: the same calls, carried out over HTTP in a thread or in an event loop."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import cached_property, update_wrapper
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar, overload

import httpx

from chronofact.client.calls import Calls
from chronofact.client.changes import SILENCE_S, Change, Following, following
from chronofact.client.errors import Unreachable
from chronofact.client.exchange import Ask, Reply, Steps
from chronofact.client.ids import Ids

P = ParamSpec("P")
T = TypeVar("T")

WRITER: Final = "http://127.0.0.1:8080"
READER: Final = "http://127.0.0.1:8081"
LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})
DIRECT: Final = {"all://127.0.0.1": None, "all://localhost": None, "all://[::1]": None}
"""This machine is never asked through the proxy that the environment names: it would look at itself."""


def certificates(*addresses: str) -> ssl.SSLContext | bool:
    """What httpx is to trust; loading it takes 24 ms, which are spared where all is said to this machine in plain."""
    found = [httpx.URL(one) for one in addresses]
    is_plain = all(one.scheme == "http" and one.host in LOCAL for one in found)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True


class _Shell:
    """What both clients share: settings, ids, and the calls to carry out."""

    def __init__(
        self,
        *,
        writer: str | None = None,
        reader: str | None = None,
        token: str | None = None,
        tenant: str | None = None,
        patience_s: float = 30.0,
        timeout_s: float = 60.0,
        reads_own_writes: bool = True,
    ) -> None:
        self.ids = Ids(tenant)
        self.calls = Calls(
            writer=writer or WRITER, reader=reader or READER, patience_s=patience_s, reads_own_writes=reads_own_writes
        )
        credential = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._headers = credential if tenant is None else {**credential, "X-Tenant-Id": tenant}
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._reader = (reader or READER).rstrip("/")
        self._addresses = (writer or WRITER, self._reader)

    @classmethod
    def of_stack(cls, data: str | Path = ".chronofact", **options: Any) -> Self:
        """A client of the stack that ``chronofact up`` runs in a data folder; further options as for the class.

        Raises:
            FileNotFoundError: No stack runs there.
        """
        try:
            addresses = json.loads((Path(data) / "stack.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise FileNotFoundError(f"no stack runs in {data}; start one: chronofact up --data {data}") from None
        return cls(writer=addresses["writer"], reader=addresses["reader"], **options)

    @property
    def position(self) -> str | None:
        """The position that covers everything this client has written."""
        written = self.calls.written
        return None if written is None else written.encode()


class _Blocking(Generic[P, T]):
    def __init__(self, steps: Callable[Concatenate[Calls, P], Steps[T]]) -> None:
        self._steps = steps
        update_wrapper(self, steps)  # type: ignore[arg-type]

    @overload
    def __get__(self, client: None, owner: type[Client]) -> Self: ...
    @overload
    def __get__(self, client: Client, owner: type[Client]) -> Callable[P, T]: ...
    def __get__(self, client: Client | None, owner: type[Client]) -> Self | Callable[P, T]:
        if client is None:
            return self

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return client.carry_out(self._steps(client.calls, *args, **kwargs))

        return update_wrapper(call, self._steps)


class _Awaiting(Generic[P, T]):
    def __init__(self, steps: Callable[Concatenate[Calls, P], Steps[T]]) -> None:
        self._steps = steps
        update_wrapper(self, steps)  # type: ignore[arg-type]

    @overload
    def __get__(self, client: None, owner: type[AsyncClient]) -> Self: ...
    @overload
    def __get__(self, client: AsyncClient, owner: type[AsyncClient]) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(
        self, client: AsyncClient | None, owner: type[AsyncClient]
    ) -> Self | Callable[P, Coroutine[Any, Any, T]]:
        if client is None:
            return self

        def call(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            return client.carry_out(self._steps(client.calls, *args, **kwargs))

        return update_wrapper(call, self._steps)


class Client(_Shell):
    """A blocking client; use it as a context manager, or ``close`` it. Not for several threads at once."""

    @cached_property
    def _http(self) -> httpx.Client:
        verify = certificates(*self._addresses)
        return httpx.Client(headers=self._headers, timeout=self._timeout_s, mounts=DIRECT, verify=verify)

    send = _Blocking(Calls.send)
    send_lines = _Blocking(Calls.send_lines)
    assert_fact = _Blocking(Calls.assert_fact)
    assert_many = _Blocking(Calls.assert_many)
    remember = _Blocking(Calls.remember)
    remember_many = _Blocking(Calls.remember_many)
    interact = _Blocking(Calls.interact)
    memories = _Blocking(Calls.memories)
    relations = _Blocking(Calls.relations)
    decide = _Blocking(Calls.decide)
    pair = _Blocking(Calls.pair)
    activate = _Blocking(Calls.activate)
    supersede = _Blocking(Calls.supersede)
    end = _Blocking(Calls.end)
    revoke = _Blocking(Calls.revoke)
    resolve_conflict = _Blocking(Calls.resolve_conflict)
    declare_relation = _Blocking(Calls.declare_relation)
    resolve = _Blocking(Calls.resolve)
    resolve_many = _Blocking(Calls.resolve_many)
    facts = _Blocking(Calls.facts)
    events = _Blocking(Calls.events)
    versions = _Blocking(Calls.versions)
    timeline = _Blocking(Calls.timeline)
    context = _Blocking(Calls.context)
    explain = _Blocking(Calls.explain)
    conflicts = _Blocking(Calls.conflicts)
    settle = _Blocking(Calls.settle)
    get = _Blocking(Calls.get)

    def carry_out(self, steps: Steps[T]) -> T:
        """Runs a call to its end."""
        try:
            ask = next(steps)
            while True:
                time.sleep(ask.pause_s)
                try:
                    reply = _reply_of(self._http.request(**_request_of(ask)))
                except httpx.TransportError as error:
                    ask = steps.throw(_unreachable(ask, error))
                else:
                    ask = steps.send(reply)
        except StopIteration as done:
            result: T = done.value
            return result

    def changes(
        self,
        *,
        subject: str | None = None,
        scope: str | None = None,
        key: str | None = None,
        prefix: str | None = None,
        after: str | None = None,
    ) -> Iterator[Change]:
        """Answers that change, for ever, from ``after`` (the id of a change, or a position) or from now on.

        Streams that end or break are gone on with, so that each change comes once.
        """
        follow = following(
            self._reader, subject=subject, scope=scope, key=key, prefix=prefix, after=after, patience_s=self._patience_s
        )
        return self.followed(follow)

    def followed(self, follow: Following) -> Iterator[Change]:
        """The changes of a listener that is made already, for ever."""
        while True:
            time.sleep(follow.pause_s)
            try:
                with self._http.stream(**_stream_of(follow)) as response:
                    if response.status_code != HTTPStatus.OK:
                        response.read()
                        follow.refused(_reply_of(response))
                        continue
                    follow.opened()
                    for chunk in response.iter_bytes():
                        yield from follow.came(chunk)
            except httpx.TransportError as error:
                follow.lost(_unreachable_at(follow.url, error))
            else:
                follow.ended()

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(_Shell):
    """The same for an event loop."""

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        verify = certificates(*self._addresses)
        return httpx.AsyncClient(headers=self._headers, timeout=self._timeout_s, mounts=DIRECT, verify=verify)

    send = _Awaiting(Calls.send)
    send_lines = _Awaiting(Calls.send_lines)
    assert_fact = _Awaiting(Calls.assert_fact)
    assert_many = _Awaiting(Calls.assert_many)
    remember = _Awaiting(Calls.remember)
    remember_many = _Awaiting(Calls.remember_many)
    interact = _Awaiting(Calls.interact)
    memories = _Awaiting(Calls.memories)
    relations = _Awaiting(Calls.relations)
    decide = _Awaiting(Calls.decide)
    pair = _Awaiting(Calls.pair)
    activate = _Awaiting(Calls.activate)
    supersede = _Awaiting(Calls.supersede)
    end = _Awaiting(Calls.end)
    revoke = _Awaiting(Calls.revoke)
    resolve_conflict = _Awaiting(Calls.resolve_conflict)
    declare_relation = _Awaiting(Calls.declare_relation)
    resolve = _Awaiting(Calls.resolve)
    resolve_many = _Awaiting(Calls.resolve_many)
    facts = _Awaiting(Calls.facts)
    events = _Awaiting(Calls.events)
    versions = _Awaiting(Calls.versions)
    timeline = _Awaiting(Calls.timeline)
    context = _Awaiting(Calls.context)
    explain = _Awaiting(Calls.explain)
    conflicts = _Awaiting(Calls.conflicts)
    settle = _Awaiting(Calls.settle)
    get = _Awaiting(Calls.get)

    async def carry_out(self, steps: Steps[T]) -> T:
        """Runs a call to its end."""
        try:
            ask = next(steps)
            while True:
                await asyncio.sleep(ask.pause_s)
                try:
                    reply = _reply_of(await self._http.request(**_request_of(ask)))
                except httpx.TransportError as error:
                    ask = steps.throw(_unreachable(ask, error))
                else:
                    ask = steps.send(reply)
        except StopIteration as done:
            result: T = done.value
            return result

    async def changes(
        self,
        *,
        subject: str | None = None,
        scope: str | None = None,
        key: str | None = None,
        prefix: str | None = None,
        after: str | None = None,
    ) -> AsyncIterator[Change]:
        """Answers that change, for ever, from ``after`` (the id of a change, or a position) or from now on.

        Streams that end or break are gone on with, so that each change comes once.
        """
        follow = following(
            self._reader, subject=subject, scope=scope, key=key, prefix=prefix, after=after, patience_s=self._patience_s
        )
        async for change in self.followed(follow):
            yield change

    async def followed(self, follow: Following) -> AsyncIterator[Change]:
        """The changes of a listener that is made already, for ever."""
        while True:
            await asyncio.sleep(follow.pause_s)
            try:
                async with self._http.stream(**_stream_of(follow)) as response:
                    if response.status_code != HTTPStatus.OK:
                        await response.aread()
                        follow.refused(_reply_of(response))
                        continue
                    follow.opened()
                    async for chunk in response.aiter_bytes():
                        for change in follow.came(chunk):
                            yield change
            except httpx.TransportError as error:
                follow.lost(_unreachable_at(follow.url, error))
            else:
                follow.ended()

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _request_of(ask: Ask) -> dict[str, Any]:
    headers = {} if ask.content is None else {"Content-Type": ask.content_type}
    params = ask.params or None
    return {"method": ask.method, "url": ask.url, "params": params, "content": ask.content, "headers": headers}


def _reply_of(response: httpx.Response) -> Reply:
    return Reply(response.status_code, response.content, response.headers.get("Retry-After"))


def _stream_of(follow: Following) -> dict[str, Any]:
    timeout = httpx.Timeout(SILENCE_S)
    return {
        "method": "GET",
        "url": follow.url,
        "params": follow.params,
        "headers": follow.headers(),
        "timeout": timeout,
    }


def _unreachable(ask: Ask, error: httpx.TransportError) -> Unreachable:
    return _unreachable_at(ask.url, error)


def _unreachable_at(url: str, error: httpx.TransportError) -> Unreachable:
    return Unreachable(str(httpx.URL(url).copy_with(path="/")), str(error) or type(error).__name__)
