"""Where two pictures of a fact differ along valid time, and what each difference is (ADR 30)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from chronofact.contracts.shadow import NOT_DRAWN, NOT_THERE, Candidate, Difference, Said, Sort, Stretch, Verdict

LINES_A_FACT_MAX: Final = 50
"""Stretches of a fact with a line each; the rest of them are one line, of the gravest class among them."""
_ANSWERED: Final = frozenset({"value", "values"})
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_ABSENT: Final = Stretch(None, None, "not_there", None, (), None, None, NOT_THERE)
_GRAVEST_FIRST: Final = (Sort.UNKNOWN, Sort.DISCOVERED_CONFLICT, Sort.SCOPE_CHANGE, Sort.CORRECTING)


def differences(
    fact: Candidate,
    verdict: Verdict,
    *,
    old: Sequence[Stretch],
    new: Sequence[Stretch],
    behind: tuple[Said, Said],
) -> list[Difference]:
    """What differs of one fact, told and classed; there is always something.

    Args:
        fact: The fact.
        verdict: What the independent SQL says of the new side.
        old: Its answers on the old side along valid time; none where it is not there.
        new: The same on the new side.
        behind: What lies behind the answers, on either side.
    """
    explained, reason = reason_of(fact, verdict)
    found = [
        Difference(
            start,
            stop,
            is_behind=False,
            sort=sort_of(before, after, is_explained=explained),
            reason=reason,
            old_said=before.said,
            new_said=after.said,
            gone=_only(before, after),
            come=_only(after, before),
        )
        for start, stop, before, after in beside(old or [_ABSENT], new or [_ABSENT])
        if not before.is_same(after)
    ]
    if not found:
        sort = Sort.CORRECTING if explained else Sort.UNKNOWN
        found = [
            Difference(None, None, is_behind=True, sort=sort, reason=reason, old_said=behind[0], new_said=behind[1])
        ]
    return bounded(found)


def reason_of(fact: Candidate, verdict: Verdict) -> tuple[bool, str]:
    """Whether the new side is explained, and why or why not, in a word and what goes with it."""
    if fact.new_no is None:
        return False, "not_in_new"
    if not verdict.is_judged:
        return False, "check_could_not_judge"
    if verdict.wrong is not None:
        return False, f"check_disagrees {verdict.wrong}"
    if fact.new_seq < fact.old_seq:
        return False, "fewer_events_in_new"
    if fact.old_no is None:
        return True, "not_in_old"
    if fact.new_seq > fact.old_seq:
        return True, "more_events_in_new"
    return True, "said_otherwise_in_old" if fact.is_said_otherwise else "check_agrees"


def sort_of(old: Stretch, new: Stretch, *, is_explained: bool) -> Sort:
    """The class of a stretch; whether a value moved to another scope shows only beside other facts."""
    if not is_explained or NOT_DRAWN in {old.kind, new.kind}:
        return Sort.UNKNOWN
    if old.kind in _ANSWERED and new.kind == "conflict":
        return Sort.DISCOVERED_CONFLICT
    return Sort.CORRECTING


def beside(
    old: Sequence[Stretch], new: Sequence[Stretch]
) -> Iterator[tuple[datetime | None, datetime | None, Stretch, Stretch]]:
    """Both pictures cut at the bounds of either, in order; neighbours that say the same on both sides are one."""
    held: tuple[datetime | None, datetime | None, Stretch, Stretch] | None = None
    before, after = 0, 0
    start: datetime | None = None
    while True:
        left, right = old[before], new[after]
        stop = min(left.valid_to, right.valid_to, key=_open_last)
        if held is not None and held[2].is_same(left) and held[3].is_same(right):
            held = (held[0], stop, held[2], held[3])
        else:
            if held is not None:
                yield held
            held = (start, stop, left, right)
        if stop is None:
            yield held
            return
        start = stop
        before += left.valid_to == stop
        after += right.valid_to == stop


def bounded(found: list[Difference]) -> list[Difference]:
    """So many lines at most; the last stands for all that would follow."""
    if len(found) <= LINES_A_FACT_MAX:
        return found
    rest = found[LINES_A_FACT_MAX - 1 :]
    gravest = min(rest, key=lambda one: _GRAVEST_FIRST.index(one.sort))
    summed = Difference(
        rest[0].valid_from,
        rest[-1].valid_to,
        is_behind=False,
        sort=gravest.sort,
        reason=gravest.reason,
        old_said=gravest.old_said,
        new_said=gravest.new_said,
        stretches=len(rest),
    )
    return [*found[: LINES_A_FACT_MAX - 1], summed]


def _only(one: Stretch, other: Stretch) -> tuple[bytes, ...]:
    """Values that one of them answers and the other does not."""
    return tuple(sorted(set(one.value_hashes) - set(other.value_hashes))) if one.kind in _ANSWERED else ()


def _open_last(at: datetime | None) -> tuple[bool, datetime]:
    """Open is later than any instant that can be said, the last one, too."""
    return at is None, at or _LAST
