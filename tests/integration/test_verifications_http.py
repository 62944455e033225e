"""``/v1/verifications`` of a reconciler in a process of its own: by the commands of the page, with what differs, and after a kill."""

from __future__ import annotations

import json
import time
from typing import Any, Final

import httpx

from chronofact.postgres.verification_store import VerificationStore
from tests.integration.pages import Walk
from tests.integration.projecting import WAIT_S
from tests.integration.reading import world_on
from tests.integration.rebuild_world import ReconcilerProcess
from tests.integration.saying import Fact
from tests.integration.two_sides import asked, side_of

PAGE: Final = "operations/verify.md"
FORGED: Final = "update p2.version set value_json = '\"forged\"'"
NO_KAFKA: Final = "127.0.0.1:9"


def over(http: httpx.Client, number: int | str) -> dict[str, Any]:
    """A verification once it is at its end."""
    deadline = time.monotonic() + WAIT_S
    while (found := http.get(f"/v1/verifications/{number}").json())["state"] == "running":
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return dict(found)


def reconciler(database: str) -> ReconcilerProcess:
    return ReconcilerProcess(NO_KAFKA, "test.facts", database, check_daily_at="")


def client(service: ReconcilerProcess) -> httpx.Client:
    service.await_readyz()
    return httpx.Client(base_url=f"http://127.0.0.1:{service.port}", timeout=20)


async def test_begun_told_and_failed_with_whoever_ran_it(database: str) -> None:
    async with world_on(database) as world:
        world.tell(*(Fact(f"ada {number}").asserts(number) for number in range(3)))
        with side_of(database, world.topic), reconciler(database) as first, client(first) as http:
            as_the_page_says(first)
            told = over(http, 1)
            assert (told["state"], told["identical"], told["facts"], told["found"]) == ("finished", True, 3, [])
            assert sum(told["next_offsets"].values()) == 3
            what_differs_is_named(http, database)
            world.tell(Fact("bob").asserts("npm"))  # p2 stands still from now on
            begun = http.post("/v1/verifications", json={"left": "p1", "right": "p2"})
            assert (begun.status_code, begun.json()["state"]) == (202, "running")
            what_is_refused(http)
            await_metrics(http)
            first.kill()
        with reconciler(database) as second, client(second) as http:
            told = over(http, begun.json()["id"])
            assert (told["state"], told["failure"]["code"], told["identical"]) == ("failed", "died", None)
            stopped = http.post("/v1/verifications", json={"left": "p1", "right": "p2", "hold": "p2"}).json()["id"]
            assert second.stop() == 0
        left = VerificationStore(database).verification(int(stopped))
        assert left is not None
        assert (left.state, left.failure_code) == ("failed", "shutting_down")


def as_the_page_says(service: ReconcilerProcess) -> None:
    def here(line: str) -> str:
        return line.replace("$RECONCILER", f"http://127.0.0.1:{service.port}")

    with Walk(PAGE) as walk:
        assert json.loads(walk.step("curl", but=here))["id"] == "1"
        assert json.loads(walk.step("curl", but=here))["verifications"][0]["left"] == "p1"
        assert json.loads(walk.step("curl", but=here))["right"] == "p2"


def what_differs_is_named(http: httpx.Client, database: str) -> None:
    asked(database, FORGED)
    begun = http.post("/v1/verifications", json={"left": "p1", "right": "p2"})
    location = begun.headers["location"]
    number = location.rpartition("/")[2]
    told = over(http, number)
    assert (told["identical"], told["differences"], len(told["found"]), told["cursor"]) == (False, 3, 3, None)
    found: list[dict[str, Any]] = []
    cursor = "0"
    while cursor is not None:
        page = http.get(location, params={"limit": 2, "cursor": cursor}).json()
        found, cursor = found + page["found"], page["cursor"]
    assert found == told["found"]
    assert {one["fact"]["subject_label"] for one in found} == {"ada 0", "ada 1", "ada 2"}
    assert {(one["table"], one["left_lines"], one["right_lines"]) for one in found} == {("version", 1, 1)}
    assert all(one["left"][0] != one["right"][0] for one in found)


def what_is_refused(http: httpx.Client) -> None:
    for body, status, code in (
        ({"left": "p2", "right": "p1"}, 409, "verification_running"),
        ({"left": "p8", "right": "p9"}, 404, "projection_unknown"),
        ({"left": "p1", "right": "p1"}, 422, "field_value"),
    ):
        refused = http.post("/v1/verifications", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    assert http.get("/v1/verifications/99").status_code == 404
    first = http.get("/v1/verifications", params={"limit": 1}).json()
    rest = http.get("/v1/verifications", params={"cursor": first["cursor"]}).json()
    assert [one["id"] for one in rest["verifications"]] == ["2", "1"]


def await_metrics(http: httpx.Client) -> None:
    """Until /metrics says what was found, and where reads go."""
    wanted = {
        *(f'chronofact_verifications{{outcome="{one}"}} 1.0' for one in ("running", "identical", "different")),
        'chronofact_verification_differences{left="p1",right="p2"} 3.0',
        'chronofact_routes{of="default",projection="p1"} 1.0',
        'chronofact_route_changes{kind="switch"} 0.0',
    }
    deadline = time.monotonic() + WAIT_S
    while left := wanted - {*http.get("/metrics").text.splitlines()}:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)
