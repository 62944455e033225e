"""The folder, shared by every stack of this environment, that keeps what was downloaded."""

from __future__ import annotations

import os
import pwd
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from chronofact.embedded.errors import EmbeddedError


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The cache folder, made when missing: in the virtual environment, else the user's; works without HOME."""
    refused = []
    for candidate in _candidates(environ):
        try:
            candidate.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            refused.append(str(error))
            continue
        if os.access(candidate, os.W_OK) and candidate.stat().st_uid == os.geteuid():
            return candidate
        refused.append(f"{candidate} is not ours to write")
    raise EmbeddedError("no cache folder: " + "; ".join(refused), remedy="name one by CHRONOFACT_CACHE")


def virtual_environment() -> Path | None:
    """The folder of the virtual environment that runs us; it then holds all that was installed."""
    return Path(sys.prefix) if sys.prefix != sys.base_prefix else None


def _candidates(environ: Mapping[str, str]) -> list[Path]:
    if named := environ.get("CHRONOFACT_CACHE"):
        return [Path(named).expanduser().absolute()]
    found = []
    if (environment := virtual_environment()) is not None:
        found.append(environment / "cache" / "chronofact")
    if shared := environ.get("XDG_CACHE_HOME"):
        found.append(Path(shared) / "chronofact")
    if home := environ.get("HOME") or _home_of_user():
        found.append(Path(home) / ".cache" / "chronofact")
    found.append(Path(tempfile.gettempdir()) / f"chronofact-cache-{os.geteuid()}")
    return [path for path in found if path.is_absolute()]


def _home_of_user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""
