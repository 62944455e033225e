"""docs/reference/commands.md: every command from its model, each with a line that the writer accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, get_args

from pydantic import BaseModel

from chronofact.contracts.commands import Command, Source, Supersedes

INSTANT: Final = "RFC 3339 with an offset"
NPM: Final = "6b6a5b0c-7a5c-8b2f-9a1d-000000000001"
PNPM: Final = "6b6a5b0c-7a5c-8b2f-9a1d-000000000002"
BUN: Final = "6b6a5b0c-7a5c-8b2f-9a1d-000000000003"
FACT: Final = {"subject": "ana", "key": "package_manager", "scope": "repo:acme/web"}

MEANINGS: Final = {
    "subject": "Whom or what the fact is about: a name of yours, or a UUID.",
    "key": "What is known of it: words of a-z, 0-9 and _ joined by single `.`, `/` or `-`; up to 200 bytes.",
    "scope": "Where it holds: a declared kind, a colon and a key, up to 512 bytes. Absent: `user:self`.",
    "recorded_at": f"When it was first learned, for imports alone (role `import`): {INSTANT}, not in the future.",
    "idempotency_key": "A name of yours for this command; comes back in its result. The event's id comes from content, so a repeat is safe without.",
    "type": "Which command it is.",
    "value": "Any JSON, up to 64 KiB in canonical form; of a key `memory/…` a text, which is read as those of `POST /v1/memories` are.",
    "source": "The evidence: `id` and `hash` or `text`.",
    "valid_from": f"Since when it holds: {INSTANT}. Absent: always; of a key `memory/…`: not known.",
    "valid_to": f"Until when, exclusive: {INSTANT}. Absent: open.",
    "lifecycle": "`PROPOSED` waits for an `activate`.",
    "supersedes": "The version that this one supersedes, or up to 100 of them: `version_id`, `effective_at`, `mode`.",
    "succession": "`automatic`: supersedes what starts earlier, without naming it. Absent: as the key is declared, else `explicit`.",
    "cardinality": "Whether the key has one value or many. Absent: as the key is declared, else `one`; another than declared is refused.",
    "confidence": "How sure the source is; breaks no tie between values, but asks for a review (semantics, 7).",
    "version_id": "The version that is meant, as its assertion's result named it.",
    "reason": "Why, for people.",
    "new_version_id": "The version that supersedes.",
    "old_version_id": "The version that is superseded.",
    "effective_at": f"From when on: {INSTANT}. Absent: the start of the new version.",
    "mode": "`replace`: for ever. `override`: while the new version holds, then the old one is back. Absent: `override` where the new version has an end, else `replace`.",
    "event_id": "The event that is meant: an end, a supersession or a decision.",
    "left_version_id": "One version of the pair.",
    "right_version_id": "The other one; the order does not matter.",
    "keep": "The version that is kept, or null for neither; it must be said.",
    "decided_at": f"When it was decided: {INSTANT}. Of several decisions on a pair the latest counts.",
    "decided_by": "Who decided.",
    "relation": "How the two relate.",
    "newer_version_id": "Which one is newer; with `supersedes` it must be said, with others it may not.",
    "llm_call_made": "Whether a model was asked.",
    "model": "Which model.",
    "pairs": "How many pairs there were.",
    "decided": "How many of them are decided.",
    "pending": "How many are not; `reason` says which and why.",
    "id": "The evidence's name: a message, a file, a URL.",
    "hash": "SHA-256 of the evidence, 64 hexadecimal digits.",
    "text": "The evidence itself, which is hashed and not kept.",
}
OF_ONE_COMMAND: Final = {
    ("end", "effective_at"): f"When it stopped holding, exclusive: {INSTANT}.",
    ("revoke", "version_id"): "The version that never counted; either this or `event_id`.",
    ("revoke", "event_id"): "The end, supersession or decision that never counted.",
    ("declare_relation", "decided_by"): "What decided.",
    ("check_relations", "version_id"): "The memory whose pairs they are.",
    ("check_relations", "reason"): "Why, in a word; where pairs are pending, JSON that names them.",
}
EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "assert": {
        "type": "assert",
        **FACT,
        "value": "pnpm",
        "source": {"id": "chat-42", "text": "We moved to pnpm."},
        "valid_from": "2026-07-01T00:00:00Z",
        "succession": "automatic",
    },
    "activate": {"type": "activate", **FACT, "version_id": BUN, "reason": "Ana said yes"},
    "supersede": {"type": "supersede", **FACT, "new_version_id": PNPM, "old_version_id": NPM, "mode": "replace"},
    "end": {"type": "end", **FACT, "version_id": PNPM, "effective_at": "2026-11-01T00:00:00Z", "reason": "archived"},
    "revoke": {"type": "revoke", **FACT, "version_id": PNPM, "reason": "chat-42 was about another repository"},
    "resolve_conflict": {
        "type": "resolve_conflict",
        **FACT,
        "left_version_id": NPM,
        "right_version_id": PNPM,
        "keep": PNPM,
        "decided_at": "2026-08-01T09:00:00+02:00",
        "decided_by": "ana",
    },
    "declare_relation": {
        "type": "declare_relation",
        "subject": "ana",
        "key": "memory/preference",
        "left_version_id": NPM,
        "right_version_id": PNPM,
        "relation": "supersedes",
        "newer_version_id": PNPM,
        "decided_at": "2026-08-01T09:00:00Z",
        "decided_by": "person",
    },
    "check_relations": {
        "type": "check_relations",
        "subject": "ana",
        "key": "memory/preference",
        "version_id": PNPM,
        "pairs": 1,
        "decided": 1,
        "pending": 0,
        "reason": "all_decided",
    },
}


def models() -> Iterator[tuple[str, type[BaseModel]]]:
    """Every command by its ``type``."""
    for model in get_args(Command):
        yield get_args(model.model_fields["type"].annotation)[0], model


def example(name: str) -> str:
    """The command's line of NDJSON."""
    return json.dumps(EXAMPLES[name], ensure_ascii=False)


def described() -> Iterator[tuple[str, str, list[tuple[str, ...]]]]:
    """Of each command and part: its name, its promise, and its fields."""
    parts: list[tuple[str, type[BaseModel]]] = [("source", Source), ("supersedes", Supersedes)]
    for name, model in [*models(), *parts]:
        yield name, model.__doc__ or "", list(_fields(name, model))


def _fields(name: str, model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    schema = model.model_json_schema()
    for field, said in schema["properties"].items():
        is_required = field in schema.get("required", ())
        default = "required" if is_required else _spelled(said.get("default"))
        meaning = OF_ONE_COMMAND.get((name, field)) or MEANINGS[field]
        yield f"`{field}`", ", ".join(_kinds(said)), _limits(said), default, meaning


def _spelled(default: Any) -> str:
    return "" if default is None else f"`{json.dumps(default)}`"


def _kinds(said: dict[str, Any]) -> list[str]:
    if "const" in said:
        return [f"`{said['const']}`"]
    if "enum" in said:
        return [f"`{word}`" for word in said["enum"]]
    if "$ref" in said:
        return ["object"]
    if "anyOf" in said:
        return list(dict.fromkeys(kind for one in said["anyOf"] for kind in _kinds(one)))
    return [said.get("type", "any JSON")]


def _limits(said: dict[str, Any]) -> str:
    options = [said, *said.get("anyOf", ())]
    found = {limit: size for one in options for limit, size in one.items()}
    if "maxLength" in found:
        return f"{found.get('minLength', 0)} to {found['maxLength']:,} characters"
    if "maxItems" in found:
        return f"up to {found['maxItems']}"
    return f"{found['minimum']:g} to {found['maximum']:g}" if "maximum" in found else ""
