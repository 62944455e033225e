"""A request before its questions: parameters that are known, each once, and a body within its limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from fastapi import Request
from starlette.datastructures import QueryParams

from chronofact.contracts.json_text import check_keys, check_tokens, faithfully
from chronofact.contracts.meant import hint
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE
from chronofact.domain.errors import Rejected
from chronofact.reader.questions import Asking, Question, Wait, wait_of, whole_number

QUERIES_MAX: Final = 10_000
LIMIT: Final = 100
LIMIT_MAX: Final = 1_000
_BODY_FIELDS: Final = frozenset({"queries", "after", "wait_ms"})
READING: Final = frozenset({"after", "wait_ms"})
_QUESTION: Final = frozenset({"subject", "key", "scope", "valid_at", "as_of"})


def check_address(query: bytes) -> None:
    """Refuses a query string that is not UTF-8, before its bytes are taken for U+FFFD.

    Raises:
        Rejected: ``encoding_not_utf8``, naming the parameter.
    """
    if query.isascii() and b"%" not in query:
        return
    for part in query.split(b"&"):
        name, _, text = part.partition(b"=")
        try:
            unquote_to_bytes(text.replace(b"+", b" ")).decode()
            unquote_to_bytes(name).decode()
        except UnicodeDecodeError:
            field = unquote_to_bytes(name).decode(errors="replace")
            raise Rejected("encoding_not_utf8", "the parameter is not UTF-8", field=field) from None


def parameters(
    query: QueryParams,
    known: frozenset[str],
    *,
    repeats: frozenset[str] = frozenset(),
    reading: frozenset[str] = READING,
) -> Mapping[str, str]:
    """The parameters by name: those of the call and of ``reading``.

    Raises:
        Rejected: ``parameter_unknown``, ``parameter_malformed``.
    """
    found: dict[str, str] = {}
    for name, text in query.multi_items():
        if name not in known and name not in reading:
            allowed = ", ".join(sorted(known | reading))
            near = hint(name, known | reading)
            raise Rejected("parameter_unknown", f"this call has the parameters {allowed}{near}", field=name)
        if name in found and name not in repeats:
            raise Rejected("parameter_malformed", f"{name} is given twice", field=name)
        found[name] = text
    return found


def required(found: Mapping[str, str], name: str) -> str:
    """A parameter that must be there.

    Raises:
        Rejected: ``parameter_missing``.
    """
    if name not in found:
        raise Rejected("parameter_missing", f"this call needs the parameter {name}", field=name)
    return found[name]


def question_in(query: QueryParams, asking: Asking) -> tuple[Question, Wait]:
    """One question of an address.

    Raises:
        Rejected: naming the parameter.
    """
    found = parameters(query, _QUESTION, repeats=frozenset({"scope"}))
    slots = asking.slots(required(found, "subject"), required(found, "key"), query.getlist("scope") or (DEFAULT_SCOPE,))
    valid_at = asking.instant(found.get("valid_at"), "valid_at")
    as_of = asking.instant(found.get("as_of"), "as_of")
    return Question(slots, asking.now if valid_at is None else valid_at, as_of), wait_in(found)


def wait_in(found: Mapping[str, str]) -> Wait:
    """``after`` and ``wait_ms``."""
    return wait_of(found.get("after"), found.get("wait_ms"))


def limit_in(found: Mapping[str, str]) -> int:
    """``limit``."""
    return whole_number(found.get("limit"), "limit", least=1, most=LIMIT_MAX, default=LIMIT)


async def body_of(request: Request, *, bytes_max: int) -> bytes:
    """The body.

    Raises:
        Rejected: ``body_too_large``, ``content_type_unsupported``, ``content_encoding_unsupported``.
    """
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Rejected("content_type_unsupported", "send application/json, in UTF-8", field="Content-Type")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Rejected("content_encoding_unsupported", "send the body uncompressed")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > bytes_max:
            raise Rejected("body_too_large", f"one body has at most {bytes_max} bytes")
    return bytes(body)


def batch_of(raw: bytes) -> tuple[list[Any], Wait]:
    """The queries of ``POST /v1/resolve``, and what they wait for.

    Raises:
        Rejected: what is wrong with the body as a whole.
    """
    if not raw.strip():
        raise Rejected("body_empty", "the body is empty")
    check_tokens(raw)
    found = faithfully(raw)
    if isinstance(found, dict):
        if unknown := found.keys() - _BODY_FIELDS:
            field = min(unknown)
            near = hint(field, _BODY_FIELDS)
            raise Rejected("field_unknown", f"the body has queries, after and wait_ms{near}", field=field)
        wait = wait_of(found.get("after"), found.get("wait_ms"))
        queries = found.get("queries")
    else:
        wait, queries = Wait(), found
    if not isinstance(queries, list):
        raise Rejected("field_type", "queries is an array", field="queries")
    if len(queries) > QUERIES_MAX:
        raise Rejected("queries_too_many", f"one request has at most {QUERIES_MAX} queries", field="queries")
    return queries, wait


def question_of(asking: Asking, query: Any) -> Question:
    """One query of a batch."""
    if not isinstance(query, dict):
        raise Rejected("field_type", "a query is a JSON object", field="queries")
    check_keys(query, "a query")
    return asking.question(query)
