"""The commands of ``POST /v1/events`` as the writer takes them; a field that is not named here is refused."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

NO_NUL = r"^[^\x00]*$"
"""U+0000 is refused by name wherever a text is stored."""
VALUE_BYTES_MAX: Final = 65_536
"""Of a value, and of a memory's text, in canonical JSON."""

Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=NO_NUL)]
Reason: TypeAlias = Annotated[str, StringConstraints(max_length=4_096, pattern=NO_NUL)]
Instant: TypeAlias = Annotated[str, StringConstraints(max_length=64)]
IdText: TypeAlias = Annotated[str, StringConstraints(max_length=36)]
Mode: TypeAlias = Literal["replace", "override"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Source(_Part):
    """The evidence: its name, and its SHA-256 (hex) or the text to hash."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=1_024, pattern=NO_NUL)]
    hash: Annotated[str, StringConstraints(max_length=64)] | None = None
    text: str | None = None


class Supersedes(_Part):
    """A stated edge of an assertion; what is absent is defaulted as semantics §3 says."""

    version_id: IdText
    effective_at: Instant | None = None
    mode: Mode | None = None


class _Command(_Part):
    subject: Name
    key: str
    scope: str | None = None
    recorded_at: Instant | None = None
    idempotency_key: Annotated[str, StringConstraints(max_length=256)] | None = None


class Assert(_Command):
    """This held, from then to then, by this evidence."""

    type: Literal["assert"]
    value: Any
    source: Source
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    lifecycle: Literal["ACTIVE", "PROPOSED"] = "ACTIVE"
    supersedes: Supersedes | Annotated[list[Supersedes], Field(max_length=100)] | None = None
    succession: Literal["explicit", "automatic"] | None = None
    cardinality: Literal["one", "many"] | None = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None


class Activate(_Command):
    """A proposed version is admitted."""

    type: Literal["activate"]
    version_id: IdText
    reason: Reason | None = None


class Supersede(_Command):
    """One version supersedes another."""

    type: Literal["supersede"]
    new_version_id: IdText
    old_version_id: IdText
    effective_at: Instant | None = None
    mode: Mode | None = None
    reason: Reason | None = None


class End(_Command):
    """A version stops holding, with nothing in its place."""

    type: Literal["end"]
    version_id: IdText
    effective_at: Instant
    reason: Reason | None = None


class Revoke(_Command):
    """A version, or the event of an end, a supersession or a decision, never counted."""

    type: Literal["revoke"]
    version_id: IdText | None = None
    event_id: IdText | None = None
    reason: Reason | None = None


class ResolveConflict(_Command):
    """Of two versions one is kept, or neither (``keep`` null)."""

    type: Literal["resolve_conflict"]
    left_version_id: IdText
    right_version_id: IdText
    keep: IdText | None
    decided_at: Instant
    decided_by: Name | None = None
    reason: Reason | None = None


class DeclareRelation(_Command):
    """How two text memories relate, and who says so."""

    type: Literal["declare_relation"]
    left_version_id: IdText
    right_version_id: IdText
    relation: Literal["supersedes", "contradicts", "near_duplicate", "unrelated"]
    newer_version_id: IdText | None = None
    decided_at: Instant
    decided_by: Literal["rule", "model", "person"]
    reason: Reason | None = None
    llm_call_made: bool = False
    model: Name | None = None


class CheckRelations(_Command):
    """The pairs of a text memory have been looked at, by whoever decides them (role ``service``)."""

    type: Literal["check_relations"]
    version_id: IdText
    pairs: int
    decided: int
    pending: int
    reason: Reason | None = None
    llm_call_made: bool = False


class Memory(_Part):
    """What somebody said, as a text memory of ``POST /v1/memories``: a version of the fact ``memory/<category>``."""

    subject: Name
    category: str
    text: str
    source: Source
    scope: str | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    recorded_at: Instant | None = None
    idempotency_key: Annotated[str, StringConstraints(max_length=256)] | None = None


Command: TypeAlias = Assert | Activate | Supersede | End | Revoke | ResolveConflict | DeclareRelation | CheckRelations
"""Any of them, told apart by ``type``."""


def _tag(model: type[BaseModel]) -> str:
    (tag,) = get_args(model.model_fields["type"].annotation)
    return str(tag)


COMMANDS: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="type")])

FIELDS: Final = MappingProxyType({_tag(model): tuple(model.model_fields) for model in get_args(Command)})
"""The fields of each type of command."""
PARTS: Final = MappingProxyType({"source": tuple(Source.model_fields), "supersedes": tuple(Supersedes.model_fields)})
"""The fields of what lies within a field."""
