"""Every read, with what can't be asked: refused by code and field, and never with anything of another tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from itertools import product
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
import orjson
import pytest

from chronofact.contracts.position import Position
from chronofact.domain.events import Verdict
from chronofact.domain.identity import tenant_id_of
from chronofact.reader.descriptions import CALLS, Call
from chronofact.runtime.auth import Role, TokenCredentials
from tests.integration.reading import World, world_on
from tests.integration.saying import Fact
from tests.integration.texts import Remembered

FACT = Fact("ada", "k")
GIVEN = {"subject": "ada", "key": "k", "fact_id": str(UUID(bytes=FACT.fact_id))}
ONE_OF = {"/v1/relations": ("version_id", "subject")}
"""Calls that need one of these; the last is asked for where none is."""
READS = [call for call in CALLS if call.method == "GET"]
JSON = {"content-type": "application/json"}
MINE, THEIRS = "mine", "theirs"
SECRET = "a secret of theirs"
MISSING = "missing"
EARLIEST, LATEST = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
OTHER_TOPIC = Position(bytes(range(1, 17)), {0: 1}).encode()
BAD_IN_ANY = {
    "%FF": "encoding_not_utf8",
    "a%C3%28": "encoding_not_utf8",
    "%ED%A0%80": "encoding_not_utf8",  # a surrogate, as UTF-8 would spell it
}
BAD = {
    "valid_at": ("yesterday", "10000-01-01T00:00:00Z", "0000-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00"),
    "as_of": ("0001-01-01T00:00:00%2B00:01", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00", "%00"),
    "limit": ("0", "-1", "1000000", "ten", "1.5", "", "٣"),
    "budget": ("0", "1000000", "many"),
    "wait_ms": ("-1", "30001", "1000000", "soon", ""),
    "cursor": ("nowhere", "WzFd", "", "%00", "gQ"),
    "after": ("soon", "AA", "%00", OTHER_TOPIC),
    "subject": ("", "%00", "a" * 513),
    "key": ("%00", "A B"),
    "scope": ("planet:mars", "%00", "", "repo:", "user:" + "x" * 600),
    "prefix": ("%00", "ü", "a" * 201),
    "relation": ("OPENED", "", "%00"),
    "category": ("", "%00", "A B", "a" * 201),
    "query": ("", "%20", "%00", "a" * 2_001),
    "include": ("all", "", "%00", "merged&include=all"),
    "fact_id": ("ada", "%00", "{" + GIVEN["fact_id"] + "}"),
    "version_id": ("ada", "%00", "1"),
}
REPEATED = {"scope", "include"}


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as made:
        made.tell(FACT.asserts("npm"), FACT.asserts("pnpm"))
        yield made


def names_of(call: Call) -> list[str]:
    return [*call.needed, *call.optional, "after", "wait_ms"]


def address(call: Call, **instead: str) -> str:
    """The call as it may be asked, but for some parameters, which go in as they are spelled."""
    said = {name: quote(GIVEN[name], safe="") for name in call.needed if name in GIVEN} | instead
    one_of = ONE_OF.get(call.path, ())
    if one_of and not said.keys() & {*one_of}:
        said[one_of[-1]] = GIVEN[one_of[-1]]
    path = call.path.replace("{fact_id}", said.pop("fact_id")) if "{fact_id}" in call.path else call.path
    return path + "?" + "&".join(f"{name}={spelled}" for name, spelled in said.items() if spelled != MISSING)


def refused() -> Iterator[tuple[str, str, str | None]]:
    """Addresses with the parameter that is wrong, and its code where that is the same for all."""
    for call in READS:
        for name in names_of(call):
            if f"{{{name}}}" in call.path:
                continue
            for spelled, code in BAD_IN_ANY.items():
                yield address(call, **{name: spelled}), name, code
            for spelled in BAD[name]:
                yield address(call, **{name: spelled}), name, None
            if name not in REPEATED:
                twice = GIVEN.get(name, "1")
                yield address(call, **{name: f"{twice}&{name}={twice}"}), name, "parameter_malformed"
        yield address(call, **{"%FF": "1"}), "%FF", "encoding_not_utf8"
        yield address(call, colour="blue"), "colour", "parameter_unknown"
        for name in call.needed:
            if f"{{{name}}}" not in call.path:
                yield address(call, **{name: MISSING}), name, "parameter_missing"
        if call.path in ONE_OF:
            first, *others = ONE_OF[call.path]
            yield address(call, **dict.fromkeys(others, MISSING)), first, "parameter_missing"


async def test_every_parameter_of_every_read_is_refused_by_name(world: World) -> None:
    wrong: list[tuple[Any, ...]] = []
    count = 0
    for path, name, code in refused():
        response = await world.http.get(path)
        count += 1
        if not 400 <= response.status_code < 500:
            wrong.append((path, response.status_code))
            continue
        error = response.json()["error"]
        named = {name, "%FF", None} if name == "%FF" else {name}
        if (code is not None and error["code"] != code) or error["field"] not in named:
            wrong.append((path, error["code"], error["field"]))
    assert wrong == []
    assert count > 200


async def test_the_ends_of_time_are_instants_like_others(world: World) -> None:
    for call in READS:
        for name in {"valid_at", "as_of"} & set(call.optional):
            for instant in (EARLIEST, LATEST, "9999-12-31T23:59:59.9999999999Z"):
                response = await world.http.get(address(call, **{name: instant}))
                assert response.status_code == 200, (call.path, name, instant, response.text)
    for instant in (EARLIEST, LATEST):
        asked = [{"subject": "ada", "key": "k", "valid_at": instant, "as_of": instant}]
        assert (await world.ask(asked))["answers"][0]["valid_at"] == instant


async def test_wrong_methods_are_named(world: World) -> None:
    for call in CALLS:
        path = address(call)
        for method in {"DELETE", "PUT", "PATCH", "POST"} - {one.method for one in CALLS if one.path == call.path}:
            response = await world.http.request(method, path)
            assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed"), path


BODIES: list[tuple[bytes, str, str | None, int | None]] = [
    (b'[{"subject":"ada","subject":"bob","key":"k"}]', "json_key_repeated", "subject", 0),
    (b'[{"subject":"ada","key":"k"},{"key":"k","key":"l","subject":"ada"}]', "json_key_repeated", "key", 1),
    (b'[{"subject":"a","key":"k","s\\u0063ope":"user:self","scope":"user:self"}]', "json_key_repeated", "scope", 0),
    (b'[{"subject":"a\\u003ab","key":"k","key":"k"}]', "json_key_repeated", "key", 0),
    (b'{"queries":[],"queries":[]}', "json_key_repeated", "queries", None),
    (b'{"queries":[],"wait_ms":1,"wait_ms":2}', "json_key_repeated", "wait_ms", None),
    (b'[{"subject":"\\ud800","key":"k"}]', "surrogate_lone", "subject", 0),
    (b'[{"subject":"ada","key":"\\udfff"}]', "key_malformed", "key", 0),
    (b'[{"subject":"ada","key":"k","scope":"repo:\\ud800"}]', "surrogate_lone", "scope", 0),
    (b'[{"subject":"ada","key":"k","valid_at":"\\ud800"}]', "instant_malformed", "valid_at", 0),
    (b'{"queries":[],"after":"\\ud800"}', "position_malformed", "after", None),
    (b'[{"subject":"a\\u0000","key":"k"}]', "nul_character", "subject", 0),
    (b'[{"subject":"ada","key":"k\\u0000"}]', "key_malformed", "key", 0),
    (b'[{"subject":"ada","key":"k","as_of":"10000-01-01T00:00:00Z"}]', "instant_malformed", "as_of", 0),
    (b'[{"subject":"ada","key":"k","valid_at":NaN}]', "number_not_finite", None, None),
    (b'{"queries":[],"wait_ms":1e400}', "parameter_malformed", "wait_ms", None),
    (b'{"queries":[],"wait_ms":' + b"9" * 5_000 + b"}", "parameter_malformed", "wait_ms", None),
    (b'[{"subject":"\xff","key":"k"}]', "encoding_not_utf8", None, None),
    (b"[" * 2_000 + b"]" * 2_000, "nesting_too_deep", None, None),
    (b"[" * 300_000, "nesting_too_deep", None, None),
    (b"[" + b"[]," * 500_000 + b"[]]", "body_too_large", None, None),
    (b"[" + b'{"subject":"ada","key":"k"},' * 10_000 + b'{"subject":"ada","key":"k"}]', "queries_too_many", "queries", None),
    (b'"' + b"x" * (17 * 2**20) + b'"', "body_too_large", None, None),
]  # fmt: skip


async def test_bodies_that_say_something_in_silence_are_refused_by_name(world: World) -> None:
    for body, code, field, index in BODIES:
        response = await world.http.post("/v1/resolve", content=body, headers=JSON)
        assert 400 <= response.status_code < 500, body[:60]
        error = response.json()["error"]
        assert (error["code"], error["field"], error["index"]) == (code, field, index), body[:60]


async def test_colons_in_texts_are_not_taken_for_repeated_keys(world: World) -> None:
    asked = [{"subject": "a:b::c", "key": "k", "scope": ["repo:acme/web", "user:self"]}]
    for spelled in (orjson.dumps(asked), orjson.dumps(asked).replace(b"a:b", b"a\\u003ab")):
        response = await world.http.post("/v1/resolve", content=spelled, headers=JSON)
        assert response.json()["answers"][0]["fact"]["subject"] == "a:b::c"


async def test_a_service_names_its_tenant(database: str) -> None:
    tokens = {sha256(b"job").digest(): (None, frozenset({Role.SERVICE, Role.READ}), ("*",))}
    async with world_on(database, credentials=TokenCredentials(tokens)) as world:
        for call in READS:
            response = await world.http.get(address(call), headers={"authorization": "Bearer job"})
            error = response.json()["error"]
            assert (response.status_code, error["code"], error["field"]) == (400, "parameter_missing", "X-Tenant-Id")
            response = await world.http.get(address(call), headers={"authorization": "Bearer job", "x-tenant-id": ""})
            assert (response.status_code, response.json()["error"]["field"]) == (400, "X-Tenant-Id")


async def test_ids_and_cursors_of_another_tenant_open_nothing(database: str) -> None:
    async with world_on(database) as world:
        own = Fact("ada", "k", tenant=tenant_id_of(MINE))
        foreign = [Fact("ada", f"k{at}", tenant=tenant_id_of(THEIRS)) for at in range(3)]
        said = [fact.asserts(SECRET + str(at)) for fact in foreign for at in range(3)]
        said.append(foreign[0].asserts(SECRET, "2026-06-01T00:00:00Z"))
        theirs = Remembered("ada", tenant=tenant_id_of(THEIRS))
        texts = [theirs.says_that(f"{SECRET} {at}") for at in range(3)]
        related = [theirs.declares(Verdict.UNRELATED, texts[0], other) for other in texts[1:]]
        position = world.tell(own.asserts("mine"), *said, *texts, *related, theirs.checked(texts[0]))
        fact_ids, version_ids = [foreign[0].fact_id, theirs.fact_id], [said[0].version_id, texts[0].version_id]
        known = [*product(["fact_id"], fact_ids), *product(["version_id"], version_ids)]
        cursors = await cursors_of(world, str(UUID(bytes=foreign[0].fact_id)))
        assert len(cursors) == sum("cursor" in call.optional for call in READS)
        unknown = "00000000-0000-4000-8000-000000000000"
        for call in READS:
            names = names_of(call)
            plain = {name: given for name, given in GIVEN.items() if name in call.needed}
            for named, id_bytes in known:
                if named in names:
                    asked = {**plain, "after": position, "wait_ms": "0"}  # an unknown memory is waited for
                    found, nothing = [
                        await mine(world, call, {**asked, named: one}) for one in (str(UUID(bytes=id_bytes)), unknown)
                    ]
                    assert found == nothing, call.path
            for cursor in cursors if "cursor" in names else ():
                asked = {**plain, "cursor": cursor}
                if named_in_path(call):
                    asked["fact_id"] = str(UUID(bytes=own.fact_id))
                status, body = await mine(world, call, asked)
                assert status < 500, (call.path, body)
                assert SECRET not in orjson.dumps(body).decode()


def named_in_path(call: Call) -> bool:
    return "{fact_id}" in call.path


async def cursors_of(world: World, fact_id: str) -> list[str]:
    """Where pages of theirs end."""
    found = []
    for call in READS:
        if "cursor" in call.optional:
            asked = {name: given for name, given in GIVEN.items() if name in call.needed}
            if named_in_path(call):
                asked["fact_id"] = fact_id
            limit = {"budget": "100"} if "budget" in call.optional else {"limit": "1"}
            response = await world.http.get(address(call, **{**asked, **limit}), headers={"x-tenant-id": THEIRS})
            assert response.status_code == 200, response.text
            found.append(response.json().get("cursor"))
    return [one for one in found if one is not None]


async def mine(world: World, call: Call, asked: dict[str, str]) -> tuple[int, Any]:
    """Status and body, but for how fresh it is."""
    response: httpx.Response = await world.http.get(address(call, **asked), headers={"x-tenant-id": MINE})
    body = response.json()
    body.pop("freshness", None)
    return response.status_code, body
