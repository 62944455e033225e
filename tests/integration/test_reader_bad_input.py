"""What can't be asked is refused by field and code, and nothing that is sent makes the reader fail."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.runtime.auth import TokenCredentials
from tests.integration.reading import ScopedFact, World, world_on
from tests.integration.saying import Fact

PLAIN = {"subject": "ada", "key": "k"}
BAD_PARAMETERS: list[tuple[dict[str, Any], int, str, str]] = [
    ({"subject": "ada"}, 400, "parameter_missing", "key"),
    ({"key": "k"}, 400, "parameter_missing", "subject"),
    ({**PLAIN, "colour": "blue"}, 400, "parameter_unknown", "colour"),
    ({**PLAIN, "key": ["k", "l"]}, 400, "parameter_malformed", "key"),
    ({**PLAIN, "subject": ""}, 422, "field_empty", "subject"),
    ({**PLAIN, "subject": "a\x00"}, 422, "nul_character", "subject"),
    ({**PLAIN, "subject": "a" * 513}, 422, "field_too_long", "subject"),
    ({**PLAIN, "key": ""}, 422, "key_empty", "key"),
    ({**PLAIN, "key": "A B"}, 422, "key_malformed", "key"),
    ({**PLAIN, "key": "k" * 201}, 422, "key_too_long", "key"),
    ({**PLAIN, "scope": "planet:mars"}, 422, "scope_kind_unknown", "scope"),
    ({**PLAIN, "scope": "mars"}, 422, "scope_kind_unknown", "scope"),
    ({**PLAIN, "scope": ["user:self"] * 17}, 422, "field_value", "scope"),
    ({**PLAIN, "valid_at": "2026-07-01T00:00:00"}, 422, "offset_missing", "valid_at"),
    ({**PLAIN, "valid_at": "yesterday"}, 422, "instant_malformed", "valid_at"),
    ({**PLAIN, "as_of": "2026-12-31T23:59:60Z"}, 422, "leap_second", "as_of"),
    ({**PLAIN, "as_of": "0000-01-01T00:00:00Z"}, 422, "year_out_of_range", "as_of"),
    ({**PLAIN, "as_of": "2" * 100}, 422, "instant_malformed", "as_of"),
    ({**PLAIN, "after": "soon"}, 400, "position_malformed", "after"),
    ({**PLAIN, "wait_ms": "30001"}, 400, "parameter_malformed", "wait_ms"),
    ({**PLAIN, "wait_ms": "-1"}, 400, "parameter_malformed", "wait_ms"),
    ({**PLAIN, "wait_ms": "soon"}, 400, "parameter_malformed", "wait_ms"),
]
BAD_BODIES = [
    (b"", 400, "body_empty"),
    (b"[", 400, "json_malformed"),
    (b'["\xff"]', 400, "encoding_not_utf8"),
    (b'"ada"', 422, "field_type"),
    (b"{}", 422, "field_type"),
    (b'{"queries":[],"colour":1}', 422, "field_unknown"),
    (b'{"queries":[],"after":1}', 400, "position_malformed"),
    (b'{"queries":[],"wait_ms":true}', 400, "parameter_malformed"),
    (b"[1]", 422, "field_type"),
    (b'[{"subject":"ada"}]', 422, "field_missing"),
    (b'[{"subject":1,"key":"k"}]', 422, "field_type"),
    (b'[{"subject":"ada","key":"k","colour":1}]', 422, "field_unknown"),
    (b'[{"subject":"ada","key":"k","scope":[]}]', 422, "field_value"),
    (b'[{"subject":"ada","key":"k","scope":[1]}]', 422, "field_type"),
    (b'[{"subject":"ada","key":"k","valid_at":7}]', 422, "field_type"),
    (b'[{"subject":"ada","key":"k","valid_at":"2026-01-01"}]', 422, "instant_malformed"),
    (b"[" + b",".join([b'{"subject":"ada","key":"k"}'] * 10_001) + b"]", 413, "queries_too_many"),
]
BAD_LISTS: list[tuple[str, dict[str, str], str]] = [
    ("/v1/facts", {}, "parameter_missing"),
    ("/v1/facts", {"subject": "ada", "limit": "0"}, "parameter_malformed"),
    ("/v1/facts", {"subject": "ada", "limit": "1001"}, "parameter_malformed"),
    ("/v1/facts", {"subject": "ada", "cursor": "nowhere"}, "cursor_malformed"),
    ("/v1/facts", {"subject": "ada", "cursor": "WzFd"}, "cursor_malformed"),
    ("/v1/facts", {"subject": "ada", "prefix": "\x00"}, "parameter_malformed"),
    ("/v1/facts/ada/events", {}, "id_malformed"),
    ("/v1/facts/00000000-0000-0000-0000-000000000000/events", {}, "not_found"),
    ("/v1/facts/00000000-0000-0000-0000-000000000000/events", {"cursor": "WyJhIl0"}, "cursor_malformed"),
    ("/v1/facts/00000000-0000-0000-0000-000000000000/nothing", {}, "not_found"),
    ("/v1/conflicts", {"relation": "OPENED"}, "parameter_malformed"),
    ("/v1/conflicts", {"version_id": "ada"}, "id_malformed"),
    ("/v1/explain", {"key": "likes"}, "parameter_missing"),
    ("/v1/explain", {"subject": "ada", "key": "likes", "scope": "planet:mars"}, "scope_kind_unknown"),
    ("/v1/explain", {"subject": "ada", "key": "likes", "as_of": "0000-01-01T00:00:00Z"}, "year_out_of_range"),
    ("/v1/explain", {"subject": "ada", "key": "likes", "limit": "5"}, "parameter_unknown"),
    ("/v1/context", {}, "parameter_missing"),
    ("/v1/context", {"subject": ""}, "field_empty"),
    ("/v1/context", {"subject": "ada", "scope": "planet:mars"}, "scope_kind_unknown"),
    ("/v1/context", {"subject": "ada", "budget": "0"}, "parameter_malformed"),
    ("/v1/context", {"subject": "ada", "budget": "1000000"}, "parameter_malformed"),
    ("/v1/context", {"subject": "ada", "prefix": "\x00"}, "parameter_malformed"),
    ("/v1/context", {"subject": "ada", "valid_at": "10000-01-01T00:00:00Z"}, "instant_malformed"),
    ("/v1/context", {"subject": "ada", "as_of": "0000-01-01T00:00:00Z"}, "year_out_of_range"),
    ("/v1/context", {"subject": "ada", "cursor": "nowhere"}, "cursor_malformed"),
    ("/v1/context", {"subject": "ada", "limit": "5"}, "parameter_unknown"),
    ("/v1/conflicts", {"fact_id": "ada"}, "id_malformed"),
    ("/v1/conflicts", {"key": "\x00"}, "key_malformed"),
    ("/v1/conflicts", {"cursor": "WzEsImEiLCJiIl0"}, "cursor_malformed"),
]


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as world:
        yield world


async def test_bad_parameters_are_named(world: World) -> None:
    for parameters, status, code, field in BAD_PARAMETERS:
        error = await world.refusal("/v1/resolve", status, **parameters)
        assert (error["code"], error["field"]) == (code, field), parameters


async def test_bad_bodies_are_named(world: World) -> None:
    for body, status, code in BAD_BODIES:
        response = await world.http.post("/v1/resolve", content=body, headers={"content-type": "application/json"})
        assert (response.status_code, response.json()["error"]["code"]) == (status, code), body[:60]


async def test_a_bad_query_is_named_by_its_index(world: World) -> None:
    error = (await world.ask([PLAIN, PLAIN, {**PLAIN, "key": "K"}], 422))["error"]
    assert (error["code"], error["field"], error["index"]) == ("key_malformed", "key", 2)


async def test_bad_lists_are_named(world: World) -> None:
    for path, parameters, code in BAD_LISTS:
        response = await world.http.get(path, params=parameters)
        assert 400 <= response.status_code < 500, path
        assert response.json()["error"]["code"] == code, (path, parameters)


async def test_other_types_encodings_and_sizes_are_named(world: World) -> None:
    for headers, code in (
        ({"content-type": "text/plain"}, "content_type_unsupported"),
        ({"content-type": "application/json", "content-encoding": "gzip"}, "content_encoding_unsupported"),
    ):
        response = await world.http.post("/v1/resolve", content=b"[]", headers=headers)
        assert (response.status_code, response.json()["error"]["code"]) == (415, code)
    huge = b"[" + b" " * (16 * 2**20) + b"]"
    response = await world.http.post("/v1/resolve", content=huge, headers={"content-type": "application/json"})
    assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")


async def test_nothing_asked_is_answered_with_nothing(world: World) -> None:
    assert (await world.ask([]))["answers"] == []


def test_whatever_is_sent_the_reader_does_not_fail(database: str) -> None:
    texts = st.text(max_size=20) | st.sampled_from(["ada", "k", "user:self", "2026-01-01T00:00:00Z", "repo:a/b", "10"])
    names = st.sampled_from(
        [
            "subject",
            "key",
            "scope",
            "valid_at",
            "as_of",
            "after",
            "wait_ms",
            "cursor",
            "limit",
            "prefix",
            "relation",
            "fact_id",
            "version_id",
            "budget",
            "category",
            "query",
            "include",
            "nothing",
        ]
    )
    lists = ["/v1/facts", "/v1/conflicts", "/v1/context", "/v1/memories", "/v1/relations"]
    paths = st.sampled_from(["/v1/resolve", "/v1/explain", *lists]) | st.builds(
        "/v1/facts/{}/{}".format,
        st.sampled_from(["00000000-0000-0000-0000-000000000000", "x", "%00", "ü"]),
        st.sampled_from(["events", "versions", "timeline"]),
    )
    json = st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | texts, inner, max_size=4),
        max_leaves=8,
    )
    queries = st.fixed_dictionaries(
        {"subject": texts, "key": texts}, optional={"scope": json, "valid_at": json, "as_of": json}
    )

    async def run() -> None:
        async with world_on(database) as world:
            world.tell(Fact("ada", "k").asserts("npm"))

            @settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
            @given(
                paths, st.lists(st.tuples(names, texts), max_size=5), json | st.lists(queries, max_size=3), st.data()
            )
            def fails_never(path: str, parameters: list[tuple[str, str]], body: Any, data: st.DataObject) -> None:
                pending.append((path, parameters, body, data.draw(st.binary(max_size=20))))

            pending: list[tuple[str, list[tuple[str, str]], Any, bytes]] = []
            fails_never()
            for path, parameters, body, raw in pending:
                safe = httpx.QueryParams([(name, text.encode(errors="replace").decode()) for name, text in parameters])
                response = await world.http.get(path, params=safe)
                assert response.status_code < 500, (path, safe, response.text)
                for content in (spelled(body), raw):
                    response = await world.http.post("/v1/resolve", content=content, headers=JSON)
                    assert response.status_code < 500, (content, response.text)

    asyncio.run(run())


JSON = {"content-type": "application/json"}


def spelled(body: Any) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:
        return b"null"


# -- credentials

TOKENS = """
[[tokens]]
sha256 = "{all}"
tenant = "acme"
roles = ["read"]

[[tokens]]
sha256 = "{web}"
tenant = "acme"
roles = ["read"]
scopes = ["repo:acme/*"]

[[tokens]]
sha256 = "{writes}"
tenant = "acme"
roles = ["write"]
"""


async def test_tokens_say_who_may_read_what(database: str, tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(TOKENS.format(**{name: sha256(name.encode()).hexdigest() for name in ("all", "web", "writes")}))
    credentials = TokenCredentials.load(file, normalise_scope=ScopeKinds.load().pattern)
    async with world_on(database, credentials=credentials) as world:
        web = ScopedFact("ada", ("repo", "acme/web"))
        world.tell(web.asserts("pnpm"), Fact("ada").asserts("npm"))

        async def status(path: str, token: str | None, **parameters: str) -> tuple[int, str | None]:
            headers = {} if token is None else {"authorization": f"Bearer {token}"}
            response: httpx.Response = await world.http.get(path, params=parameters, headers=headers)
            return response.status_code, response.json().get("error", {}).get("code")

        asked = {"subject": "ada", "key": "package_manager"}
        assert await status("/v1/resolve", None, **asked) == (401, "token_missing")
        assert await status("/v1/resolve", "other", **asked) == (401, "token_unknown")
        assert await status("/v1/resolve", "writes", **asked) == (403, "role_missing")
        assert await status("/v1/resolve", "all", **asked) == (200, None)
        assert await status("/v1/resolve", "web", **asked) == (422, "scope_not_covered")
        assert await status("/v1/resolve", "web", **asked, scope="repo:acme/web") == (200, None)


async def test_lists_hold_only_what_the_credential_covers(database: str, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    hashed = sha256(b"web").hexdigest()
    tenant = "acme"
    file.write_bytes(
        orjson.dumps({"tokens": [{"sha256": hashed, "tenant": tenant, "roles": ["read"], "scopes": ["repo:acme/*"]}]})
    )
    credentials = TokenCredentials.load(file, normalise_scope=ScopeKinds.load().pattern)
    async with world_on(database, credentials=credentials) as world:
        caller = credentials.caller("Bearer web", None)
        inside = ScopedFact("ada", ("repo", "acme/web"), tenant=caller.tenant_id)
        outside = ScopedFact("ada", ("repo", "other/web"), tenant=caller.tenant_id)
        for fact in (inside, outside):
            world.tell(fact.asserts("npm"), fact.asserts("pnpm"))
        world.http.headers["authorization"] = "Bearer web"
        assert [one["fact"]["scope"] for one in (await world.get("/v1/facts", subject="ada"))["facts"]] == [
            "repo:acme/web"
        ]
        assert [one["fact"]["scope"] for one in (await world.get("/v1/conflicts"))["conflicts"]] == ["repo:acme/web"]
        await world.get(f"/v1/facts/{inside.id_text}/events")
        assert (await world.refusal(f"/v1/facts/{outside.id_text}/events", 404))["code"] == "not_found"
