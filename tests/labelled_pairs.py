"""The labelled pairs of memories, read as a service would: frames, candidate keys, then the rule."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from chronofact.domain.events import Verdict
from chronofact.text.extract import Extractor
from chronofact.text.frames import Frame
from chronofact.text.pairs import Judgement, Memory, Outcome, index_keys, judge, lookup_keys

DATA = Path(__file__).parent / "data"
CANDIDATE, NEW = b"candidate", b"new"
ALIKE = 0.9
"""A cosine that lets the rule look at whole sentences, however far the two are apart."""


@cache
def extractor() -> Extractor:
    """One for all tests: loading it takes half a second."""
    return Extractor()


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled pair; ``said`` is its line."""

    said: dict[str, Any]
    candidate: Memory
    new: Memory

    @property
    def should_fire(self) -> bool:
        """Whether the rule ought to decide it."""
        return bool(self.said["fast_path"] == "supersede")

    @property
    def name(self) -> str:
        """For a failing test."""
        return f"{self.said['id']}: {self.candidate.text} / {self.new.text}"

    def is_found(self) -> bool:
        """Whether the keys alone bring the two together."""
        return bool(set(lookup_keys(self.new.frames)) & set(index_keys(self.candidate.frames)))

    def judged(self, cosine: float | None = None) -> Judgement:
        """As the adjudicator would, the candidate having come first."""
        return judge(self.new, self.candidate, cosine)

    def is_right(self, judgement: Judgement) -> bool:
        """Whether a decision of the rule is what a person said."""
        newer = NEW if self.said["supersede_direction"] == "new_over_old" else CANDIDATE
        return (
            judgement.verdict is Verdict.SUPERSEDES
            and self.said["relation"] == "supersedes"
            and judgement.newer == newer
        )


def memory(
    version_id: bytes,
    text: str,
    valid_from: str | None,
    valid_to: str | None = None,
    frames: tuple[Frame, ...] | None = None,
) -> Memory:
    """A memory with the frames of its text."""
    start = None if valid_from is None else _microseconds(valid_from)
    end = None if valid_to is None else _microseconds(valid_to)
    return Memory(
        version_id, text, start, valid_from is not None, end, extractor().frames(text) if frames is None else frames
    )


def _microseconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp() * 1_000_000)


def pairs(file: str = "subject_pairs.jsonl", tag: str = "") -> tuple[Pair, ...]:
    """All of a file, or those with a tag."""
    return tuple(pair for pair in _pairs(file) if not tag or tag in pair.said["tags"])


@cache
def _pairs(file: str) -> tuple[Pair, ...]:
    lines = [json.loads(line) for line in (DATA / file).read_text().splitlines()]
    frames = iter(extractor().frames_of_many(said[side]["text"] for said in lines for side in ("candidate", "new")))
    return tuple(Pair(said, _side(said, CANDIDATE, next(frames)), _side(said, NEW, next(frames))) for said in lines)


def _side(said: dict[str, Any], name: bytes, frames: tuple[Frame, ...]) -> Memory:
    side = said[name.decode()]
    return memory(name, side["text"], side["valid_from"], side["valid_until"], frames)


def fired(some: tuple[Pair, ...]) -> tuple[list[Pair], list[Pair]]:
    """The pairs that the rule decides through their keys, were all texts alike: right ones, wrong ones."""
    right: list[Pair] = []
    wrong: list[Pair] = []
    for pair in some:
        judgement = pair.judged(ALIKE)
        if judgement.outcome is Outcome.DECIDED and pair.is_found():
            (right if pair.is_right(judgement) else wrong).append(pair)
    return right, wrong


def is_superseded(earlier: str, later: str) -> bool:
    """Whether the keys bring two texts of March and June together, and the rule lets June's supersede March's."""
    was, now = memory(CANDIDATE, earlier, "2026-03-01T00:00:00+00:00"), memory(NEW, later, "2026-06-01T00:00:00+00:00")
    if not set(lookup_keys(now.frames)) & set(index_keys(was.frames)):
        return False
    judgement = judge(now, was, None)
    return (judgement.outcome, judgement.verdict, judgement.newer) == (Outcome.DECIDED, Verdict.SUPERSEDES, NEW)
