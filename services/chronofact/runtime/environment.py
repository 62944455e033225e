"""Variables ``CHRONOFACT_*`` that nothing reads: told by name, and not refused, since others set some of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

import structlog

from chronofact.runtime.config import FURTHER, Settings

PREFIX: Final = "CHRONOFACT_"
_NEAR: Final = 0.6
_OF_ORCHESTRATORS: Final = re.compile(
    r"_(?:SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?))$", re.ASCII
)
"""What Kubernetes sets in every container for a service of that name."""


def unknown_settings(names: Iterable[str]) -> Iterator[str]:
    """A sentence on each; what is spelt almost as a setting is refused already when settings are read."""
    known = [*Settings.model_fields, *FURTHER]
    for name in sorted(names):
        word = name.removeprefix(PREFIX).lower()
        if not name.startswith(PREFIX) or word in known or _OF_ORCHESTRATORS.search(name):
            continue
        near = get_close_matches(word, known, n=1, cutoff=_NEAR)
        nearest = f"the nearest is {PREFIX}{near[0].upper()}" if near else "docs/reference/settings.md has all"
        yield f"{name} is no setting and means nothing; {nearest}"


def log_unknown_settings() -> None:
    """Once at the start of a service."""
    log = structlog.get_logger()
    for told in unknown_settings(os.environ):
        log.warning("setting_unknown", message=told)
