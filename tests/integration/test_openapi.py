"""Both OpenAPI documents say the truth: seeded requests of every kind get a documented answer of its documented shape."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Final
from uuid import UUID

import httpx
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from pydantic import SecretStr
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.events import Cardinality
from chronofact.postgres.changes_store import ChangesStore
from chronofact.postgres.check_store import CheckStore
from chronofact.reader.changes_http import PATH, ChangesRoute, add_changes
from chronofact.reader.changes_stream import Changes
from chronofact.reconciler.__main__ import build_app, verifying_of
from chronofact.reconciler.check import Checker
from chronofact.reconciler.ports import Log
from chronofact.reconciler.service import Reconciler
from chronofact.reconciler.standstill import Standstills
from chronofact.runtime.auth import OpenCredentials
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Transient
from chronofact.runtime.health import Health
from chronofact.runtime.metrics import Metrics
from tests.contract.remembering import RememberingWriter
from tests.contract.writing import assertion
from tests.integration.changing import serving
from tests.integration.reading import until, world_on
from tests.integration.saying import Fact

CASES: Final = 10
"""For each call and mode."""
SEED: Final = 20_260_731
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
MODES: Final = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)

Making = Callable[[], AbstractAsyncContextManager[FastAPI]]


async def is_ready(http: httpx.AsyncClient) -> bool:
    """Whether the service has looked at its surroundings: before, /readyz is rightly a 503."""
    return (await http.get("/readyz")).status_code == 200


def reader_on(database: str) -> Making:
    """A reader with one fact of each kind."""

    @asynccontextmanager
    async def made() -> AsyncIterator[FastAPI]:
        store = ChangesStore(database)
        await store.open()
        async with world_on(database) as world:
            world.tell(
                Fact("ada", "k").asserts("npm", "2026-01-01T00:00:00Z"),
                Fact("ada", "torn").asserts("npm"),
                Fact("ada", "torn").asserts("pnpm"),
                *(Fact("ada", "likes").asserts(one, cardinality=Cardinality.MANY) for one in ("tea", "jazz")),
                Fact("bob", "k").asserts("npm", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
            )
            transport: Any = world.http._transport
            changes = Changes(store, metrics := Metrics("reader"), listeners_max=2)
            add_changes(transport.app, ChangesRoute(changes, OpenCredentials(), ScopeKinds.load(), metrics))
            await until(lambda: is_ready(world.http))
            yield transport.app
            changes.close()
        await store.close()

    return made


@asynccontextmanager
async def writer() -> AsyncIterator[FastAPI]:
    """A writer over a log in memory."""
    yield RememberingWriter().app


def reconciler_on(database: str) -> Making:
    """A reconciler that can't reach Kafka, so that each check ends soon."""

    def no_log() -> Log:
        raise Transient("kafka_unreachable", "no Kafka here")

    @asynccontextmanager
    async def made() -> AsyncIterator[FastAPI]:
        checks, health, metrics = CheckStore(database), Health(), Metrics("reconciler")
        checker = Checker(checks, no_log, workers=1)
        reconciler = Reconciler(checks, lambda: checker, metrics)
        settings = Settings(auth="off", postgres=SecretStr(database))
        verifying = verifying_of(settings, Standstills(metrics))
        yield build_app(settings, reconciler, verifying, OpenCredentials(), health=health, metrics=metrics)
        await verifying.stop()
        await reconciler.stop()

    return made


@contextmanager
def served(make: Making) -> Iterator[str]:
    """An application on a port of loopback, in an event loop of its own."""
    address: Future[str] = Future()
    stopping: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        stop = asyncio.Event()
        stopping.set_result((asyncio.get_running_loop(), stop))
        async with make() as app, serving(app) as port:
            address.set_result(f"http://127.0.0.1:{port}")
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    loop, stop = stopping.result(60)
    try:
        yield address.result(60)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)


def generated(url: str) -> list[str]:
    """Holds seeded cases, right and wrong ones, to the document; the calls that were asked."""
    document = schemathesis.openapi.from_url(f"{url}/openapi.json")
    operations = [operation_of(found) for found in document.get_all_operations()]
    for operation in operations:
        for mode in MODES if operation.path != PATH else ():  # a stream that never ends
            try:
                hold(operation.as_strategy(generation_mode=mode))
            except Unsatisfiable:
                assert mode is GenerationMode.NEGATIVE, operation.label  # nothing in it could be wrong
    labels = [operation.label for operation in operations]
    wrong_methods_are_named(url, labels)
    return labels


def wrong_methods_are_named(url: str, labels: list[str]) -> None:
    """Every method that a documented address does not take."""
    for path in {label.split(" ")[1] for label in labels}:
        taken = {label.split(" ")[0] for label in labels if label.endswith(" " + path)}
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - taken:
            response = httpx.request(method, url + re.sub(r"{\w+}", "1", path), verify=False)
            assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed"), (
                method,
                path,
            )


def operation_of(found: Any) -> Any:
    """A call that the document describes, which must be one."""
    return found.ok()


def hold(cases: Any) -> None:
    """Asks and looks at the answers."""

    @seed(SEED)
    @settings(
        max_examples=CASES,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )
    @given(case=cases)
    def answers_as_documented(case: Case[Any]) -> None:
        case.validate_response(case.call(timeout=20), checks=CHECKS)

    answers_as_documented()


def asked(url: str, method: str, path: str, **said: Any) -> Any:
    """One call that makes sense, held to the document too."""
    document = schemathesis.openapi.from_url(f"{url}/openapi.json")
    case = document[path][method].Case(**said)
    response = case.call(timeout=20)
    case.validate_response(response, checks=CHECKS)
    assert response.status_code < 300, (path, response.text)
    return response.json()


def test_the_readers_answers_are_as_documented(database: str) -> None:
    with served(reader_on(database)) as url:
        assert {"GET /v1/changes", "GET /v1/context", "GET /v1/explain"} <= set(generated(url))
        kinds = {
            (subject, key): asked(url, "GET", "/v1/resolve", query={"subject": subject, "key": key})["kind"]
            for subject, key in (("ada", "k"), ("ada", "torn"), ("ada", "likes"), ("bob", "k"), ("bob", "never"))
        }
        assert list(kinds.values()) == ["value", "conflict", "values", "unknown", "unknown"]
        queries = [{"subject": subject, "key": key} for subject, key in kinds]
        asked(url, "POST", "/v1/resolve", body=queries, media_type="application/json")
        for subject, key in kinds:
            asked(url, "GET", "/v1/explain", query={"subject": subject, "key": key})
        assert len(asked(url, "GET", "/v1/facts", query={"subject": "ada"})["facts"]) == 3
        assert len(asked(url, "GET", "/v1/conflicts", query={})["conflicts"]) == 1
        assert asked(url, "GET", "/v1/context", query={"subject": "ada"})["questions"]
        for key in ("k", "torn", "likes"):
            fact_id = str(UUID(bytes=Fact("ada", key).fact_id))
            for what in ("events", "versions", "timeline"):
                found = asked(url, "GET", f"/v1/facts/{{fact_id}}/{what}", path_parameters={"fact_id": fact_id})
                assert found[what]
        with httpx.stream("GET", f"{url}{PATH}") as response:
            assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")


def test_the_writers_answers_are_as_documented() -> None:
    with served(writer) as url:
        assert {"POST /v1/events", "POST /v1/drops"} <= set(generated(url))
        one = assertion()
        for body in (one, [one, one, {**one, "key": "NOT A KEY"}]):
            asked(url, "POST", "/v1/events", body=body, media_type="application/json")
            asked(url, "POST", "/v1/events", body=body, media_type="application/json", query={"dry_run": "true"})


def test_the_reconcilers_answers_are_as_documented(database: str) -> None:
    with served(reconciler_on(database)) as url:
        assert "POST /v1/checks" in generated(url)
        found = asked(url, "GET", "/v1/checks", query={})
        assert found["checks"]
        asked(url, "GET", "/v1/checks/{run_id}", path_parameters={"run_id": found["checks"][0]["id"]})
