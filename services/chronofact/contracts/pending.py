"""The pairs that a check left undecided, as ``RelationsChecked.reason`` spells them: it is all that a replay has of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson

REASON_CHARS_MAX: Final = 4_096
"""What a command's ``reason`` may have; ids that it lacks room for are left out, and ``pending`` still counts them."""
UNTOLD: Final = "not_told"
"""Why a pair is pending where the check did not say."""


class PendingPair(NamedTuple):
    """The other memory of a pair, and why nobody has decided it."""

    other: bytes
    reason: str


def reason_of_check(why: str, pending: Iterable[PendingPair], *, beyond: int = 0) -> str:
    """``why`` in a word, or where pairs are pending canonical JSON that names them by reason.

    ``beyond`` counts further pairs, which nobody is asked about before these are decided.
    """
    by_reason: dict[str, list[str]] = {}
    said: dict[str, Any] = {"pending": by_reason, "why": why}
    if beyond:
        said["beyond"] = beyond
    room = REASON_CHARS_MAX - len(orjson.dumps(said))
    for pair in sorted(pending):
        room -= _ID_CHARS if pair.reason in by_reason else _ID_CHARS + len(orjson.dumps({pair.reason: []}))
        if room < 0:
            break
        by_reason.setdefault(pair.reason, []).append(str(UUID(bytes=pair.other)))
    if not by_reason:
        return why
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode()


def beyond_in(reason: str | None) -> int:
    """How many further pairs a check counted behind those that it named."""
    said = _said(reason)
    beyond = said.get("beyond") if isinstance(said, dict) else None
    return beyond if isinstance(beyond, int) and beyond > 0 else 0


def pending_in(reason: str | None) -> list[PendingPair]:
    """The pairs that a check named, by the other memory; none where it is a mere word, or another's text."""
    said = _said(reason)
    named = said.get("pending") if isinstance(said, dict) else None
    if not isinstance(named, dict):
        return []
    return sorted(PendingPair(other, why) for why, ids in _lists(named) for other in ids)


def _said(reason: str | None) -> Any:
    try:
        return orjson.loads(reason or "null")
    except orjson.JSONDecodeError:
        return None


_ID_CHARS: Final = len('"00000000-0000-0000-0000-000000000000",')


def _lists(named: Mapping[str, Any]) -> Iterable[tuple[str, list[bytes]]]:
    for why, ids in named.items():
        if isinstance(ids, list):
            yield why, [UUID(one).bytes for one in ids if isinstance(one, str) and _is_id(one)]


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
