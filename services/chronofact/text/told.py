"""What else a sentence of a conversation told: the structured facts that it gave, kept with its memory's frames (ADR 44)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from chronofact.contracts.fact_keys import check_key
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_bound, parse_instant
from chronofact.text.frames import Frame

_TOLD: Final = "told"


class Given(NamedTuple):
    """A structured fact's version, and the frame that says it; ``is_automatic``: it closes what came before."""

    key: str
    version_id: bytes
    valid_from: int | None
    valid_to: int | None
    is_automatic: bool
    frame: Frame


@dataclass(frozen=True, slots=True)
class Told:
    """``frames`` is what the user says in it: read without its lead, and none of somebody else's words."""

    frames: tuple[Frame, ...] = ()
    given: tuple[Given, ...] = ()


UNTOLD: Final = Told()
"""Of a memory that nothing else is known of."""


def with_told(said: Sequence[Mapping[str, Any]], told: Told) -> list[dict[str, Any]]:
    """A memory's frames as JSON with what else was told, on the first of them; as they are where there is nothing."""
    if not said:
        return []
    found: dict[str, Any] = {}
    frames = [frame.to_json() for frame in told.frames]
    if frames != list(said):
        found["frames"] = frames
    if told.given:
        found["facts"] = [_spelled(one, told.frames) for one in dict.fromkeys(told.given)]
    first, *rest = map(dict, said)
    return [{**first, _TOLD: found} if found else first, *rest]


def told_of_json(said: Sequence[Mapping[str, Any]], frames: tuple[Frame, ...]) -> Told:
    """What ``with_told`` spelled beside these frames; nothing was told where any of it is something else."""
    found = said[0].get(_TOLD) if said and frames else None
    if not isinstance(found, dict):
        return Told(frames)
    try:
        if "frames" in found:
            frames = tuple(Frame.from_json(one) for one in found["frames"])
        given = tuple(_given(one, frames) for one in found.get("facts", ()))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, Rejected):
        return UNTOLD
    return Told(frames, given)


def _spelled(given: Given, frames: Sequence[Frame]) -> dict[str, Any]:
    return {
        # those of a sentence with dates were read without them
        "frame": frames.index(given.frame) if given.frame in frames else given.frame.to_json(),
        "key": given.key,
        "version_id": str(UUID(bytes=given.version_id)),
        "valid_from": format_bound(given.valid_from),
        "valid_to": format_bound(given.valid_to),
        "succession": "automatic" if given.is_automatic else "explicit",
    }


def _given(said: Mapping[str, Any], frames: Sequence[Frame]) -> Given:
    place = said["frame"]
    frame = frames[place] if isinstance(place, int) else Frame.from_json(place)
    start, end = (None if said[name] is None else parse_instant(said[name]) for name in ("valid_from", "valid_to"))
    is_automatic = said["succession"] == "automatic"
    check_key(said["key"])
    return Given(said["key"], UUID(said["version_id"]).bytes, start, end, is_automatic, frame)
