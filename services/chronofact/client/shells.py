"""``Client`` and ``AsyncClient``: the same calls, carried out over HTTP in a thread or in an event loop."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import cached_property, update_wrapper
from http import HTTPStatus
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

import httpx

from chronofact.client.calls import Calls
from chronofact.client.changes import SILENCE_S, Change, Following, following
from chronofact.client.errors import Unreachable
from chronofact.client.exchange import Ask, Reply, Steps
from chronofact.client.ids import Ids

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])

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


def _blocking(steps: Callable[Concatenate[Calls, P], Steps[T]]) -> Callable[Concatenate[Client, P], T]:
    def call(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client.carry_out(steps(client.calls, *args, **kwargs))

    return _told(call, steps)


def _awaiting(
    steps: Callable[Concatenate[Calls, P], Steps[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    def call(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
        return client.carry_out(steps(client.calls, *args, **kwargs))

    return _told(call, steps)


def _told(call: C, steps: Callable[..., Any]) -> C:
    """A call whose help shows its own arguments and its answer, and no steps."""
    update_wrapper(call, steps)
    found = signature(steps)
    answer = str(found.return_annotation).removeprefix("Steps[").removesuffix("]")
    vars(call)["__signature__"] = found.replace(return_annotation=answer)
    return call


class Client(_Shell):
    """A blocking client; use it as a context manager, or ``close`` it. Not for several threads at once."""

    @cached_property
    def _http(self) -> httpx.Client:
        verify = certificates(*self._addresses)
        return httpx.Client(headers=self._headers, timeout=self._timeout_s, mounts=DIRECT, verify=verify)

    send = _blocking(Calls.send)
    send_lines = _blocking(Calls.send_lines)
    assert_fact = _blocking(Calls.assert_fact)
    assert_many = _blocking(Calls.assert_many)
    remember = _blocking(Calls.remember)
    remember_many = _blocking(Calls.remember_many)
    interact = _blocking(Calls.interact)
    memories = _blocking(Calls.memories)
    relations = _blocking(Calls.relations)
    decide = _blocking(Calls.decide)
    pair = _blocking(Calls.pair)
    activate = _blocking(Calls.activate)
    supersede = _blocking(Calls.supersede)
    end = _blocking(Calls.end)
    revoke = _blocking(Calls.revoke)
    resolve_conflict = _blocking(Calls.resolve_conflict)
    declare_relation = _blocking(Calls.declare_relation)
    resolve = _blocking(Calls.resolve)
    resolve_many = _blocking(Calls.resolve_many)
    facts = _blocking(Calls.facts)
    events = _blocking(Calls.events)
    versions = _blocking(Calls.versions)
    timeline = _blocking(Calls.timeline)
    context = _blocking(Calls.context)
    explain = _blocking(Calls.explain)
    conflicts = _blocking(Calls.conflicts)
    settle = _blocking(Calls.settle)
    get = _blocking(Calls.get)

    def carry_out(self, steps: Steps[T]) -> T:
        """Runs a call to its end."""
        try:
            ask = next(steps)
            while True:
                time.sleep(ask.pause_s)
                try:
                    reply = _reply_of(self._http.request(**_request_of(ask)))
                except httpx.TransportError as error:
                    ask = steps.throw(_unreachable(ask, error, self._timeout_s))
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

    send = _awaiting(Calls.send)
    send_lines = _awaiting(Calls.send_lines)
    assert_fact = _awaiting(Calls.assert_fact)
    assert_many = _awaiting(Calls.assert_many)
    remember = _awaiting(Calls.remember)
    remember_many = _awaiting(Calls.remember_many)
    interact = _awaiting(Calls.interact)
    memories = _awaiting(Calls.memories)
    relations = _awaiting(Calls.relations)
    decide = _awaiting(Calls.decide)
    pair = _awaiting(Calls.pair)
    activate = _awaiting(Calls.activate)
    supersede = _awaiting(Calls.supersede)
    end = _awaiting(Calls.end)
    revoke = _awaiting(Calls.revoke)
    resolve_conflict = _awaiting(Calls.resolve_conflict)
    declare_relation = _awaiting(Calls.declare_relation)
    resolve = _awaiting(Calls.resolve)
    resolve_many = _awaiting(Calls.resolve_many)
    facts = _awaiting(Calls.facts)
    events = _awaiting(Calls.events)
    versions = _awaiting(Calls.versions)
    timeline = _awaiting(Calls.timeline)
    context = _awaiting(Calls.context)
    explain = _awaiting(Calls.explain)
    conflicts = _awaiting(Calls.conflicts)
    settle = _awaiting(Calls.settle)
    get = _awaiting(Calls.get)

    async def carry_out(self, steps: Steps[T]) -> T:
        """Runs a call to its end."""
        try:
            ask = next(steps)
            while True:
                await asyncio.sleep(ask.pause_s)
                try:
                    reply = _reply_of(await self._http.request(**_request_of(ask)))
                except httpx.TransportError as error:
                    ask = steps.throw(_unreachable(ask, error, self._timeout_s))
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


def _unreachable(ask: Ask, error: httpx.TransportError, timeout_s: float) -> Unreachable:
    if not isinstance(error, httpx.ReadTimeout):
        return _unreachable_at(ask.url, error)
    return Unreachable(_root(ask.url), f"no answer within {timeout_s:g} s", waited_s=timeout_s)


def _unreachable_at(url: str, error: httpx.TransportError) -> Unreachable:
    return Unreachable(_root(url), str(error) or type(error).__name__)


def _root(url: str) -> str:
    return str(httpx.URL(url).copy_with(path="/"))
