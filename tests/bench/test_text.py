"""What reading and judging memories costs and finds: labelled pairs, against the gate of similarity, in one run."""

from __future__ import annotations

import time
from collections import Counter
from typing import NamedTuple

import psutil
import pytest

from chronofact.text.embed import Embedder, cosine
from chronofact.text.pairs import DEFAULT, Judgement, Outcome
from tests.bench.figures import Figure, record
from tests.bench.meter import percentile
from tests.labelled_pairs import Pair, extractor, pairs

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1_800)]

FILES = {
    "subject_pairs.jsonl": 0.70,
    "subject_pairs_more.jsonl": 0.70,
    "subject_pairs_third.jsonl": 0.40,
    "subject_pairs_fourth.jsonl": 0.40,
    "subject_pairs_fifth.jsonl": 0.40,
    "subject_pairs_sixth.jsonl": 0.40,
}
"""Labelled pairs, and the part of the changes to find."""
MEMORIES = 100_000
JUDGED = 2_000
RELATIONS = ("supersedes", "contradicts", "near_duplicate", "unrelated")


class Seen(NamedTuple):
    """A pair, how near it is, and what was made of it; None where it is no candidate."""

    pair: Pair
    cosine: float
    judgement: Judgement | None

    @property
    def outcome(self) -> str:
        """One column of the table."""
        if self.judgement is None:
            return "no candidate"
        if self.judgement.outcome is Outcome.DECIDED:
            return "superseded, right" if self.pair.is_right(self.judgement) else "superseded, wrong"
        return {Outcome.MODEL: "to the model", Outcome.NOTHING: "nothing"}[self.judgement.outcome]


@pytest.fixture(scope="module")
def seen() -> dict[str, list[Seen]]:
    embedder = Embedder()
    found = {}
    for file in FILES:
        lines = []
        for pair in pairs(file):
            near = cosine(embedder.embed(pair.candidate.text), embedder.embed(pair.new.text))
            is_candidate = pair.is_found() or near >= DEFAULT.near
            lines.append(Seen(pair, near, pair.judged(near) if is_candidate else None))
        found[file] = lines
    return found


@pytest.mark.parametrize("file", FILES)
def test_who_decides_what(seen: dict[str, list[Seen]], file: str) -> None:
    lines = seen[file]
    _confusion(file, lines)
    _against_the_gate(file, lines)
    reasons = Counter(f"{one.judgement.outcome}: {one.judgement.reason}" for one in lines if one.judgement is not None)
    print(f"\nreasons, {file}: " + ", ".join(f"{name} {count}" for name, count in reasons.most_common()))
    asked = [one for one in lines if one.pair.should_fire]
    right = [one for one in lines if one.outcome == "superseded, right"]
    wrong = [one for one in lines if one.outcome == "superseded, wrong"]
    name = file.removesuffix(".jsonl")
    precision = len(right) / (len(right) + len(wrong))
    recall = sum(one.outcome == "superseded, right" for one in asked) / len(asked)
    beside = f"{len(right)} right, {len(wrong)} wrong of {len(lines)} pairs"
    record(Figure(f"superseded without a model, precision ({name})", precision, "", "at least", 0.97, "guards", beside))
    record(
        Figure(
            f"the same, recall ({name})",
            recall,
            "",
            "at least",
            FILES[file],
            "what the parse shows",
            f"of {len(asked)}",
        )
    )


def _confusion(file: str, lines: list[Seen]) -> None:
    columns = ("superseded, right", "superseded, wrong", "to the model", "nothing", "no candidate")
    print(f"\n{file}: | relation | pairs | {' | '.join(columns)} |")
    for relation in RELATIONS:
        mine = Counter(one.outcome for one in lines if one.pair.said["relation"] == relation)
        print(f"| {relation} | {mine.total()} | {' | '.join(str(mine[column]) for column in columns)} |")


def _against_the_gate(file: str, lines: list[Seen]) -> None:
    """A model that never errs, asked by either rule: what it is asked, and which changes nobody ever sees."""
    changes = [one for one in lines if one.pair.said["relation"] == "supersedes"]
    gate = [one for one in lines if one.cosine >= DEFAULT.duplicate]
    model = [one for one in lines if one.outcome == "to the model"]
    free = [one for one in changes if one.outcome == "superseded, right"]
    print(f"{file}: | who is asked | pairs to the model | changes by rule | by the model | never seen |")
    by_gate = sum(one.cosine >= DEFAULT.duplicate for one in changes)
    by_model = sum(one.outcome == "to the model" for one in changes)
    print(f"| cosine at or above 0.85 | {len(gate)} | 0 | {by_gate} | {len(changes) - by_gate} |")
    print(
        f"| time and attribute first | {len(model)} | {len(free)} | {by_model} | {len(changes) - len(free) - by_model} |"
    )
    floor = [one for one in lines if one.cosine >= min(change.cosine for change in free)]
    print(f"a gate low enough to see what the rule decides asks about {len(floor)} of {len(lines)} pairs")
    saved = len(free) / (len(free) + by_model) if free else 0.0
    name = file.removesuffix(".jsonl")
    record(Figure(f"changes decided without a model ({name})", saved, "of those seen", "at least", 0.5, "guards"))


def test_a_sentence_is_read_in_time() -> None:
    texts = [side.text for pair in pairs() for side in (pair.candidate, pair.new)]
    extractor().frames_of_many(texts[:20])
    took, used = [], []
    for text in texts:
        started, busy = time.perf_counter(), time.thread_time()
        extractor().frames(text)
        took.append((time.perf_counter() - started) * 1_000)
        used.append((time.thread_time() - busy) * 1_000)
    p50 = f"p50 {percentile(took, 0.5):.1f} ms; of a core p50 {percentile(used, 0.5):.1f}, p99 {percentile(used, 0.99):.1f} ms"
    record(Figure("frames of a sentence, p99", percentile(took, 0.99), "ms", "at most", 15, "the parse", p50))
    started = time.perf_counter()
    extractor().frames_of_many(texts)
    each = (time.perf_counter() - started) * 1_000 / len(texts)
    record(Figure("frames of a sentence among many", each, "ms", "told", None, "one parse of 64 at a time"))


def test_a_pair_is_judged_in_no_time() -> None:
    some = pairs()
    took = []
    for turn in range(JUDGED):
        pair = some[turn % len(some)]
        started = time.perf_counter()
        pair.judged(0.7)
        took.append((time.perf_counter() - started) * 1_000_000)
    p50 = f"p50 {percentile(took, 0.5):.0f} µs"
    record(Figure("a pair judged from stored frames, p99", percentile(took, 0.99), "µs", "at most", 500, "", p50))


def test_novel_words_are_forgotten() -> None:
    """Letters only: a word that no model knows, another in each text."""
    extractor().frames("User met the plumber near the market.")
    process = psutil.Process()
    strings = extractor()._nlp.vocab.strings
    before, size = len(strings), process.memory_info().rss
    started = time.perf_counter()
    extractor().frames_of_many(f"User met {_word(n).title()} near the {_word(n + 7)} market." for n in range(MEMORIES))
    each = (time.perf_counter() - started) * 1_000 / MEMORIES
    grown = (process.memory_info().rss - size) / 1_000_000
    beside = f"{each:.2f} ms a text, process {grown:+.0f} MB"
    record(
        Figure(
            "strings kept of 100,000 texts of novel words",
            len(strings) - before,
            "",
            "at most",
            1_000,
            "memory zones",
            beside,
        )
    )


def _word(number: int) -> str:
    letters = ""
    for _ in range(5):
        number, digit = divmod(number, 20)
        letters += "bdfgklmnprstvzhjwxcq"[digit] + "aeiou"[digit % 5]
    return letters
