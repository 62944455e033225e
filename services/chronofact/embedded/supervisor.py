"""Runs the services beside Kafka and Postgres: ready before we say so, started again when they die."""

from __future__ import annotations

import http.client
import importlib.util
import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chronofact.embedded.compiled import with_build
from chronofact.embedded.errors import EmbeddedError, SettingRefusedError
from chronofact.embedded.folder import DataFolder
from chronofact.embedded.ports import LOOPBACK
from chronofact.embedded.process import Command, KeptProcess
from chronofact.embedded.stack import Addresses, Report, Stack
from chronofact.embedded.unit import Unit

READY_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
HEAD_START_S = 3.0
LOOK_S = 0.1
DEATHS_AT_START_MAX = 3
BAD_SETTING = 2
"""The code that a service leaves with when it can't take its settings."""
LEAVINGS_FILE = "services.json"


@dataclass(frozen=True, slots=True)
class Service:
    """A service, run as `python -m chronofact.<part>`; `port_option` tells it where to listen."""

    part: str
    port_option: str
    number: int = 1
    needs: tuple[str, ...] = ()
    """Packages beyond those that every installation has."""
    is_awaited: bool = True
    """Whether a stack is up only once it is ready; else it starts when the others are, and takes no time from them."""

    @property
    def name(self) -> str:
        """What it is called here: the first of its part by the part alone."""
        return self.part if self.number == 1 else f"{self.part}-{self.number}"

    @property
    def module(self) -> str:
        """What is run."""
        return f"chronofact.{self.part}"

    @property
    def exists(self) -> bool:
        """Whether this installation has it."""
        return all(map(_is_found, (self.module, f"{self.module}.__main__", *self.needs)))


def _is_found(module: str) -> bool:
    if module in sys.modules:  # Faust puts a module there that has no spec, of which find_spec raises
        return True
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


# In the order of stopping: first what takes work, then what passes it on, last what answers.
SERVICES = (
    Service("writer", "CHRONOFACT_WRITER_PORT"),
    Service("projector", "CHRONOFACT_PROJECTOR_PORT"),
    Service("projector", "CHRONOFACT_PROJECTOR_PORT", 2),
    Service("reader", "CHRONOFACT_READER_PORT"),
    Service("reconciler", "CHRONOFACT_RECONCILER_PORT"),
    Service("adjudicator", "CHRONOFACT_ADJUDICATOR_PORT", needs=("faust", "cramjam"), is_awaited=False),
)


class Supervisor:
    """The services of one stack; `start` returns when all are ready, `tick` keeps all running."""

    def __init__(self, stack: Stack, addresses: Addresses, environ: Mapping[str, str], report: Report) -> None:
        self._stack = stack
        self._report = report
        self._environ = service_environ(stack.folder, addresses, stack.ports, environ)
        # a second of a part is for a second core; projectors share the partitions
        cores = os.cpu_count() or 1
        self.services = tuple(service for service in SERVICES if service.exists and service.number <= cores)
        self._units = {one.name: Unit(one.name, self._launcher(one)) for one in self.services}

    def _launcher(self, service: Service) -> _Launch:
        folder = self._stack.folder
        command = Command(
            name=service.name,
            arguments=[sys.executable, "-m", service.module],
            log=folder.logs / f"{service.name}.log",
            environ=self._environ | self._own(service),
            stop_timeout_s=STOP_TIMEOUT_S,
        )
        return _Launch(command, folder)

    def _own(self, service: Service) -> dict[str, str]:
        """What differs between two of one part."""
        own = {service.port_option: str(self._stack.ports[service.name])}
        return own if service.number == 1 else {**own, "CHRONOFACT_PROJECTOR_NAME": service.name}

    def start(self) -> None:
        """Launch all and wait until each that is awaited is ready; raises EmbeddedError with a reason when one isn't."""
        self._stack.folder.write(LEAVINGS_FILE, {})
        awaited = [one for one in self.services if one.is_awaited]
        for service in awaited:
            self._units[service.name].start()
        deadline = time.monotonic() + READY_TIMEOUT_S
        for service in awaited:
            self._wait_ready(service, deadline)
            self._report(f"{service.name} is ready")
        for service in self.services:
            if not service.is_awaited:
                self._units[service.name].start()

    def _wait_ready(self, service: Service, deadline: float) -> None:
        unit = self._units[service.name]
        while (why := why_not_ready(self._stack.ports[service.name])) is not None:
            if unit.last_code == BAD_SETTING:
                told = unit.last_words.removeprefix("chronofact: ")
                raise SettingRefusedError(f"the {service.name} does not start: {told}")
            if unit.deaths >= DEATHS_AT_START_MAX or time.monotonic() > deadline:
                log = self._stack.folder.logs / f"{service.name}.log"
                said = f"; it last said: {unit.last_words}" if unit.last_words else ""
                raise EmbeddedError(f"the {service.name} is not ready: {why}{said}", remedy=f"look into {log}")
            self._tick([self._units[one.name] for one in self.services if one.is_awaited])
            time.sleep(LOOK_S)

    def tick(self) -> None:
        """Start again what has died, and keep note of it in the folder; call it a few times a second."""
        self._tick(self._units.values())

    def _tick(self, units: Iterable[Unit]) -> None:
        for unit in (*self._stack.units.values(), *units):
            before = unit.leavings
            if happened := unit.tick():
                self._report(happened)
            if unit.leavings > before:
                self._note(unit)

    def _note(self, unit: Unit) -> None:
        noted = self._stack.folder.read(LEAVINGS_FILE)
        left = {"left": unit.leavings, "code": unit.last_code, "last": unit.last_words, "at_s": time.time()}
        self._stack.folder.write(LEAVINGS_FILE, {**noted, unit.name: left})

    def stop(self) -> None:
        """Stop the services in order: the first gets a head start, then all, each within its time."""
        units = list(self._units.values())
        for unit in units[:1]:
            unit.ask_to_stop()
            _wait_for(unit, HEAD_START_S)
        for unit in units[1:]:
            unit.ask_to_stop()
        for unit in units:
            unit.stop()


@dataclass(frozen=True, slots=True)
class _Launch:
    command: Command
    folder: DataFolder

    def __call__(self) -> KeptProcess:
        return KeptProcess(self.command, [self.folder.lock_fd])


def _wait_for(unit: Unit, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while unit.is_alive and time.monotonic() < deadline:
        time.sleep(LOOK_S / 4)


def service_environ(
    folder: DataFolder,
    addresses: Addresses,
    ports: Mapping[str, int],
    environ: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """The environment that a service of this stack is configured by; what the caller set stays."""
    defaults = {
        # Nobody but this machine can reach the listeners.
        "CHRONOFACT_AUTH": "off",
        # A stack has to be down within 20 s, services and servers together.
        "CHRONOFACT_DRAIN_TIMEOUT_S": "9",
        "CHRONOFACT_DELIVERY_TIMEOUT_S": "8",
    }
    ours = {
        "CHRONOFACT_KAFKA": addresses.kafka or "",
        "CHRONOFACT_POSTGRES": addresses.postgres or "",
        "CHRONOFACT_DATA": str(folder.path),
        "CHRONOFACT_WRITER_HOST": LOOPBACK,
        "CHRONOFACT_READER_HOST": LOOPBACK,
        "CHRONOFACT_PROJECTOR_HOST": LOOPBACK,
        "CHRONOFACT_RECONCILER_HOST": LOOPBACK,
        "CHRONOFACT_ADJUDICATOR_HOST": LOOPBACK,
        **{one.port_option: str(ports[one.name]) for one in SERVICES if one.number == 1 and one.name in ports},
    }
    return with_build({**defaults, **environ, **ours})


def why_not_ready(port: int, timeout_s: float = 2.0) -> str | None:
    """None when `/readyz` on that port says yes, else its reason."""
    link = http.client.HTTPConnection(LOOPBACK, port, timeout=timeout_s)
    try:
        link.request("GET", "/readyz")
        answer = link.getresponse()
        body = answer.read(10_000).decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return f"no answer ({error})"
    finally:
        link.close()
    return None if answer.status == http.client.OK else body


def service_addresses(ports: Mapping[str, int], services: Sequence[Service]) -> dict[str, Any]:
    """URL of each service, None for those that don't run; `projectors` has that of every one."""
    running = {one.name for one in services}
    names = ("writer", "reader", "reconciler", "projector", "adjudicator")
    found: dict[str, Any] = {name: _at(ports[name]) if name in running else None for name in names}
    found["projectors"] = [_at(ports[one.name]) for one in services if one.part == "projector"]
    return found


def _at(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"
