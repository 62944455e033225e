"""The reconciler's routes of routes: who may, what is refused and by which names, and that both ways do the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import UUID

import httpx
import pytest

from chronofact.domain.identity import tenant_id_of
from chronofact.postgres.route_store import RouteStore
from chronofact.reconciler.requests import Operating
from chronofact.reconciler.route_http import RouteRoutes, add_route_routes
from chronofact.runtime.auth import Role, TokenCredentials
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.metrics import Metrics
from tests.integration.reading import World, world_on
from tests.integration.saying import Fact
from tests.integration.two_sides import asked, routes, side_of, switch

TENANT = UUID(int=7)
OPERATOR, READER = "operator's token", "reader's token"


def credentials() -> TokenCredentials:
    from hashlib import sha256

    found = {OPERATOR: frozenset({Role.OPERATE}), READER: frozenset({Role.READ})}
    return TokenCredentials(
        {sha256(token.encode()).digest(): (UUID(int=1), roles, ("*",)) for token, roles in found.items()}
    )


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as made:
        made.tell(Fact("ada", tenant=TENANT).asserts("npm"))
        yield made


@pytest.fixture
def _p2(database: str, world: World) -> Iterator[None]:
    with side_of(database, world.topic):
        yield


@pytest.fixture
async def http(database: str) -> AsyncIterator[httpx.AsyncClient]:
    metrics = Metrics("reconciler")
    app = create_app("reconciler", "Routes.", health=Health(), metrics=metrics)
    add_route_routes(app, Operating(credentials(), metrics), RouteRoutes(RouteStore(database), lag_events_max=10))
    headers = {"authorization": f"Bearer {OPERATOR}"}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://reconciler", headers=headers) as client:
        yield client


@pytest.mark.usefixtures("_p2")
async def test_a_tenant_is_switched_and_goes_back(http: httpx.AsyncClient, database: str) -> None:
    done = await http.post("/v1/routes", json={"tenant": "acme", "projection": "p2", "reason": "try", "by": "me"})
    assert done.status_code == 200, done.text
    body = done.json()
    acme = str(tenant_id_of("acme"))
    assert (body["tenants"], body["projection"]) == (1, "p2")
    assert body["changes"] == [{"tenant": acme, "from": "p1", "to": "p2"}]
    listed = (await http.get("/v1/routes")).json()
    assert [(one["tenant"], one["projection"], one["by"]) for one in listed["routes"]] == [
        (None, "p1", None), (acme, "p2", "me"),
    ]  # fmt: skip
    back = await http.post("/v1/routes", json={"tenant": "acme", "rollback": True})
    assert (back.status_code, back.json()["projection"]) == (200, "p1")
    found = (await http.get("/v1/routes/changes", params={"limit": 1})).json()
    assert (found["changes"][0]["kind"], found["changes"][0]["undoes"]) == ("rollback", 1)
    rest = (await http.get("/v1/routes/changes", params={"cursor": found["cursor"]})).json()
    assert ([one["kind"] for one in rest["changes"]], rest["changes"][0]["reason"]) == (["switch"], "try")
    again = await http.post("/v1/routes", json={"tenant": "acme", "rollback": True})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "rollback_nothing")
    assert routes(database) == {None: "p1", tenant_id_of("acme"): "p1"}


@pytest.mark.usefixtures("_p2")
async def test_all_that_speaks_against_it_is_named(http: httpx.AsyncClient, database: str) -> None:
    asked(database, "update chronofact.projection set state = 'verifying', rule = 2 where name = 'p2'")
    refused = await http.post("/v1/routes", json={"all": True, "projection": "p2"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "route_not_ready")
    assert [one["code"] for one in refused.json()["refusals"]] == ["route_not_ready", "route_shadow_absent"]
    forced = await http.post("/v1/routes", json={"all": True, "projection": "p2", "force": True})
    assert (forced.status_code, forced.json()["error"]["code"]) == (422, "reason_missing")
    forced = await http.post("/v1/routes", json={"all": True, "projection": "p2", "force": True, "reason": "an outage"})
    assert forced.json()["overridden"] == ["route_not_ready", "route_shadow_absent"]
    unknown = await http.post("/v1/routes", json={"all": True, "projection": "p9"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "projection_unknown")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"projection": "p2"}, "field_missing"),
        ({"tenant": "a"}, "field_missing"),
        ({"tenant": "a", "all": True, "projection": "p2"}, "field_missing"),
        ({"tenant": "a", "projection": "p2", "rollback": True}, "field_missing"),
        ({"tenant": "a", "rollback": True, "force": True}, "field_value"),
        ({"tenant": 1, "projection": "p2"}, "field_type"),
        ({"tenants": "a", "projection": "p2"}, "field_type"),
        ({"tenants": [""], "projection": "p2"}, "field_value"),
        ({"tenant": "a", "projection": "p2", "force": 1}, "field_type"),
        ({"tenant": "a", "projecton": "p2"}, "field_unknown"),
        ({"tenant": "a", "projection": "p2", "reason": "x" * 1_001}, "field_too_long"),
        ({"tenant": "a", "projection": "p2\x00"}, "nul_character"),
    ],
)
async def test_bodies_that_are_not_as_they_must_be(http: httpx.AsyncClient, body: object, code: str) -> None:
    refused = await http.post("/v1/routes", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, code)


async def test_only_who_may_operate(http: httpx.AsyncClient) -> None:
    reader = {"authorization": f"Bearer {READER}"}
    for asking in (http.get("/v1/routes", headers=reader), http.post("/v1/routes", headers=reader, json={})):
        refused = await asking
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "role_missing")
    assert (await http.get("/v1/routes", params={"cursor": "x"})).json()["error"]["code"] == "cursor_malformed"


@pytest.mark.usefixtures("_p2")
async def test_routes_come_by_page(http: httpx.AsyncClient, database: str) -> None:
    tenants = sorted((UUID(int=number) for number in range(1, 6)), key=str)
    switch(database, "p2", *tenants)
    found, cursor = [], None
    while True:
        page = (await http.get("/v1/routes", params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        found += [one["tenant"] for one in page["routes"]]
        if (cursor := page["cursor"]) is None:
            break
    assert found == [None, *map(str, tenants)]
