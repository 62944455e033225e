"""The reader's routes: who asks, what, and the answer as JSON."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

from fastapi import FastAPI, Request, Response

from chronofact.contracts.reading import EdgesWanted, FactsWanted
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE, ScopeKinds
from chronofact.domain.errors import Rejected
from chronofact.reader.answers import Body
from chronofact.reader.descriptions import CALLS, Call
from chronofact.reader.lists import NIL, Lists, key_of
from chronofact.reader.questions import Asking, Question, fact_id_in
from chronofact.reader.requests import batch_of, body_of, limit_in, parameters, question_of, required, wait_in
from chronofact.reader.service import Reader
from chronofact.runtime.auth import Credentials, Role
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.http import error_response, json_response
from chronofact.runtime.metrics import Metrics

POSTGRES: Final = "postgres"
_SLICE: Final = 200
"""Queries checked between two turns of the event loop."""
_RELATIONS: Final = frozenset({"OPEN", "RESOLVED"})

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
    ) -> None:
        self._reader = reader
        self._lists = Lists(reader)
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
        query = request.query_params
        known = frozenset({"subject", "key", "scope", "valid_at", "as_of"})
        found = parameters(query, known, repeats=frozenset({"scope"}))
        slots = asking.slots(
            required(found, "subject"), required(found, "key"), query.getlist("scope") or (DEFAULT_SCOPE,)
        )
        valid_at = asking.instant(found.get("valid_at"), "valid_at")
        as_of = asking.instant(found.get("as_of"), "as_of")
        question = Question(slots, asking.now if valid_at is None else valid_at, as_of)
        return await self._reader.resolve(asking.tenant_id, question, wait_in(found))

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

    async def facts(self, request: Request, asking: Asking) -> Body:
        """``GET /v1/facts``."""
        known = frozenset({"subject", "scope", "prefix", "valid_at", "as_of", "cursor", "limit"})
        found = parameters(request.query_params, known)
        subject = required(found, "subject")
        prefix = found.get("prefix")
        if prefix is not None and (len(prefix) > 200 or not prefix.isascii() or "\x00" in prefix):
            raise Rejected("parameter_malformed", "prefix is the beginning of a key", field="prefix")
        scope = asking.scope(found["scope"]) if "scope" in found else None
        valid_at = asking.instant(found.get("valid_at"), "valid_at")
        wanted = FactsWanted(
            tenant_id=asking.tenant_id,
            subject_id=asking.subject_id(subject),
            scope=None if scope is None else (scope.kind, scope.key),
            prefix=prefix,
            scopes=asking.scopes(),
            valid_at=asking.now if valid_at is None else valid_at,
            system_as_of=asking.instant(found.get("as_of"), "as_of"),
            after=_after_fact(found.get("cursor")),
            limit=limit_in(found),
        )
        return await self._lists.facts(wanted, subject, wait_in(found))

    async def history(self, request: Request, asking: Asking) -> Body:
        """``GET /v1/facts/{fact_id}/events``, ``/versions`` and ``/timeline``."""
        found = parameters(request.query_params, frozenset({"cursor", "limit"}))
        fact_id = fact_id_in(request.path_params["fact_id"])
        read = {"events": self._lists.events, "versions": self._lists.versions, "timeline": self._lists.timeline}
        after = key_of(found["cursor"], int)[0] if "cursor" in found else 0
        what = request.url.path.rpartition("/")[2]
        return await read[what](asking, fact_id, wait_in(found), after=after, limit=limit_in(found))

    async def conflicts(self, request: Request, asking: Asking) -> Body:
        """``GET /v1/conflicts``."""
        found = parameters(
            request.query_params, frozenset({"relation", "subject", "key", "fact_id", "cursor", "limit"})
        )
        relation = found.get("relation")
        if relation is not None and relation not in _RELATIONS:
            raise Rejected("parameter_malformed", "relation is OPEN or RESOLVED", field="relation")
        key = found.get("key")
        if key is not None and ("\x00" in key or len(key) > 200):
            raise Rejected("key_malformed", "not a fact key", field="key")
        wanted = EdgesWanted(
            tenant_id=asking.tenant_id,
            relation=relation,
            subject_id=asking.subject_id(found["subject"]) if "subject" in found else None,
            key=key,
            fact_id=fact_id_in(found["fact_id"]) if "fact_id" in found else None,
            scopes=asking.scopes(),
            after=_after_edge(found.get("cursor")),
            limit=limit_in(found),
        )
        return await self._lists.conflicts(wanted, wait_in(found))


def add_routes(app: FastAPI, routes: Routes) -> None:
    """Every route with its description."""
    handlers: dict[str, Handler] = {
        "resolve": routes.resolve,
        "resolve_many": routes.resolve_many,
        "facts": routes.facts,
        "history": routes.history,
        "conflicts": routes.conflicts,
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
        responses={code: {"description": meaning} for code, meaning in call.responses.items()},
        openapi_extra=call.extra(),
    )


def _after_fact(cursor: str | None) -> tuple[str, str, str]:
    if cursor is None:
        return "", "", ""
    kind, scope, key = key_of(cursor, str, str, str)
    return kind, scope, key


def _after_edge(cursor: str | None) -> tuple[int, UUID, UUID]:
    if cursor is None:
        return 0, NIL, NIL
    fact_no, *ids = key_of(cursor, int, str, str)
    try:
        left, right = map(UUID, ids)
    except ValueError:
        raise Rejected("parameter_malformed", "not a cursor that this call gave", field="cursor") from None
    return fact_no, left, right
