"""The state hash of a fact: a sum of hashes, so that an event costs what it changes and facts add up (semantics §5)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from chronofact.domain.lanes import ELIGIBLE, lane_of
from chronofact.domain.picture import CROWD_MIN, Cell, Kind, Picture, Reason
from chronofact.domain.rivals import bits
from chronofact.domain.spans import NEG, NOWHERE, POS

if TYPE_CHECKING:
    from collections.abc import Collection

    from chronofact.domain.picture import Stroke
    from chronofact.domain.rivals import PairIds
    from chronofact.domain.standing import Standing, Version

MODULUS: Final = 1 << 256
_sha256: Final = sha256
KINDS: Final = {kind: kind.name.lower() for kind in Kind}
REASONS: Final[dict[Reason | None, str]] = {None: "null", **{reason: f'"{reason.name.lower()}"' for reason in Reason}}


class StateHash:
    """Keeps the sum up; what a fact does not show any more is subtracted."""

    def __init__(self) -> None:
        self._conflicts = 0
        self._lanes: dict[int, int] = {}
        self._lane_sum = 0
        self._crowd = (0, 0)

    def enter(self, pair: PairIds, relation: str) -> None:
        """A conflict edge came."""
        self._conflicts += _edge_hash(pair, relation)

    def leave(self, pair: PairIds, relation: str) -> None:
        """A conflict edge went."""
        self._conflicts -= _edge_hash(pair, relation)

    def take(self, standing: Standing, picture: Picture, affected: Collection[Version]) -> bytes:
        """The 32 bytes as of now; ``affected`` are the versions looked at since the last call."""
        if picture.shows_answers:
            self._lanes.clear()
            self._lane_sum = 0
            self._crowd = _hash_stretches(standing, picture, self._crowd)
        else:
            for version in affected if self._lanes else standing.numbered:
                if version.no:
                    self._lane_sum -= self._lanes.get(version.no, 0)
                    self._lanes[version.no] = sum(_lane_hash(version, stroke) for stroke in lane_of(version))
                    self._lane_sum += self._lanes[version.no]
        return ((picture.hash_sum + self._lane_sum + self._conflicts) % MODULUS).to_bytes(32)


def _hash_stretches(standing: Standing, picture: Picture, crowd: tuple[int, int]) -> tuple[int, int]:
    """Hashes the stretches that have none yet; a crowd's digest comes from the crowd met before it."""
    at = 0
    for start, end in picture.fresh:
        at = picture.index_of(start, at)
        while at < len(picture.starts) and picture.starts[at] < end:
            stretch = picture.stretch(at)
            mask = stretch[2].mask
            if mask.bit_count() > CROWD_MIN:
                crowd = (mask, _crowd_digest(standing, mask, crowd))
            picture.hashes[at] = number = _stretch_hash(standing, stretch, crowd[1])
            picture.hash_sum += number
            at += 1
    picture.fresh = NOWHERE
    return crowd


def _stretch_hash(standing: Standing, stretch: Stroke, crowd: int) -> int:
    start, end, cell = stretch
    mask = cell.mask
    if not mask & (mask - 1):
        version = standing.numbered[mask.bit_length() - 2] if mask else None
        behind = '"value_hashes":[],"version_ids":[]' if version is None else _behind(version)
    elif mask.bit_count() > CROWD_MIN:
        behind = f'"crowd":"{crowd:064x}","count":{mask.bit_count()}'
    else:
        versions = sorted((standing.numbered[no - 1] for no in bits(mask)), key=lambda version: version.id)
        values = ",".join(f'"{text}"' for text in sorted({version.value_key.hex() for version in versions}))
        ids = ",".join(f'"{version.id.hex()}"' for version in versions)
        behind = f'"value_hashes":[{values}],"version_ids":[{ids}]'
    return _hash(_described(start, end, cell, behind))


def _lane_hash(version: Version, stroke: Stroke) -> int:
    start, end, cell = stroke
    behind = _behind(version)
    kind = "lane" if cell == ELIGIBLE else "lane_unknown"
    return _hash(f'{{"lane":"{kind}",{_described(start, end, cell, behind)[1:]}')


def _behind(version: Version) -> str:
    return f'"value_hashes":["{version.value_key.hex()}"],"version_ids":["{version.id.hex()}"]'


def _described(start: int, end: int, cell: Cell, behind: str) -> str:
    """Bounds are microseconds since 1970 in decimal, null when open."""
    reason = REASONS[cell.reason]
    valid_from = "null" if start == NEG else f'"{start}"'
    valid_to = "null" if end == POS else f'"{end}"'
    kind = KINDS[cell.kind]
    return f'{{"kind":"{kind}","reason":{reason},"valid_from":{valid_from},"valid_to":{valid_to},{behind}}}'


def _crowd_digest(standing: Standing, mask: int, known: tuple[int, int]) -> int:
    """The sum of the hashes of version id and value hash of a crowd, from that of a neighbour with few differences."""
    before, digest = known
    if (mask ^ before).bit_count() > mask.bit_count():
        before = digest = 0
    for no in bits(mask & ~before):
        digest += _version_hash(standing.numbered[no - 1])
    for no in bits(before & ~mask):
        digest -= _version_hash(standing.numbered[no - 1])
    return digest % MODULUS


def _version_hash(version: Version) -> int:
    return int.from_bytes(_sha256(version.id + version.value_key).digest())


def _edge_hash(pair: PairIds, relation: str) -> int:
    return _hash(f'{{"left":"{pair[0].hex()}","relation":"{relation}","right":"{pair[1].hex()}"}}')


def _hash(text: str) -> int:
    return int.from_bytes(_sha256(text.encode()).digest())
