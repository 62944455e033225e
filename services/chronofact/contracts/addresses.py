"""Which service answers which call, so that one can say which was meant and who takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final, NamedTuple

_NEAR: Final = 0.75
_PATH_CHARS_MAX: Final = 200
_PART: Final = re.compile(r"\{[^}/]*\}|(?<=/)[^/]*\d[^/]*(?=/|$)(?<!v1)")


class Address(NamedTuple):
    """A call and whose it is."""

    service: str
    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


CALLS: Final[Mapping[str, Sequence[tuple[str, str]]]] = MappingProxyType(
    {
        "writer": (
            ("POST", "/v1/events"),
            ("POST", "/v1/memories"),
            ("POST", "/v1/interactions"),
            ("POST", "/v1/drops"),
        ),
        "reader": (
            ("GET", "/v1/resolve"),
            ("POST", "/v1/resolve"),
            ("GET", "/v1/explain"),
            ("GET", "/v1/facts"),
            ("GET", "/v1/facts/{fact_id}/events"),
            ("GET", "/v1/facts/{fact_id}/versions"),
            ("GET", "/v1/facts/{fact_id}/timeline"),
            ("GET", "/v1/conflicts"),
            ("GET", "/v1/memories"),
            ("GET", "/v1/relations"),
            ("GET", "/v1/context"),
            ("GET", "/v1/changes"),
        ),
        "reconciler": (
            ("POST", "/v1/checks"),
            ("GET", "/v1/checks"),
            ("GET", "/v1/checks/{run_id}"),
            ("POST", "/v1/rebuilds"),
            ("GET", "/v1/rebuilds"),
            ("GET", "/v1/rebuilds/{rebuild_id}"),
            ("DELETE", "/v1/rebuilds/{rebuild_id}"),
            ("POST", "/v1/rebuilds/{rebuild_id}/verification"),
            ("POST", "/v1/verifications"),
            ("GET", "/v1/verifications"),
            ("GET", "/v1/verifications/{verification_id}"),
            ("GET", "/v1/shadow/{projection}"),
            ("POST", "/v1/routes"),
            ("GET", "/v1/routes"),
            ("GET", "/v1/routes/changes"),
        ),
        "adjudicator": (("GET", "/v1/pending"),),
    }
)
"""The calls of each service under ``/v1``."""
_EVERYWHERE: Final = (
    ("GET", "/livez"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
)
_OTHER_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "why": "/v1/explain",
        "ask": "/v1/resolve",
        "answer": "/v1/resolve",
        "query": "/v1/resolve",
        "search": "/v1/facts",
        "history": "/v1/facts/{fact_id}/events",
        "prompt": "/v1/context",
        "stream": "/v1/changes",
        "subscribe": "/v1/changes",
        "watch": "/v1/changes",
        "assert": "/v1/events",
        "commands": "/v1/events",
        "write": "/v1/events",
        "health": "/livez",
        "healthz": "/livez",
        "ready": "/readyz",
        "status": "/readyz",
    }
)
"""The last part of an address in words of other systems."""


def meant_address(service: str, method: str, path: str) -> Address | None:
    """The call that was probably meant by an address that the service does not have: its own, else another's."""
    said = _plain(path[:_PATH_CHARS_MAX])
    own, others = _of(service), [one for name in CALLS if name != service for one in _of(name)]
    found = _exact(said, own) or _exact(said, others) or _near(said, own) or _near(said, others)
    return next((one for one in found if one.method == method), found[0]) if found else None


def _of(service: str) -> list[Address]:
    return [Address(service, *call) for call in (*CALLS.get(service, ()), *_EVERYWHERE)]


def _exact(said: str, calls: Iterable[Address]) -> list[Address]:
    return [one for one in calls if _plain(one.path) == said]


def _near(said: str, calls: Sequence[Address]) -> list[Address]:
    word = _OTHER_WORDS.get(said.rpartition("/")[2])
    if word is not None and (found := [one for one in calls if one.path == word]):
        return found
    if further := [one for one in calls if len(said) > 1 and _plain(one.path).startswith(f"{said}/")]:
        return further
    paths = {_plain(one.path) for one in calls}
    close = get_close_matches(said, sorted(paths), 1, _NEAR)
    return _exact(close[0], calls) if close else []


def _plain(path: str) -> str:
    """Lower case, with ids as ``{}`` and no slash at the end."""
    return _PART.sub("{}", path.lower().rstrip("/") or "/")
