"""Starts, holds and stops a whole stack, for `chronofact up | down` and the demo."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson

from chronofact.cli.options import HERE, outside_told, read_settings
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.contracts.topics import facts_topic
from chronofact.embedded.errors import EmbeddedError, SettingRefusedError
from chronofact.embedded.folder import DataFolder, has_ended
from chronofact.embedded.stack import Addresses, Report, Stack
from chronofact.embedded.supervisor import Supervisor, service_addresses
from chronofact.runtime.config import Settings, file_told
from chronofact.runtime.lifecycle import interrupt_on_signals

LOOK_S = 0.2
DOWN_TIMEOUT_S = 60.0
LEAVE_TIMEOUT_S = 5.0
TOLD = ("projector", "projectors", "projection", "facts_topic", "facts_partitions", "pid")
SHOWN = ("writer", "reader", "reconciler", "adjudicator", "kafka", "postgres")


def hold(data: Path, port_base: int | None, *, as_json: bool) -> None:
    """Start a stack and keep it up until a signal."""
    with (
        suppress(KeyboardInterrupt),
        interrupt_on_signals(),
        _progress(as_json=as_json) as report,
        running(data, port_base=port_base, report=report) as (found, supervisor),
    ):
        _tell(data, found, as_json=as_json)
        while True:
            supervisor.tick()
            time.sleep(LOOK_S)


@contextmanager
def running(data: Path, *, port_base: int | None = None, report: Report) -> Iterator[tuple[dict[str, Any], Supervisor]]:
    """The whole stack, ready; its addresses as in `stack.json`, and the supervisor to `tick`.

    Raises:
        Failure: something could not be started.
    """
    settings = read_settings()
    _try_files(settings)
    stack = Stack(data, external=_given(settings), port_base=port_base, report=_logged(data, report))
    with _failures_named(), stack as addresses:
        report("preparing topics and tables")
        _prepare(addresses, settings)
        supervisor = Supervisor(stack, addresses, os.environ | credentials_asked(settings), _logged(data, report))
        try:
            supervisor.start()
            found = _found(stack, addresses, supervisor) | _meant(settings)
            stack.folder.write("stack.json", found)
            yield found, supervisor
        finally:
            stack.folder.stack_file.unlink(missing_ok=True)
            report("stopping")
            supervisor.stop()


def _try_files(settings: Settings) -> None:
    """The files that settings name, before anything is started for nothing."""
    from chronofact.contracts.fact_keys import KeyDeclarations
    from chronofact.contracts.scope_kinds import ScopeKinds
    from chronofact.runtime.auth import TokenCredentials

    try:
        kinds = ScopeKinds.load(settings.scope_kinds_file)
        KeyDeclarations.load(settings.fact_keys_file)
        if settings.tokens_file is not None:
            TokenCredentials.load(settings.tokens_file, normalise_scope=kinds.pattern)
    except (OSError, ValueError) as error:
        raise Failure(file_told(error, settings), code=ExitCode.USAGE) from None


def _given(settings: Settings) -> Addresses:
    """Addresses that the environment or the configuration file names."""
    given = settings.model_fields_set
    return Addresses(
        kafka=settings.kafka if "kafka" in given else None,
        postgres=settings.postgres.get_secret_value() if "postgres" in given else None,
    )


def credentials_asked(settings: Settings) -> dict[str, str]:
    """Who names a file of tokens, or says ``auth`` in a file, has them asked for; a stack begins without."""
    return {"CHRONOFACT_AUTH": settings.auth} if {"auth", "tokens_file"} & settings.model_fields_set else {}


def _prepare(addresses: Addresses, settings: Settings) -> None:
    """What the services stand on: topics and tables."""
    from chronofact.kafka.admin import create_topics
    from chronofact.postgres.migrate import migrate

    create_topics(
        addresses.kafka or "",
        settings.facts_topic,
        partitions=settings.facts_partitions,
        texts_topic=settings.texts_topic,
        options=settings.kafka_options,
    )
    migrate(addresses.postgres or "", projection=settings.projection, partitions=settings.facts_partitions)


def _found(stack: Stack, addresses: Addresses, supervisor: Supervisor) -> dict[str, Any]:
    services = service_addresses(stack.ports, supervisor.services)
    return {**services, "kafka": addresses.kafka, "postgres": addresses.postgres, "pid": os.getpid()}


def _meant(settings: Settings) -> dict[str, Any]:
    """What its services are set to, for commands that find the stack by its folder."""
    facts = facts_topic(settings.facts_topic, settings.facts_partitions)
    return {"projection": settings.projection, "facts_topic": facts.name, "facts_partitions": facts.partitions}


@contextmanager
def _failures_named() -> Iterator[None]:
    try:
        with outside_told():
            yield
    except SettingRefusedError as error:
        raise Failure(str(error), code=ExitCode.USAGE) from error
    except EmbeddedError as error:
        raise Failure(str(error), remedy=error.remedy or None) from error


def _logged(data: Path, report: Report) -> Report:
    """Each step also goes to `logs/up.log`, with its time."""

    def tell(step: str) -> None:
        logs = DataFolder(data).logs
        if logs.is_dir():
            with (logs / "up.log").open("a") as log:
                log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {step}\n")
        report(step)

    return tell


@contextmanager
def _progress(*, as_json: bool) -> Iterator[Report]:
    """Steps on the terminal's error output; none with --json."""
    if as_json:
        yield lambda _step: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    began_s = time.monotonic()

    def tell(step: str) -> None:
        passed_s = time.monotonic() - began_s
        text = f"{passed_s:6.1f} s  {step}"
        if console.is_terminal and step.startswith("fetching"):
            console.print(text, end="\r", markup=False, highlight=False)
        else:
            console.print(text, markup=False, highlight=False)

    yield tell


def _tell(data: Path, found: dict[str, Any], *, as_json: bool) -> None:
    """Addresses, in one line of JSON or for a person."""
    if as_json:
        print(orjson.dumps({name: found.get(name) for name in (*SHOWN, *TOLD)}).decode(), flush=True)
        return
    for name in SHOWN:
        if found.get(name):
            print(f"{name:<12}{found[name]}")
    folder = "" if data == HERE else f" --data {shlex.quote(str(data))}"
    down = f"`chronofact down{folder}` stops it; the data stay."
    print("Ctrl-C stops it; the data stay." if found["pid"] == os.getpid() else down, flush=True)


def detach(data: Path, port_base: int | None, *, as_json: bool) -> None:
    """Start `up` in a session of its own and wait until it is ready."""
    with _progress(as_json=as_json) as report:
        found = _detached(data, port_base, report)
    _tell(data, found, as_json=as_json)


def _detached(data: Path, port_base: int | None, report: Report) -> dict[str, Any]:
    folder = DataFolder(data)
    with _failures_named():
        folder.make()
    line = [sys.executable, "-m", "chronofact.cli", "up", "--data", str(folder.path), "--json"]
    if port_base is not None:
        line += ["--port-base", str(port_base)]
    output = folder.logs / "detached.log"
    relay = _relayed(folder.logs / "up.log", report)
    with output.open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - this very command
            line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    try:
        while folder.read("stack.json").get("pid") != child.pid:
            relay()
            if child.poll() is not None:
                raise Failure(output.read_text().strip(), code=_code(child.returncode))
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        child.terminate()
        raise
    relay()
    child.returncode = 0  # it goes on without us, which is what was asked for
    return folder.read("stack.json")


def _relayed(log: Path, report: Report) -> Callable[[], None]:
    """Tells on each call what the other process has added to its log of steps."""
    told_bytes = log.stat().st_size if log.exists() else 0

    def relay() -> None:
        nonlocal told_bytes
        if not log.exists():
            return
        with log.open("rb") as steps:
            steps.seek(told_bytes)
            whole, newline, _ = steps.read().rpartition(b"\n")
        told_bytes += len(whole) + len(newline)
        for line in whole.decode(errors="replace").splitlines():
            report(line.partition(" ")[2])

    return relay


def _code(returned: int) -> ExitCode:
    return ExitCode(returned) if returned in {1, 2, 3} else ExitCode.FAILED


def stop(data: Path, *, as_json: bool) -> None:
    """Stop the stack of a folder and wait until all of it has left."""
    folder = DataFolder(data)
    if not folder.path.is_dir():
        raise Failure(f"there is no folder {folder.path}", code=ExitCode.USAGE)
    began_s = time.monotonic()
    owner = folder.owner()
    if not folder.is_taken():
        _tell_down({"stopped": False}, f"nothing runs in {folder.path}", as_json=as_json)
        return
    if owner is not None:
        _terminate(owner)
    _wait_until_free(folder, owner)
    passed_s = round(time.monotonic() - began_s, 1)
    told = f"stopped the stack in {folder.path} (process {owner}) in {passed_s} s; its data stay"
    _tell_down({"stopped": True, "pid": owner, "seconds": passed_s}, told, as_json=as_json)


def _terminate(owner: int) -> None:
    try:
        os.kill(owner, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError:
        raise Failure(f"process {owner} belongs to another user", remedy="stop it as that user") from None


def _wait_until_free(folder: DataFolder, owner: int | None) -> None:
    """The folder is free when nothing uses it; its owner leaves a moment later."""
    deadline = time.monotonic() + DOWN_TIMEOUT_S
    while folder.is_taken():
        if time.monotonic() > deadline:
            raise Failure(
                f"the stack in {folder.path} still stops after {DOWN_TIMEOUT_S:.0f} s",
                remedy=f"look into {folder.logs}",
            )
        time.sleep(LOOK_S / 2)
    leave_by = time.monotonic() + LEAVE_TIMEOUT_S
    while owner is not None and not has_ended(owner) and time.monotonic() < leave_by:
        time.sleep(LOOK_S / 4)


def _tell_down(outcome: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    print(orjson.dumps(outcome).decode() if as_json else sentence)
