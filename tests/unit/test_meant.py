"""Refusals name what was probably meant: parameters, fields, commands, kinds of scope, addresses and methods."""

from __future__ import annotations

from typing import Any, Literal

import httpx
import pytest
from fastapi import FastAPI
from pydantic import ValidationError
from starlette.datastructures import QueryParams

from chronofact.contracts.addresses import meant_address
from chronofact.contracts.commands import COMMANDS
from chronofact.contracts.meant import hint, meant
from chronofact.contracts.refusals import refusal_of
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.errors import Rejected
from chronofact.reader.questions import Asking
from chronofact.reader.requests import batch_of, parameters
from chronofact.runtime.auth import OpenCredentials
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.metrics import Metrics
from chronofact.writer.intake import is_dry_run

QUESTION = frozenset({"subject", "key", "scope", "valid_at", "as_of"})
CLAIM: dict[str, Any] = {
    "type": "assert", "subject": "ada", "key": "likes", "value": 1, "source": {"id": "chat", "text": "said"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("valid-at", "valid_at"), ("validAt", "valid_at"), ("at", "valid_at"), ("time", "valid_at"),
        ("asof", "as_of"), ("as-of", "as_of"), ("known_at", "as_of"), ("system_as_of", "as_of"),
        ("subject_id", "subject"), ("entity", "subject"), ("fact_key", "key"), ("scopes", "scope"),
        ("since", "after"), ("timeout_ms", "wait_ms"),
    ],
)  # fmt: skip
def test_an_unknown_parameter_is_refused_with_the_one_that_was_meant(said: str, ours: str) -> None:
    with pytest.raises(Rejected) as refused:
        parameters(QueryParams({said: "x"}), QUESTION)
    assert (refused.value.code, refused.value.field) == ("parameter_unknown", said)
    assert refused.value.message.endswith(f"; did you mean {ours}?")


@pytest.mark.parametrize("said", ["", "zzz", "x" * 10_000, "⟦⟧", "\x00"])
def test_what_is_near_nothing_gets_no_guess(said: str) -> None:
    assert meant(said, QUESTION) is None
    assert hint(said, QUESTION) == ""


def test_a_name_of_ours_needs_no_guess() -> None:
    assert {meant(name, QUESTION) for name in QUESTION} == {None}


@pytest.mark.parametrize(
    ("more", "field", "ours"),
    [
        ({"valid_form": "x"}, "valid_form", "valid_from"),
        ({"validTo": "x"}, "validTo", "valid_to"),
        ({"until": "x"}, "until", "valid_to"),
        ({"status": "x"}, "status", "lifecycle"),
        ({"supersedes": {"version": "x"}}, "supersedes.version", "version_id"),
        ({"supersedes": [{"version_id": "x", "effectiveAt": "x"}]}, "supersedes.effectiveAt", "effective_at"),
        ({"source": {"idd": "x", "text": "y"}}, "source.idd", "id"),
    ],
)
def test_an_unknown_field_is_refused_with_the_one_that_was_meant(more: dict[str, Any], field: str, ours: str) -> None:
    refusal = refused_command({**CLAIM, **more})
    assert (refusal.code, refusal.field) == ("field_unknown", field)
    assert refusal.message.endswith(f"; did you mean {ours}?")


def test_a_required_field_under_another_name_is_told_as_that_and_not_as_missing() -> None:
    renamed = {"subject_id" if name == "subject" else name: found for name, found in CLAIM.items()}
    refusal = refused_command(renamed)
    assert (refusal.code, refusal.field) == ("field_unknown", "subject_id")
    assert refusal.message.endswith("; did you mean subject?")
    absent = refused_command({name: found for name, found in CLAIM.items() if name != "subject"})
    assert (absent.code, absent.field) == ("field_missing", "subject")


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("asert", "assert"),
        ("FactAsserted", "assert"),
        ("retract", "revoke"),
        ("delete", "revoke"),
        ("settle", "resolve_conflict"),
    ],
)
def test_an_unknown_command_is_refused_with_the_one_that_was_meant(said: str, ours: str) -> None:
    refusal = refused_command({**CLAIM, "type": said})
    assert refusal.code == "type_unknown"
    assert refusal.message.endswith(f"; did you mean {ours}?")


def refused_command(command: dict[str, Any]) -> Rejected:
    with pytest.raises(ValidationError) as found:
        COMMANDS.validate_python(command)
    return refusal_of(found.value)


@pytest.mark.parametrize(("said", "ours"), [("repository:a/b", "repo"), ("usr:self", "user"), ("team:a", "org")])
def test_an_unknown_kind_of_scope_is_refused_with_the_one_that_was_meant(said: str, ours: str) -> None:
    with pytest.raises(Rejected) as refused:
        ScopeKinds.load().normalise(said)
    assert refused.value.code == "scope_kind_unknown"
    assert refused.value.message.endswith(f"; did you mean {ours}?")


def test_fields_of_a_batch_and_parameters_of_the_writer_are_guessed_too() -> None:
    asking = Asking(OpenCredentials().caller(None, None), ScopeKinds.load(), now=0)
    with pytest.raises(Rejected, match=r"did you mean valid_at\?"):
        asking.question({"subject": "ada", "key": "likes", "validAt": None})
    with pytest.raises(Rejected, match=r"did you mean queries\?"):
        batch_of(b'{"query":[]}')
    with pytest.raises(Rejected, match=r"did you mean dry_run\?"):
        is_dry_run(QueryParams({"dry-run": "true"}))


@pytest.mark.parametrize(
    ("said", "is_hinted"),
    [("2026-03-01T00:00:00 02:00", True), ("2026-03-01 02:00", False), ("2026-03-01T00:00:00", False), ("x", False)],
)
def test_a_plus_that_an_address_made_a_blank_is_told(said: str, *, is_hinted: bool) -> None:
    asking = Asking(OpenCredentials().caller(None, None), ScopeKinds.load(), now=0)
    with pytest.raises(Rejected) as refused:
        asking.instant(said, "valid_at")
    assert (refused.value.field, "+ is written %2B" in refused.value.message) == ("valid_at", is_hinted)


# -- addresses


@pytest.mark.parametrize(
    ("service", "method", "path", "call"),
    [
        ("reader", "GET", "/v1/resolves", "GET /v1/resolve"),
        ("reader", "POST", "/v1/resolves", "POST /v1/resolve"),
        ("reader", "GET", "/resolve", "GET /v1/resolve"),
        ("reader", "GET", "/v1/why", "GET /v1/explain"),
        ("reader", "GET", "/v1/facts/0e4c8f7e-aaaa-8bbb-8ccc-111122223333", "GET /v1/facts/{fact_id}/events"),
        ("reader", "GET", "/v1/facts/0e4c8f7e-aaaa-8bbb-8ccc-111122223333/version", "GET /v1/facts/{fact_id}/versions"),
        ("reader", "GET", "/healthz", "GET /livez"),
        ("writer", "POST", "/v1/event", "POST /v1/events"),
    ],
)  # fmt: skip
def test_an_unknown_address_is_refused_with_the_call_that_was_meant(
    service: str, method: str, path: str, call: str
) -> None:
    found = meant_address(service, method, path)
    assert found is not None
    assert (found.service, str(found)) == (service, call)


@pytest.mark.parametrize(
    ("service", "method", "path", "owner"),
    [
        ("reader", "POST", "/v1/events", "writer"),
        ("reader", "POST", "/v1/event", "writer"),
        ("writer", "GET", "/v1/resolve", "reader"),
        ("writer", "GET", "/v1/facts", "reader"),
        ("reader", "POST", "/v1/checks", "reconciler"),
    ],
)
def test_a_call_of_another_service_is_told_as_that(service: str, method: str, path: str, owner: str) -> None:
    found = meant_address(service, method, path)
    assert found is not None
    assert (found.service, found.method) == (owner, method)


@pytest.mark.parametrize("path", ["/", "/favicon.ico", "/v1/../../etc/passwd", "/" + "x" * 100_000, "/⟦⟧"])
def test_an_address_that_is_near_nothing_gets_no_guess(path: str) -> None:
    assert meant_address("reader", "GET", path) is None


def nothing() -> dict[str, str]:
    return {}


def app_of(service: Literal["reader", "writer"]) -> FastAPI:
    app = create_app(service, "A test.", health=Health(), metrics=Metrics(service))
    app.add_api_route("/v1/resolve", nothing, methods=["GET"])
    app.add_api_route("/v1/resolve", nothing, methods=["POST"])
    app.add_api_route("/v1/explain", nothing, methods=["GET"])
    return app


async def refusal_of_call(service: Literal["reader", "writer"], method: str, path: str) -> tuple[int, str, str | None]:
    transport = httpx.ASGITransport(app_of(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        response = await client.request(method, path)
    return response.status_code, response.json()["error"]["message"], response.headers.get("allow")


@pytest.mark.parametrize(("path", "status"), [("/livez", 200), ("/readyz", 503)])
async def test_who_only_wants_the_status_of_health_may_ask_by_head(path: str, status: int) -> None:
    app = create_app("reader", "A test.", health=Health("log"), metrics=Metrics("reader"))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        assert (await client.head(path)).status_code == status
        assert set((await client.get("/openapi.json")).json()["paths"][path]) == {"get"}


async def test_refusals_over_http_name_the_call_and_the_methods() -> None:
    assert await refusal_of_call("reader", "GET", "/v1/resolves") == (
        404, "no such address; did you mean GET /v1/resolve? /docs lists them", None
    )  # fmt: skip
    assert await refusal_of_call("writer", "GET", "/v1/facts") == (
        404, "no such address; did you mean GET /v1/facts of the reader? /docs lists them", None
    )  # fmt: skip
    assert await refusal_of_call("reader", "GET", "/v1/resolve/") == (
        404, "no such address; did you mean GET /v1/resolve? /docs lists them", None
    )  # fmt: skip
    assert await refusal_of_call("reader", "GET", "/nothing/here") == (404, "no such address; /docs lists them", None)
    assert await refusal_of_call("reader", "POST", "/v1/explain") == (
        405, "the address takes GET; facts are said by POST /v1/events of the writer", "GET"
    )  # fmt: skip
    assert await refusal_of_call("writer", "DELETE", "/v1/resolve") == (
        405, "the address takes GET and POST; /docs lists them", "GET, POST"
    )  # fmt: skip
