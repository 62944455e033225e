"""The generator's values in other spellings of Unicode: of each pair of letters one composed, one decomposed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from typing import Final
from unicodedata import normalize

from chronofact.domain.events import Event, FactAsserted

SPELLINGS: Final = {
    '"A"': '"caf\u00e9"',
    '"B"': '"cafe\u0301"',
    '"C"': '["\u00f1",{"k":"\u1e69"}]',
    '"D"': '["n\u0303",{"k":"s\u0307\u0323"}]',
    '"E"': '{"\u00e5":true}',
    '"F"': '{"a\u030a":true}',
    '"G"': '"\u2126"',
    '"H"': '"\u03a9"',
    '"I"': '"\uac00"',
    '"J"': '"\u1100\u1161"',
}
"""In a text, within an array and an object, as a key, a sign that is another's, a syllable of its letters."""


def spelled(events: Iterable[Event]) -> list[Event]:
    """The same history with these values."""
    return [_with(event, SPELLINGS) for event in events]


def composed(events: Iterable[Event]) -> list[Event]:
    """The same history with each value as NFC spells it."""
    return [_with(event, None) for event in events]


def _with(event: Event, spellings: dict[str, str] | None) -> Event:
    said = event.what
    if not isinstance(said, FactAsserted):
        return event
    text = said.value.decode()
    value = (normalize("NFC", text) if spellings is None else spellings[text]).encode()
    return replace(event, what=replace(said, value=value, value_hash=sha256(value).digest()))
