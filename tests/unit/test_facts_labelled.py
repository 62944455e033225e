"""On the labelled pairs, which structured facts of the later memory would close one of the earlier."""

from __future__ import annotations

from functools import cache

from chronofact.text.dates import Dates
from chronofact.text.frames import Frame
from chronofact.text.slots import blocked_by, key_of, states_of, why_none
from chronofact.text.untaken import Untaken
from chronofact.text.windows import of_fact
from tests.labelled_pairs import Pair, pairs

CHANGES_MIN, UNRELATED_MAX = 0.38, 4


def facts(frames: tuple[Frame, ...]) -> dict[str, Frame]:
    """Those of a memory that is said at some time, by key."""
    found = {
        key_of(one): one
        for frame in frames
        for one in states_of(frame)
        if why_none(one) is None and not isinstance(of_fact(one, Dates(), 0), Untaken)
    }
    return {key: one for key, one in found.items() if key is not None}


def closes(pair: Pair) -> bool:
    """Whether a value of the new memory closes another one of the candidate."""
    older, newer = facts(pair.candidate.frames), facts(pair.new.frames)
    return any(
        newer[key].value != older[key].value and blocked_by(newer[key]) is None for key in newer.keys() & older.keys()
    )


@cache
def later() -> tuple[Pair, ...]:
    """Pairs of which the new memory is valid later, and the candidate still holds then."""
    return tuple(
        one
        for file in ("subject_pairs.jsonl", "subject_pairs_more.jsonl")
        for one in pairs(file)
        if one.said["order"] == "new_later"
    )


def test_changes_close_what_they_change() -> None:
    changes = [one for one in later() if one.said["relation"] == "supersedes"]
    assert sum(map(closes, changes)) >= CHANGES_MIN * len(changes)


def test_what_is_unrelated_closes_next_to_nothing() -> None:
    wrong = [one.name for one in later() if one.said["relation"] == "unrelated" and closes(one)]
    assert len(wrong) <= UNRELATED_MAX, wrong


def test_what_contradicts_is_closed_only_by_a_change_of_a_part() -> None:
    """Of "lives in Reno and works at Asana", having moved closes the one; the memory stays, for the other."""
    wrong = [one.name for one in later() if one.said["relation"] == "contradicts" and closes(one)]
    assert all("moved" in name for name in wrong), wrong
