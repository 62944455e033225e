"""The reader's routes: who asks, what, and the answer as JSON."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import FastAPI, Request, Response

from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.errors import Rejected
from chronofact.reader.answers import Body
from chronofact.reader.conflicts import Conflicts
from chronofact.reader.context import Contexts
from chronofact.reader.descriptions import CALLS, Call
from chronofact.reader.explain import Explanations
from chronofact.reader.lists import Lists
from chronofact.reader.memories import Memories
from chronofact.reader.nearness import Nearness
from chronofact.reader.questions import Asking, Question
from chronofact.reader.relations import Relations
from chronofact.reader.requests import batch_of, body_of, check_address, parameters, question_in, question_of
from chronofact.reader.service import Reader
from chronofact.reader.shapes import SHAPES
from chronofact.runtime.auth import Credentials, Role
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.http import error_response, json_response
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.openapi import answers

POSTGRES: Final = "postgres"
_SLICE: Final = 200
"""Queries checked between two turns of the event loop."""

Handler = Callable[[Request, Asking], Awaitable[Body]]


class _AtIndex(Exception):
    """A query of a batch that was refused."""

    def __init__(self, refusal: Rejected, index: int) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal
        self.index = index


class Routes:
    """What each call does."""

    def __init__(
        self,
        reader: Reader,
        credentials: Credentials,
        kinds: ScopeKinds,
        *,
        health: Health,
        metrics: Metrics,
        body_bytes_max: int,
        clock: Callable[[], int],
        nearness: Nearness,
    ) -> None:
        self._reader = reader
        self.lists = Lists(reader)
        self.conflicts = Conflicts(reader)
        self.contexts = Contexts(reader)
        self.explanations = Explanations(reader)
        self.memories = Memories(reader, nearness)
        self.relations = Relations(reader)
        self._credentials = credentials
        self._kinds = kinds
        self._health = health
        self._requests = metrics.counter("chronofact_http_requests_total")
        self._seconds = metrics.histogram("chronofact_http_request_seconds")
        self._body_bytes_max = body_bytes_max
        self._clock = clock
        self._batches = asyncio.Semaphore(2)

    async def respond(self, route: str, handler: Handler, request: Request) -> Response:
        """One request; what is wrong with it is its answer."""
        started = time.perf_counter()
        response = await self._response(handler, request)
        self._requests.labels(route, str(response.status_code)).inc()
        self._seconds.labels(route).observe(time.perf_counter() - started)
        return response

    async def _response(self, handler: Handler, request: Request) -> Response:
        try:
            headers = request.headers
            caller = self._credentials.caller(headers.get("authorization"), headers.get("x-tenant-id"))
            caller.require(Role.READ)
            check_address(request.scope["query_string"])
            return json_response(await handler(request, Asking(caller, self._kinds, now=self._clock())))
        except Rejected as error:
            return error_response(error)
        except _AtIndex as error:
            return error_response(error.refusal, index=error.index)
        except (Transient, Unfit) as failure:
            if failure.code.startswith(POSTGRES):
                self._health.hindered(POSTGRES, failure)
            return error_response(Rejected(failure.code, str(failure)))

    async def resolve(self, request: Request, asking: Asking) -> Body:
        """``GET /v1/resolve``."""
        question, wait = question_in(request.query_params, asking)
        return await self._reader.resolve(asking.tenant_id, question, wait)

    async def resolve_many(self, request: Request, asking: Asking) -> Body:
        """``POST /v1/resolve``."""
        parameters(request.query_params, frozenset())
        queries, wait = batch_of(await body_of(request, bytes_max=self._body_bytes_max))
        async with self._batches:
            questions: list[Question] = []
            for start in range(0, len(queries), _SLICE):
                for query in queries[start : start + _SLICE]:
                    try:
                        questions.append(question_of(asking, query))
                    except Rejected as error:
                        raise _AtIndex(error, len(questions)) from None
                await asyncio.sleep(0)
            return await self._reader.resolve_many(asking.tenant_id, questions, wait)


def add_routes(app: FastAPI, routes: Routes) -> None:
    """Every route with its description."""
    handlers: dict[str, Handler] = {
        "resolve": routes.resolve,
        "resolve_many": routes.resolve_many,
        "facts": routes.lists.facts,
        "history": routes.lists.history,
        "conflicts": routes.conflicts.listed,
        "context": routes.contexts.made,
        "explain": routes.explanations.made,
        "memories": routes.memories.found,
        "relations": routes.relations.listed,
    }
    for call in CALLS:
        _add(app, routes, call, handlers[call.handler])


def _add(app: FastAPI, routes: Routes, call: Call, handler: Handler) -> None:
    async def endpoint(request: Request) -> Response:
        return await routes.respond(call.path, handler, request)

    app.add_api_route(
        call.path,
        endpoint,
        methods=[call.method],
        summary=call.summary,
        tags=["reads"],
        operation_id=f"{call.method.lower()}{call.path.replace('/', '_')}",
        responses=answers(call.responses, {200: SHAPES[call.method, call.path]}),
        openapi_extra=call.extra(),
    )
