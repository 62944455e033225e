"""What pydantic found wrong, in the words of the closed list; the value that was wrong is never repeated."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from chronofact.contracts.commands import FIELDS, PARTS
from chronofact.contracts.meant import hint, meant
from chronofact.domain.errors import Rejected

_SAYABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)

_BY_TYPE: Final = {
    "missing": ("field_missing", "the field is required"),
    "extra_forbidden": ("field_unknown", "there is no such field"),
    "literal_error": ("field_value", "the field is one of these words"),
    "string_too_short": ("field_empty", "the field is empty"),
    "string_too_long": ("field_too_long", "the field is longer than its limit"),
    "too_long": ("supersedes_too_many", "supersedes names at most 100 versions"),
    "string_pattern_mismatch": ("nul_character", "text has the character U+0000, which Postgres can't hold"),
    "string_unicode": ("surrogate_lone", "text has a lone surrogate, which is not valid Unicode"),
    "greater_than_equal": ("confidence_out_of_range", "confidence is between 0 and 1"),
    "less_than_equal": ("confidence_out_of_range", "confidence is between 0 and 1"),
    "finite_number": ("number_not_finite", "NaN and infinities are not JSON numbers"),
    "union_tag_not_found": ("field_missing", "type says which command it is"),
    "union_tag_invalid": ("type_unknown", "type names one of the commands"),
}
_WANTED: Final = {
    "string_type": "the field is a JSON string",
    "float_type": "the field is a JSON number",
    "int_type": "the field is a whole number",
    "bool_type": "the field is true or false",
    "model_type": "the field is a JSON object",
    "list_type": "the field is a JSON array",
}
_ALLOWED: Final = {"literal_error": "expected", "union_tag_invalid": "expected_tags"}
"""Where pydantic lists what the field may say; both lists are ours, never the caller's."""
_SHAPES: Final = frozenset({"model_type", "list_type"})
_OF_TYPE: Final = frozenset({"union_tag_not_found", "union_tag_invalid"})


def refusal_of(error: ValidationError, *, fields: Collection[str] = ()) -> Rejected:
    """The first thing that is wrong, as a refusal.

    Args:
        error: What pydantic found.
        fields: Those of a body whose ``type`` does not tell them.
    """
    errors = error.errors(include_url=False)
    found = _misspelt(errors, fields) or _first(errors)
    code, message = _BY_TYPE.get(found["type"], ("field_type", _WANTED.get(found["type"], "is of another JSON type")))
    if found["type"] == "string_too_long":
        message = f"the field has at most {found['ctx']['max_length']:,} characters"
    if allowed := found.get("ctx", {}).get(_ALLOWED.get(found["type"], "")):
        message = f"{message}: {allowed}"
    message += _hint(found, fields) + _example(found)
    field = "type" if found["type"] in _OF_TYPE else _field(found["loc"] if fields else found["loc"][1:])
    return Rejected(code, message, field=field)


def _misspelt(errors: Sequence[ErrorDetails], fields: Collection[str]) -> ErrorDetails | None:
    """A field that nobody knows and that stands for one that is missing: the same mistake, told once."""
    missing = {found["loc"] for found in errors if found["type"] == "missing"}
    unknown = [found for found in errors if found["type"] == "extra_forbidden"] if missing else []
    return next((found for found in unknown if (*found["loc"][:-1], _meant(found, fields)) in missing), None)


def _example(found: ErrorDetails) -> str:
    """Of what is often sent in another form: where it belongs, or how it is written."""
    if found["type"] == "model_type" and found["loc"][-1] in {"source", "Source"}:
        return ', like {"id": "chat-17"}'
    if found["type"] == "union_tag_not_found" and {"text", "category"} <= found["input"].keys():
        return "; a text memory without type is taken by POST /v1/memories, and by chronofact remember --file"
    return ""


def _hint(found: ErrorDetails, fields: Collection[str]) -> str:
    if found["type"] == "union_tag_invalid":
        return hint(str(found["ctx"]["tag"]), FIELDS)
    if found["type"] != "extra_forbidden":
        return ""
    near, known = _meant(found, fields), ", ".join(_known(found, fields))
    if near is not None:
        return f"; did you mean {near}?"
    return known and f"; there are {known}"


def _meant(found: ErrorDetails, fields: Collection[str]) -> str | None:
    """The field of ours that an unknown one probably stands for."""
    return meant(str(found["loc"][-1]), _known(found, fields))


def _known(found: ErrorDetails, fields: Collection[str]) -> Collection[str]:
    """The fields that there are where an unknown one was."""
    within = [str(part) for part in found["loc"][:-1]]
    inner = within if fields else within[1:]
    if inner:
        return PARTS.get(inner[0], ())
    return fields or FIELDS[within[0]]


def _first(errors: list[ErrorDetails]) -> ErrorDetails:
    """The first error; of a field that may have two shapes, the one found in the shape that it has."""
    first = errors[0]
    if first["type"] in _SHAPES:
        for other in errors[1:]:
            if other["loc"][:2] == first["loc"][:2] and other["type"] not in _SHAPES:
                return other
    return first


def sayable(field: str | None) -> str | None:
    """A field's name as far as it can be repeated: names of ours can, a caller's only when it looks like one."""
    return field if field is None or _SAYABLE.fullmatch(field) else None


def _field(loc: Sequence[int | str]) -> str | None:
    # parts that are no field names tell which branch of a union was tried; a tagged body's first part is its tag
    return (
        ".".join(part for part in loc if isinstance(part, str) and _SAYABLE.fullmatch(part) and part[0].islower())
        or None
    )
