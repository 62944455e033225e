"""``GET /v1/changes``: who follows which facts from where, as a stream of server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import structlog
from fastapi import FastAPI, Request, Response
from starlette.types import Message, Receive, Scope, Send

from chronofact.contracts.changes import ChangesWanted, Place
from chronofact.contracts.position import Position
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.errors import Rejected
from chronofact.reader.changes_stream import Changes, Listener
from chronofact.reader.lists import prefix_in
from chronofact.reader.questions import Asking, key_checked
from chronofact.reader.requests import check_address, parameters
from chronofact.runtime.auth import Credentials, Role
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.http import error_response
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import Answers, answers

PATH: Final = "/v1/changes"
LAST_EVENT_ID: Final = "Last-Event-ID"
STALL_S: Final = 30.0
"""How long a listener may leave what was sent unread, before its stream is cut."""
_KNOWN: Final = frozenset({"subject", "scope", "key", "prefix", "after"})
_REFUSALS: Final[dict[int | str, str]] = {
    400: "A parameter is not as it must be.",
    401: "No credential that is known.",
    403: "The credential may not read.",
    422: "What is asked for can't be asked: the error names field and code.",
    429: "As many follow here as may.",
    503: "Postgres is away, or the service stops; coming again with the last id is safe.",
}
_STREAM: Final[Answers] = {
    200: {
        "description": "Changed answers, one server-sent event each, until the service stops.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
_PARAMETERS: Final = (
    ("subject", "query", "Only of this subject."),
    ("scope", "query", "Only in this scope, kind:key."),
    ("key", "query", "Only of this fact key."),
    ("prefix", "query", "Only of keys that start so."),
    ("after", "query", "The id of the last event that was had, or the position of a write; default now."),
    ("Last-Event-ID", "header", "The same, as browsers say it when they come again; goes before `after`."),
)


class ChangesRoute:
    """Tells who asks for what, and streams it."""

    def __init__(self, changes: Changes, credentials: Credentials, kinds: ScopeKinds, metrics: Metrics) -> None:
        self._changes = changes
        self._credentials = credentials
        self._kinds = kinds
        self._requests = metrics.counter("chronofact_http_requests_total")

    async def follow(self, request: Request) -> Response:
        """The stream, or why there is none."""
        try:
            response: Response = EventStream(await self._listener(request))
        except Rejected as error:
            response = error_response(error)
        except (Transient, Unfit) as failure:
            structlog.get_logger().warning("listener_turned_away", code=failure.code, reason=str(failure))
            response = error_response(Rejected(failure.code, str(failure)))
        self._requests.labels(PATH, str(response.status_code)).inc()
        return response

    async def _listener(self, request: Request) -> Listener:
        headers = request.headers
        caller = self._credentials.caller(headers.get("authorization"), headers.get("x-tenant-id"))
        caller.require(Role.READ)
        check_address(request.scope["query_string"])
        asking = Asking(caller, self._kinds, now=0)
        found = parameters(request.query_params, _KNOWN, reading=frozenset())
        named = LAST_EVENT_ID if headers.get(LAST_EVENT_ID) else "after"
        after = _after(headers.get(LAST_EVENT_ID) or found.get("after"), named)
        prefix = prefix_in(found)
        if "key" in found:
            key_checked(found["key"])
        scope = asking.scope(found["scope"]) if "scope" in found else None
        wanted = ChangesWanted(
            tenant_ids=(asking.tenant_id,),
            subject_id=asking.subject_id(found["subject"]) if "subject" in found else None,
            scope=None if scope is None else (scope.kind, scope.key),
            key=found.get("key"),
            prefix=prefix,
            scopes=asking.scopes(),
        )
        try:
            return await self._changes.listen(asking.tenant_id, wanted, after)
        except Rejected as error:
            raise error.at(named) if error.code == "position_of_other_topic" else error from None


class EventStream(Response):
    """Sends a listener's chunks as they come, and stops when nobody is there or nobody reads."""

    media_type = "text/event-stream"

    def __init__(self, listener: Listener) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._listener = listener

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Until the stream ends or the listener has gone."""
        sending = asyncio.create_task(self._send(send))
        gone = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            sending.cancel()
            await asyncio.wait({sending, gone})
            self._listener.close()
        if not sending.cancelled():
            sending.result()

    async def _send(self, send: Send) -> None:
        start: Message = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(start)
        chunks: AsyncIterator[bytes] = self._listener.chunks()
        async for chunk in chunks:
            try:
                async with asyncio.timeout(STALL_S):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            except TimeoutError:
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def add_changes(app: FastAPI, route: ChangesRoute) -> None:
    """The call with its description."""
    app.add_api_route(
        PATH,
        route.follow,
        methods=["GET"],
        summary="Answers that changed, as server-sent events, from a place on",
        tags=["reads"],
        operation_id="get_v1_changes",
        response_class=Response,
        response_model=None,
        responses={**_STREAM, **answers(_REFUSALS, {})},
        openapi_extra={
            "parameters": [
                {"name": name, "in": place, "required": False, "schema": {"type": "string"}, "description": meaning}
                for name, place, meaning in _PARAMETERS
            ]
        },
    )


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _after(text: str | None, named: str) -> Place | Position | None:
    if text is None:
        return None
    try:
        return Place.parse(text)
    except Rejected as error:
        raise error.at(named) from None
