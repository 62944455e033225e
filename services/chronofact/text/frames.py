"""A frame: one asserted clause of a text, as plain data that is stored with the memory (semantics §7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Polarity(StrEnum):
    """Whether the clause says that it holds or that it doesn't."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class Modality(StrEnum):
    """Only what is asserted may supersede; a plan can be superseded as a plan."""

    ASSERTED = "asserted"
    PLANNED = "planned"
    HYPOTHETICAL = "hypothetical"
    QUESTION = "question"


class Temporality(StrEnum):
    """When it holds, as grammar and adverbs tell it."""

    CURRENT = "current"
    PAST = "past"
    STARTED = "started"
    CHANGE = "change"
    ENDED = "ended"


class Holds(StrEnum):
    """How many values the slot may hold at once."""

    ONE = "one"
    MANY = "many"
    IMMUTABLE = "immutable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Frame:
    """One clause. ``guards`` names what forbids it to take part in a supersession by rule."""

    entity: str
    slot: str
    value: str
    value_type: str = ""
    polarity: Polarity = Polarity.POSITIVE
    modality: Modality = Modality.ASSERTED
    temporality: Temporality = Temporality.CURRENT
    cardinality: Holds = Holds.UNKNOWN
    scope: str = ""
    from_value: str = ""
    is_main: bool = True
    cues: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    line: str = ""
    """The whole sentence, on the first frame of a text of one (``lines``)."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; what is as by default is left out."""
        said: dict[str, Any] = {"entity": self.entity, "slot": self.slot, "value": self.value}
        for name, default in _DEFAULTS.items():
            mine = getattr(self, name)
            if mine != default:
                said[name] = list(mine) if isinstance(mine, tuple) else mine
        return said

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Frame:
        """The same frame; ValueError or TypeError where it isn't one."""
        for name in ("entity", "slot", "value", "value_type", "scope", "from_value", "line"):
            if not isinstance(said.get(name, ""), str):
                raise TypeError(name)
        return cls(
            entity=said["entity"],
            slot=said["slot"],
            value=said["value"],
            value_type=said.get("value_type", ""),
            polarity=Polarity(said.get("polarity", Polarity.POSITIVE)),
            modality=Modality(said.get("modality", Modality.ASSERTED)),
            temporality=Temporality(said.get("temporality", Temporality.CURRENT)),
            cardinality=Holds(said.get("cardinality", Holds.UNKNOWN)),
            scope=said.get("scope", ""),
            from_value=said.get("from_value", ""),
            is_main=bool(said.get("is_main", True)),
            cues=tuple(map(str, said.get("cues", ()))),
            guards=tuple(map(str, said.get("guards", ()))),
            unread=tuple(map(str, said.get("unread", ()))),
            line=said.get("line", ""),
        )


_DEFAULTS: dict[str, Any] = {
    "value_type": "",
    "polarity": Polarity.POSITIVE,
    "modality": Modality.ASSERTED,
    "temporality": Temporality.CURRENT,
    "cardinality": Holds.UNKNOWN,
    "scope": "",
    "from_value": "",
    "is_main": True,
    "cues": (),
    "guards": (),
    "unread": (),
    "line": "",
}


def of_entity(frame: Frame) -> str:
    """Of whom or what it is; ``the search project`` is ``search``."""
    return frame.entity.removesuffix(" project") or frame.entity


def frames_of_json(said: Iterable[Mapping[str, Any]]) -> tuple[Frame, ...]:
    """All frames of a stored list, or none where any of them isn't one: half a reading must not supersede."""
    try:
        return tuple(Frame.from_json(one) for one in said)
    except (KeyError, TypeError, ValueError, AttributeError):
        return ()
