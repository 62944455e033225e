"""What /openapi.json says of answers: their shapes, and the one shape of a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

Schema: TypeAlias = dict[str, Any]
Answers: TypeAlias = dict[int | str, dict[str, Any]]

TEXT: Final[Schema] = {"type": "string"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
FLAG: Final[Schema] = {"type": "boolean"}
ID: Final[Schema] = {"type": "string", "format": "uuid"}
INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}
ANY: Final[Schema] = {}


def nullable(schema: Schema) -> Schema:
    """Or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def many(schema: Schema) -> Schema:
    """An array of it."""
    return {"type": "array", "items": schema}


def shape(required: Mapping[str, Schema], **optional: Schema) -> Schema:
    """An object with these fields; what an answer has beyond them may come with a later version."""
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def words(*said: str) -> Schema:
    """One of these."""
    return {"type": "string", "enum": list(said)}


ERROR: Final = shape(
    {"error": shape({"code": TEXT, "message": TEXT, "field": nullable(TEXT), "index": nullable(COUNT)})}
)


def answers(meanings: Mapping[int | str, str], shapes: Mapping[int | str, Schema]) -> Answers:
    """Every status with its meaning and shape; those from 400 on are refusals."""
    return {
        status: {
            "description": meaning,
            "content": {"application/json": {"schema": shapes.get(status, ERROR if int(status) >= 400 else ANY)}},
        }
        for status, meaning in meanings.items()
    }
