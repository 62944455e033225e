"""What /openapi.json says of the reader's calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from chronofact.runtime.openapi import ID, INSTANT

_PARAMETERS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "subject": ({"type": "string"}, "A UUID, or any string within the tenant."),
    "key": ({"type": "string"}, "Fact key."),
    "scope": (
        {"type": "array", "items": {"type": "string"}},
        "kind:key; may repeat, nearest first; default user:self.",
    ),
    "valid_at": (INSTANT, "When it held; default now."),
    "as_of": (INSTANT, "As known when; default everything applied."),
    "prefix": ({"type": "string"}, "Only keys that start so."),
    "fact_id": (ID, "Id of a fact."),
    "version_id": (ID, "Id of a version."),
    "relation": ({"type": "string", "enum": ["OPEN", "RESOLVED"]}, "Which edges; default both."),
    "cursor": ({"type": "string"}, "Where a page before this one ended."),
    "limit": ({"type": "integer", "minimum": 1, "maximum": 1_000, "default": 100}, "Length of the page."),
    "category": ({"type": "string"}, "Only memories of this category."),
    "query": (
        {"type": "string", "maxLength": 2_000},
        "What to search for, by words and by nearness; without it all are listed.",
    ),
    "include": (
        {
            "type": "array",
            "items": {"type": "string", "enum": ["superseded", "merged", "pending_review", "pending_pairs"]},
        },
        "What is otherwise left out: memories that gave way, that were merged, that are under review, or of which a pair is undecided; may repeat.",
    ),
    "/v1/memories scope": (
        {"type": "array", "items": {"type": "string"}},
        "kind:key; may repeat: memories of any of these; default all that the credential covers.",
    ),
    "/v1/relations relation": (
        {"type": "string", "enum": ["supersedes", "contradicts", "near_duplicate", "unrelated"]},
        "Which relations; default all.",
    ),
    "/v1/relations wait_ms": (
        {"type": "integer", "minimum": 0, "maximum": 30_000, "default": 1_000},
        "How long to wait for that, and until the memory's pairs have been checked.",
    ),
    "budget": (
        {"type": "integer", "minimum": 1, "maximum": 200_000, "default": 8_000},
        "How many characters (Unicode code points) the text may have; tokens are not counted.",
    ),
    "after": (
        {"type": "string"},
        "A position that the answer must not be older than: waited for, else folded from the log, else told as stale.",
    ),
    "wait_ms": ({"type": "integer", "minimum": 0, "maximum": 30_000, "default": 1_000}, "How long to wait for that."),
}
_READING: Final = ("after", "wait_ms")
_RESPONSES: Final[dict[int | str, str]] = {
    200: "The answer, and how fresh it is.",
    400: "A parameter or the body is not as it must be.",
    401: "No credential that is known.",
    403: "The credential may not read.",
    422: "What is asked for can't be asked: the error names field and code.",
    503: "Postgres is away; asking again is safe.",
}
_QUERY: Final = {
    "type": "object",
    "required": ["subject", "key"],
    "additionalProperties": False,
    "properties": {
        "subject": {"type": "string"},
        "key": {"type": "string"},
        "scope": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "valid_at": {"type": ["string", "null"]},
        "as_of": {"type": ["string", "null"]},
    },
}
_QUERIES: Final = {"type": "array", "items": _QUERY, "maxItems": 10_000}
_BATCH: Final = {
    "type": "object",
    "required": ["queries"],
    "additionalProperties": False,
    "properties": {
        "queries": _QUERIES,
        "after": {"type": ["string", "null"]},
        "wait_ms": {"type": ["integer", "null"]},
    },
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call: where it is, what it takes, what it may answer."""

    method: str
    path: str
    handler: str
    summary: str
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    body: dict[str, Any] | None = None
    more: tuple[tuple[int | str, str], ...] = ()

    @property
    def responses(self) -> dict[int | str, str]:
        """Every status with its meaning."""
        return {**_RESPONSES, **dict(self.more)}

    def extra(self) -> dict[str, Any]:
        """Parameters and body, as OpenAPI says them."""
        names = [*self.needed, *self.optional, *(() if self.body else _READING)]
        described: dict[str, Any] = {"parameters": [self._parameter(name) for name in names]}
        if self.body is not None:
            described["requestBody"] = {"required": True, "content": {"application/json": {"schema": self.body}}}
        return described

    def _parameter(self, name: str) -> dict[str, Any]:
        schema, description = _PARAMETERS.get(f"{self.path} {name}") or _PARAMETERS[name]
        is_in_path = f"{{{name}}}" in self.path
        return {
            "name": name,
            "in": "path" if is_in_path else "query",
            "required": name in self.needed,
            "schema": schema,
            "description": description,
        }


_NOT_FOUND: Final = (404, "No event of such a fact is known to this tenant.")
_HELD: Final = (409, "Messages of the fact are parked, and none of it is applied yet.")
_PAGED: Final = ("cursor", "limit")

CALLS: Final = (
    Call(
        "GET",
        "/v1/resolve",
        "resolve",
        "What held at an instant, as known at another",
        ("subject", "key"),
        ("scope", "valid_at", "as_of"),
    ),
    Call(
        "POST",
        "/v1/resolve",
        "resolve_many",
        "Up to 10,000 of those, from one snapshot",
        body={"oneOf": [_QUERIES, _BATCH]},
        more=((413, "More than 10,000 queries."), (415, "Another type or encoding.")),
    ),
    Call(
        "GET",
        "/v1/explain",
        "explain",
        "Why resolve answers as it does: every version's standing and what made it so, in sentences too",
        ("subject", "key"),
        ("scope", "valid_at", "as_of"),
    ),
    Call(
        "GET",
        "/v1/facts",
        "facts",
        "Every fact of a subject with its answer, by page",
        ("subject",),
        ("scope", "prefix", "valid_at", "as_of", *_PAGED),
    ),
    Call(
        "GET",
        "/v1/facts/{fact_id}/events",
        "history",
        "A fact's events in the order in which they were learned",
        ("fact_id",),
        _PAGED,
        more=(_NOT_FOUND, _HELD),
    ),
    Call(
        "GET",
        "/v1/facts/{fact_id}/versions",
        "history",
        "A fact's versions with their labels",
        ("fact_id",),
        _PAGED,
        more=(_NOT_FOUND, _HELD),
    ),
    Call(
        "GET",
        "/v1/facts/{fact_id}/timeline",
        "history",
        "A fact's answers over both clocks",
        ("fact_id",),
        _PAGED,
        more=(_NOT_FOUND, _HELD),
    ),
    Call(
        "GET",
        "/v1/conflicts",
        "conflicts",
        "Conflict edges with both values, their age, and how to settle one, oldest first",
        (),
        ("relation", "subject", "key", "fact_id", "version_id", *_PAGED),
    ),
    Call(
        "GET",
        "/v1/context",
        "context",
        "What may go into a prompt: settled values only; what is open comes apart, as questions",
        ("subject",),
        ("scope", "budget", "prefix", "valid_at", "as_of", "cursor"),
    ),
    Call(
        "GET",
        "/v1/memories",
        "memories",
        "Text memories that held at an instant, as known at another: listed, or searched by words and nearness",
        ("subject",),
        ("scope", "category", "query", "include", "valid_at", "as_of", *_PAGED),
    ),
    Call(
        "GET",
        "/v1/relations",
        "relations",
        "What was decided of pairs of text memories, and what is pending; waits until a memory has been checked",
        (),
        ("version_id", "subject", "relation", *_PAGED),
    ),
)
