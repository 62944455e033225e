"""Every HTTP call, as the services' own OpenAPI documents describe it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

from fastapi import FastAPI

from chronofact.adjudicator.page import add_pending
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.reader.__main__ import build_app as build_reader
from chronofact.reader.changes_http import ChangesRoute, add_changes
from chronofact.reader.freshness import LogWatch
from chronofact.reconciler.__main__ import build_app as build_reconciler
from chronofact.runtime.auth import OpenCredentials
from chronofact.runtime.config import Settings
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.metrics import Metrics
from tests.contract.writing import WriterInProcess

METHODS = ("get", "post", "put", "delete")


def apps() -> dict[str, FastAPI]:
    """Each service's application over nothing: it is asked for its description alone."""
    settings, credentials, kinds = Settings(auth="off"), OpenCredentials(), ScopeKinds.load()
    reader = build_reader(settings, Mock(), LogWatch(Mock()), Mock(), kinds, credentials, health=Health("postgres"))
    add_changes(reader, ChangesRoute(Mock(), credentials, kinds, Metrics("reader")))
    reconciler = build_reconciler(
        settings, Mock(), Mock(), credentials, health=Health("postgres"), metrics=Metrics("reconciler")
    )
    adjudicator = create_app("adjudicator", "", health=Health(), metrics=Metrics("adjudicator"))
    add_pending(adjudicator, Mock())
    return {
        "Writer": WriterInProcess().app,
        "Reader": reader,
        "Reconciler": reconciler,
        "Adjudicator": adjudicator,
    }


def described() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Of each service: its calls with what they take and what they are for."""
    for name, app in apps().items():
        lines = [
            (f"`{method.upper()} {path}`", _takes(call), call.get("summary", ""))
            for path, calls in app.openapi()["paths"].items()
            for method, call in calls.items()
            if method in METHODS and path.startswith("/v1/")
        ]
        yield name, lines


def _takes(call: dict[str, Any]) -> str:
    named = [f"`{one['name']}`{'' if one.get('required') else '?'}" for one in call.get("parameters", ())]
    kinds = [f"`{kind}`" for kind in call.get("requestBody", {}).get("content", {})]
    return ", ".join([*named, *kinds])
