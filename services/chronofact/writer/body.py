"""A request's body to commands: by orjson where it decides nothing in silence, else by a slower exact reading."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import orjson

from chronofact.contracts.json_text import Raw, Repeating, check_tokens, exactly, may_lack_keys
from chronofact.domain.canonical import SAFE_INTEGER, check_integer
from chronofact.domain.errors import Rejected

Parsed: TypeAlias = "dict[str, Any] | Rejected"
"""A command still unchecked, or why there is none at its index."""

_DEPTH_MAX: Final = 70
_HUGE: Final = float(SAFE_INTEGER)


@dataclass(frozen=True, slots=True)
class Body:
    """The commands of a body in order; ``is_single`` when it was one JSON object."""

    commands: list[Parsed]
    is_single: bool


def parse_json(raw: Raw, *, commands_max: int) -> Body:
    """One command or an array of them.

    Raises:
        Rejected: ``body_empty``, ``json_malformed``, ``encoding_not_utf8``, ``nesting_too_deep``, ``number_not_finite``,
            ``command_not_object``, ``commands_too_many``: the body as a whole.
    """
    if not raw.strip():
        raise Rejected("body_empty", "the body is empty")
    check_tokens(raw)
    found = _load(raw)
    match found:
        case dict():
            return Body([found], is_single=True)
        case list():
            check_count(len(found), commands_max)
            return Body([_command(one) for one in found], is_single=False)
        case _:
            raise Rejected("command_not_object", "the body is neither an object nor an array of objects")


def parse_lines(raw: Raw, *, commands_max: int) -> Body:
    """NDJSON; blank lines are passed over, a line that does not parse is refused at its index.

    Raises:
        Rejected: ``body_empty``, ``commands_too_many``.
    """
    check_count(raw.count(b"\n"), 2 * commands_max)
    lines = [line for line in raw.split(b"\n") if line and not line.isspace()]
    if not lines:
        raise Rejected("body_empty", "the body is empty")
    check_count(len(lines), commands_max)
    check_tokens(raw)
    return Body([_line(line) for line in lines], is_single=False)


def check_count(count: int, commands_max: int) -> None:
    """Refuses more commands than a request may have."""
    if count > commands_max:
        raise Rejected("commands_too_many", f"one request has at most {commands_max} commands")


def _line(line: Raw) -> Parsed:
    try:
        return _command(_load(line))
    except Rejected as error:
        return Rejected(error.code, error.message.replace("the body", "the line", 1), field=error.field)


def _command(found: Any) -> Parsed:
    match found:
        case dict() | Rejected():
            return found
        case _:
            return Rejected("command_not_object", "a command is a JSON object")


def _load(raw: Raw) -> Any:
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _load_exactly(raw)
    return _load_exactly(raw) if _is_doubtful(raw, found) else found


def _is_doubtful(raw: Raw, found: Any) -> bool:
    """Whether orjson may have dropped a repeated key or rounded an integer."""
    return may_lack_keys(raw, found) or _has_huge_value(found)


def _has_huge_value(found: Any) -> bool:
    commands = found if type(found) is list else (found,)
    return any(type(one) is dict and _has_huge(one.get("value")) for one in commands)


def _has_huge(found: Any) -> bool:
    kind = type(found)
    if kind is float:
        return not -_HUGE < found < _HUGE
    if kind is dict:
        return any(map(_has_huge, found.values()))
    return kind is list and any(map(_has_huge, found))


# -- the exact reading -----------------------------------------------------------------------------


def _load_exactly(raw: Raw) -> Any:
    """As RFC 8259 says, with every command checked that holds what JSON allows and we can't keep."""
    found = exactly(raw, constant=float)
    try:
        return [_checked(one) for one in found] if type(found) is list else _raised(_checked(found))
    except RecursionError:
        raise Rejected("nesting_too_deep", "values nest at most 64 deep") from None


def _raised(found: Any) -> Any:
    if isinstance(found, Rejected):
        raise found
    return found


def _checked(command: Any) -> Any:
    """The command, or its refusal naming the field."""
    try:
        if isinstance(command, Repeating):
            return Rejected("json_key_repeated", "a key is named twice")
        if isinstance(command, dict):
            for name, found in command.items():
                _check_text(name)
                _check_field(name, found)
        else:
            _check(command, 0)
    except Rejected as error:
        return error
    return command


def _check_field(name: str, found: Any) -> None:
    try:
        _check(found, 0)
    except Rejected as error:
        raise error.at(name) from None


def _check(found: Any, depth: int) -> None:
    if depth > _DEPTH_MAX:
        raise Rejected("nesting_too_deep", "values nest at most 64 deep")
    match found:
        case Repeating():
            raise Rejected("json_key_repeated", "an object names a key twice")
        case str():
            _check_text(found)
        case bool():
            return
        case int():
            check_integer(found)
        case float() if not math.isfinite(found):
            raise Rejected(
                "number_not_finite", "NaN, an infinity, or a number beyond what a double can hold, is no JSON number"
            )
        case dict():
            for name, inner in found.items():
                _check_text(name)
                _check(inner, depth + 1)
        case list():
            for inner in found:
                _check(inner, depth + 1)
        case _:
            return


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Rejected("surrogate_lone", "text has a lone surrogate, which is not valid Unicode") from None
