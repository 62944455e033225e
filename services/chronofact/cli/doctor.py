"""`chronofact doctor`: every start-up check, and what helps."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.cli.doctor_projection import Surroundings
    from chronofact.contracts.topics import Topic
    from chronofact.embedded.checks import Check
    from chronofact.kafka.replicas import Replicas
    from chronofact.runtime.config import Settings
    from chronofact.runtime.failures import Unfit

DEFAULT_DATA = Path(".chronofact")
SERVICES = ("writer", "projector", "reader", "reconciler", "adjudicator")
STARTED_LAST, YOUNG_S, YOUNG_PAUSE_S = ("adjudicator",), 15.0, 0.3
"""Of a stack that is so young, these are waited for."""
LOOK_TIMEOUT_S = 3.0
LAG_MAX_S = 30.0
LEAVINGS_TOLD, LEFT_LATELY_S = 2, 120.0
"""A service that left so often, and the last time so lately, is not well however ready it just is."""
_AWAY = "a stack that is up starts it again in seconds; else chronofact up, or set CHRONOFACT_{}"


def register(app: typer.Typer) -> None:
    """Adds the commands of this module."""
    app.command("doctor", rich_help_panel="Stack")(doctor)


def doctor(
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Folder of the stack to look at.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON.")] = False,
) -> None:
    """Look at all that a stack needs, on this machine and of the servers and services; say what helps.

    Ends with 1 when a check failed and with 3 when a service can't be reached, or nothing runs.

    Without --data and CHRONOFACT_* it looks at the stack in ./.chronofact, if one runs there.
    """
    checks = list(_checks(data))
    if as_json:
        print(orjson.dumps({"checks": [_told(check) for check in checks]}).decode())
    else:
        _show(checks)
    states = [check.state for check in checks]
    is_up = all(check.name != "stack" for check in checks)
    if "failed" in states and not (is_up and "unreachable" in states):
        raise typer.Exit(ExitCode.FAILED)
    if "unreachable" in states:
        raise typer.Exit(ExitCode.UNREACHABLE)


def _checks(data: Path | None) -> Iterator[Check]:
    from chronofact.cli.doctor_projection import projection_checks
    from chronofact.cli.doctor_texts import text_check
    from chronofact.cli.options import under_way
    from chronofact.embedded.checks import Check, machine_checks
    from chronofact.embedded.folder import DataFolder

    folder = DataFolder(data or DEFAULT_DATA)
    yield from machine_checks(folder.path)
    yield text_check()
    try:
        addresses, settings = _addresses(folder.read("stack.json"))
    except Failure as failure:
        yield Check("configuration", "failed", failure.message)
        return
    if not addresses:
        start = f"chronofact up{f' --data {folder.path}' if data else ''}"
        yield Check("stack", "unreachable", *(under_way(folder.path) or (f"nothing runs in {folder.path}", start)))
        return
    if "pid" in addresses and not folder.is_taken():
        gone = f"process {addresses['pid']}, which ran the stack in {folder.path}, has left without stopping it"
        yield Check("stack", "unreachable", gone, f"chronofact up --data {folder.path}; its data are kept")
    left = folder.read("services.json") if folder.is_taken() else {}
    yield with_leavings(
        _kafka(addresses.get("kafka"), settings, _facts(addresses, settings)), left.get("kafka"), time.time()
    )
    yield with_leavings(_postgres(addresses.get("postgres")), left.get("postgres"), time.time())
    yield from projection_checks(_surroundings(addresses, settings))
    for name, address in _services(addresses):
        check = _service(name, address)
        # what a stack does not wait for may still be starting
        while check.state in {"failed", "unreachable"} and name in STARTED_LAST and _is_young(folder.stack_file):
            time.sleep(YOUNG_PAUSE_S)
            check = _service(name, address)
        yield with_leavings(check, left.get(name), time.time())


def _is_young(stack_file: Path) -> bool:
    return stack_file.exists() and time.time() - stack_file.stat().st_mtime < YOUNG_S


def _surroundings(addresses: dict[str, Any], settings: Settings) -> Surroundings:
    from chronofact.cli.doctor_projection import Surroundings

    return Surroundings(
        kafka=addresses.get("kafka") or "",
        postgres=addresses.get("postgres") or "",
        facts=_facts(addresses, settings),
        kafka_options=settings.kafka_options,
        fed=addresses.get("projection") or settings.projection,
        is_stack="pid" in addresses,
        feeds=frozenset(filter(None, settings.feeds.split(","))),
    )


def _facts(addresses: dict[str, Any], settings: Settings) -> Topic:
    """The facts topic: as configured, else of the running stack."""
    from chronofact.contracts.topics import facts_topic

    configured = facts_topic(settings.facts_topic, settings.facts_partitions)
    if "facts_topic" in settings.model_fields_set or "facts_topic" not in addresses:
        return configured
    return facts_topic(addresses["facts_topic"], addresses.get("facts_partitions", configured.partitions))


def _services(addresses: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Each service by name, every projector among them."""
    for name in SERVICES:
        yield name, addresses.get(name)
        if name == "projector":
            for number, address in enumerate(addresses.get("projectors", [])[1:], 2):
                yield f"projector-{number}", address


def with_leavings(check: Check, left: dict[str, Any] | None, now_s: float) -> Check:
    """The same, with how often the service left by itself since the stack is up, and what it said the last time."""
    if not left:
        return check
    times = counted(left["left"], "time")
    last = f"; last: {left['last']}" if left["last"] else ""
    told = f"{check.detail}; left {times} with code {left['code']}{last}"
    is_again = left["left"] >= LEAVINGS_TOLD and now_s - left["at_s"] < LEFT_LATELY_S
    if check.state == "ok" and not is_again:
        return replace(check, detail=told)
    helps = "docs/operations/parked.md" if "ParkingLimit" in left["last"] else f"logs/{check.name}.log"
    remedies = {"unreachable": "the stack starts it again; ", "failed": f"{check.remedy}; " if check.remedy else ""}
    remedy = f"{remedies.get(check.state, '')}see {helps}"
    return replace(check, detail=told, remedy=remedy, state="failed" if check.state == "ok" else check.state)


def _addresses(stack: dict[str, Any]) -> tuple[dict[str, Any], Settings]:
    """Of the running stack, with what the environment says on top; empty when neither says anything."""
    from chronofact.cli.options import configured, read_settings

    settings = read_settings()
    given: dict[str, str] = {}
    if "CHRONOFACT_KAFKA" in os.environ:
        given["kafka"] = settings.kafka
    if "CHRONOFACT_POSTGRES" in os.environ:
        given["postgres"] = settings.postgres.get_secret_value()
    if given and not stack:
        given |= configured() | {"projector": f"{settings.projector_host}:{settings.projector_port}"}
    return {**stack, **given}, settings


def _kafka(bootstrap: str | None, settings: Settings, topic: Topic) -> Check:
    from chronofact.embedded.checks import Check
    from chronofact.kafka.admin import Admin, faults
    from chronofact.kafka.replicas import replicas
    from chronofact.runtime.failures import Transient, Unfit

    admin = Admin(bootstrap or "", timeout_s=LOOK_TIMEOUT_S, options=settings.kafka_options)
    try:
        found = list(faults(topic, admin.state(topic)))
        copies = None if found else replicas(bootstrap or "", topic.name, options=settings.kafka_options)
    except Transient as failure:
        return Check("kafka", "unreachable", f"{failure} at {bootstrap}", _AWAY.format("KAFKA"))
    except Unfit as failure:
        found = [failure]
    if found:
        return Check("kafka", "failed", "; ".join(map(_bare, found)), found[0].remedy)
    return copies_told(f"{bootstrap}, topic {topic.name} is as it must be", copies)


def copies_told(told: str, copies: Replicas | None) -> Check:
    """Whether each partition has the copies in sync that it is to have."""
    from chronofact.embedded.checks import Check

    if copies is None or not copies.lacking:
        return Check("kafka", "ok", told)
    lacking = f"{copies.lacking} of its {copies.partitions} partitions have fewer copies in sync than they are to have"
    return Check("kafka", "failed", f"{told}, but {lacking}", "is a broker away? docs/operations/lost-broker-disk.md")


def _postgres(conninfo: str | None) -> Check:
    from chronofact.embedded.checks import Check
    from chronofact.postgres.migrate import status
    from chronofact.runtime.failures import Transient, Unfit

    try:
        found = status(conninfo or "")
    except Transient as failure:
        return Check("postgres", "unreachable", str(failure), _AWAY.format("POSTGRES"))
    except Unfit as failure:
        return Check("postgres", "failed", _bare(failure), failure.remedy)
    if found.changed:
        return Check(
            "postgres", "failed", f"changed after they were applied: {', '.join(found.changed)}", "restore them"
        )
    if found.missing:
        return Check("postgres", "failed", f"migrations missing: {', '.join(found.missing)}", "chronofact migrate")
    return Check("postgres", "ok", f"{len(found.applied)} migrations applied, none missing")


def _bare(failure: Unfit) -> str:
    """What is wrong, without the remedy that its text ends with."""
    return str(failure).removesuffix(f"; {failure.remedy}")


def _service(name: str, address: str | None) -> Check:
    import httpx

    from chronofact.cli.options import url
    from chronofact.client.shells import DIRECT
    from chronofact.embedded.checks import Check

    if address is None:
        return Check(name, "skipped", "not part of this stack")
    try:
        with httpx.Client(timeout=LOOK_TIMEOUT_S, mounts=DIRECT) as http:
            answer = http.get(f"{url(address)}/readyz")
            lag_s = _lag_s(http.get(f"{url(address)}/metrics").text) if name.startswith("projector") else 0
    except httpx.HTTPError as error:
        begin = f"chronofact up, or chronofact {name.partition('-')[0]}"
        return Check(name, "unreachable", f"no answer at {address}: {error}", begin)
    if answer.is_success and lag_s > LAG_MAX_S:
        return Check(name, "failed", f"ready at {address}, but {lag_s:.0f} s behind the log", f"logs/{name}.log")
    told = answer.json() if answer.headers.get("content-type") == "application/json" else {}
    if answer.is_success:
        beside, remedy = _reasons(told.get("beside", []))
        return Check(name, "ok", f"ready at {address}" + (f"; beside that: {beside}" if beside else ""), remedy)
    why, remedy = _reasons(told.get("reasons", []))
    return Check(name, "failed", why or f"status {answer.status_code}", remedy)


def _reasons(told: list[dict[str, Any]]) -> tuple[str, str | None]:
    """What /readyz names, and what helps."""
    why = "; ".join(f"{one['part']}: {one['code']}: {one['message']}" for one in told)
    remedies = dict.fromkeys(one["remedy"] for one in told if one.get("remedy"))
    return why, "; ".join(remedies) or None


def _lag_s(metrics: str) -> float:
    found = re.findall(r"^chronofact_projector_lag_seconds(?:\{[^}]*\})? (\S+)$", metrics, re.MULTILINE)
    return max(map(float, found), default=0)


def _told(check: Check) -> dict[str, str | bool | None]:
    return {
        "name": check.name,
        "ok": check.state in {"ok", "skipped"},
        "state": check.state,
        "detail": check.detail,
        "remedy": check.remedy,
    }


def _show(checks: list[Check]) -> None:
    from rich.console import Console
    from rich.text import Text

    marks = {"ok": ("✓", "green"), "skipped": ("–", "dim"), "failed": ("✗", "red"), "unreachable": ("✗", "red")}
    console = Console(highlight=False, soft_wrap=True)
    for check in checks:
        mark, style = marks[check.state]
        console.print(Text(f"{mark} ", style) + Text(f"{check.name:<18}", "bold") + Text(check.detail))
        if check.remedy:
            console.print(Text(f"  {'':<18}→ {check.remedy}", "yellow"))
