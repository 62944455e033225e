"""What a model answered, believed only if it answers what was asked, whole and in the form that was asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from chronofact.domain.events import Verdict
from chronofact.text.prompt import REASONS, AskedPair, Prompt

MODEL_CHARS_MAX: Final = 200


class Fault(StrEnum):
    """Why an answer is not believed."""

    NOT_JSON = "answer_not_json"
    NOT_AN_ANSWER = "answer_not_an_answer"
    CUT = "answer_cut"
    DECLINED = "answer_declined"
    NOT_OF_THE_SCHEMA = "answer_not_of_the_schema"
    OTHER_PAIRS = "answer_other_pairs"
    NO_DIRECTION = "answer_no_direction"
    AGAINST_TIME = "answer_against_time"
    WITNESS = "answer_witness"


class BadAnswer(Exception):
    """An answer that decides nothing, by its fault; its text is not repeated."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.value)
        self.fault = fault


class PairVerdict(NamedTuple):
    """How the new memory and ``other`` relate; ``newer`` is the later one where one supersedes."""

    other: bytes
    relation: Verdict
    newer: bytes | None
    because: str


class Decided(NamedTuple):
    """What is believed of an answer; ``doubted`` are pairs that it decides against the known starts: they stay open."""

    verdicts: tuple[PairVerdict, ...]
    doubted: tuple[bytes, ...]


class Usage(NamedTuple):
    """Tokens as the server counted them; of ``is_told`` False, what was sent and received is only estimated."""

    read: int
    written: int
    is_told: bool


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Said(_Answer):
    pair: str
    relation: Literal["supersedes", "contradicts", "near_duplicate", "unrelated"]
    newer: str | None
    because: str


class _Verdicts(_Answer):
    verdicts: list[_Said]


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Counted(BaseModel):
    prompt_tokens: Annotated[int, Field(ge=0, le=2**40)] = 0
    completion_tokens: Annotated[int, Field(ge=0, le=2**40)] = 0


class Envelope(BaseModel):
    """The body of a chat completion, as far as it matters here."""

    model: Annotated[str, StringConstraints(max_length=MODEL_CHARS_MAX)] = ""
    system_fingerprint: Annotated[str, StringConstraints(max_length=MODEL_CHARS_MAX)] | None = None
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Counted | None = None

    def named(self, asked: str) -> str:
        """The model and its version, as the server tells them; the name that was asked for where it tells none."""
        name = _sayable(self.model) or asked
        return f"{name} {_sayable(self.system_fingerprint)}".strip() if self.system_fingerprint else name


class _Tokens(BaseModel):
    usage: _Counted


_ENVELOPE: TypeAdapter[Envelope] = TypeAdapter(Envelope)
_TOKENS: TypeAdapter[_Tokens] = TypeAdapter(_Tokens)
_VERDICTS: TypeAdapter[_Verdicts] = TypeAdapter(_Verdicts)


def envelope_of(raw: bytes) -> Envelope:
    """The body of a 200.

    Raises:
        BadAnswer: it is not JSON, or no chat completion.
    """
    try:
        return _ENVELOPE.validate_json(raw)
    except ValidationError as error:
        is_json = error.errors(include_input=False, include_url=False)[0]["type"] != "json_invalid"
        raise BadAnswer(Fault.NOT_AN_ANSWER if is_json else Fault.NOT_JSON) from None


def usage_of(raw: bytes, *, asked_chars: int) -> Usage:
    """What the call is to be counted as: by the server if it says, else by length; never nothing."""
    try:
        told = _TOKENS.validate_json(raw).usage
    except ValidationError:
        return Usage(asked_chars // 4 + 1, len(raw) // 4 + 1, is_told=False)
    return Usage(told.prompt_tokens, told.completion_tokens, is_told=True)


def decided_by(envelope: Envelope, prompt: Prompt) -> Decided:
    """One verdict for each pair that was asked for.

    Raises:
        BadAnswer: it is cut or declined, not of the schema, repeats or leaves out a pair, names as the newer memory none
            of the two, or is wrong about a witness. Then none of it counts.
    """
    choice = envelope.choices[0]
    if choice.message.refusal:
        raise BadAnswer(Fault.DECLINED)
    if choice.finish_reason not in {None, "stop"}:
        raise BadAnswer(Fault.CUT)
    said = _said(choice.message.content or "")
    if sorted(one.pair for one in said) != sorted(prompt.pairs):
        raise BadAnswer(Fault.OTHER_PAIRS)
    verdicts: list[PairVerdict] = []
    doubted: list[bytes] = []
    for one in said:
        pair = prompt.pairs[one.pair]
        if (one.relation == "supersedes") != (one.newer is not None) or one.newer not in {None, *pair.members}:
            raise BadAnswer(Fault.NO_DIRECTION)
        if pair.expected is not None and one.relation != pair.expected:
            raise BadAnswer(Fault.WITNESS)
        if (other := pair.other) is not None:
            if _is_against_time(pair, one.newer):
                doubted.append(other)
            else:
                verdicts.append(_verdict(pair, other, one))
    return Decided(tuple(verdicts), tuple(doubted))


def _said(content: str) -> list[_Said]:
    try:
        said = _VERDICTS.validate_json(content)
    except ValidationError as error:
        is_json = error.errors(include_input=False, include_url=False)[0]["type"] != "json_invalid"
        raise BadAnswer(Fault.NOT_OF_THE_SCHEMA if is_json else Fault.NOT_JSON) from None
    if any(one.because not in REASONS for one in said.verdicts):
        raise BadAnswer(Fault.NOT_OF_THE_SCHEMA)
    return said.verdicts


def _is_against_time(pair: AskedPair, newer: str | None) -> bool:
    """Whether the one that is said to be newer starts earlier than the other: no model outranks the times that are known."""
    if newer is None:
        return False
    (older,) = (member.starts for name, member in pair.members.items() if name != newer)
    starts = pair.members[newer].starts
    return starts is not None and older is not None and starts < older


def _verdict(pair: AskedPair, other: bytes, said: _Said) -> PairVerdict:
    newer = None if said.newer is None else pair.members[said.newer].version_id
    return PairVerdict(other, Verdict(said.relation), newer, said.because)


def _sayable(text: str | None) -> str:
    return "".join(char for char in text or "" if char.isprintable()).strip()
