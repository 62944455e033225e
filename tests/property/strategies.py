"""Random histories of one fact on a small grid of valid time: one generator for seeded loops and for Hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from random import Random
from typing import Final, TypeVar

from hypothesis import strategies as st

from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    Event,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    Lifecycle,
    Mode,
    RelationDeclared,
    RelationsChecked,
    Succession,
    Supersession,
    Verdict,
)
from chronofact.domain.interval import Interval

T = TypeVar("T")

STEP: Final = 10
"""Grid points lie this far apart, so that there is time between them."""
GRID: Final = tuple(point * STEP for point in range(9))
STRANGER: Final = bytes(15) + b"\xff"
"""A version id that no event of the fact asserts."""


class Dice:
    """All choices come from one source of numbers below a limit; zero is the plainest choice."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self._below = below

    def pick(self, options: Sequence[T]) -> T:
        return options[self._below(len(options))]

    def count(self, least: int, most: int) -> int:
        return least + self._below(most - least + 1)

    def chance(self, percent: int) -> bool:
        return self._below(100) >= 100 - percent

    def order(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        return [left.pop(self._below(len(left))) for _ in range(len(left))]


@dataclass(frozen=True)
class Profile:
    """What a family of histories is rich in; percents, and how many events of a kind one may expect."""

    versions: tuple[int, int] = (1, 5)
    values: str = "AABC"
    starts: tuple[int | None, ...] = (*GRID, None)
    many: int = 0
    automatic: int = 0
    proposed: int = 10
    stated: int = 35
    known_start: int = 100
    kinds: str = "supersede activate end revoke take_back decide other"


CROWD: Final = Profile(
    versions=(17, 40),
    starts=(*GRID[2:5], GRID[3], None),
    proposed=3,
    stated=4,
    automatic=15,
    kinds="end revoke decide activate",
)
"""Many agreeing or rival versions behind one stretch."""
PROFILES: Final = {
    "all": Profile(many=15, automatic=40),
    "automatic": Profile(versions=(2, 7), automatic=100, proposed=5, stated=0, kinds="end end revoke activate other"),
    "stated_chain": Profile(versions=(2, 6), stated=80, proposed=5, kinds="supersede supersede end revoke take_back"),
    "decisions": Profile(versions=(2, 4), automatic=50, stated=35, kinds="decide decide decide take_back revoke end supersede"),
    "cycles": Profile(versions=(2, 4), starts=GRID[2:5], automatic=40, stated=90, kinds="supersede supersede decide"),
    "many": Profile(versions=(2, 6), many=92, automatic=20, kinds="supersede end revoke take_back decide activate"),
    "same_start": Profile(versions=(2, 6), starts=(GRID[3], GRID[3], GRID[4]), automatic=50),
    "through": Profile(
        versions=(5, 7), values="ABCDEF", starts=GRID[2:6], automatic=25, stated=70, proposed=0,
        kinds="supersede revoke decide",
    ),
    "texts": Profile(
        versions=(2, 5), starts=(*GRID[2:6], None, None), many=100, stated=10, known_start=40,
        kinds="relate relate relate relate end revoke decide supersede take_back",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One version that a history may speak of."""

    version_id: bytes
    value: bytes
    valid: Interval
    valid_from_known: bool

    def asserted(self, **stamps: object) -> FactAsserted:
        digest = sha256(self.value).digest()
        said = FactAsserted(self.version_id, self.value, digest, self.valid, "s", bytes(32))
        return replace(said, valid_from_known=self.valid_from_known, **stamps)  # type: ignore[arg-type]


def random_history(rng: Random, size: int, profile: str) -> list[Event]:
    """A history of about ``size`` events in log order, repeats included."""
    return history(Dice(rng.randrange), size, PROFILES[profile])


def random_set(rng: Random, size: int, profile: str) -> list[Event]:
    """At most ``size`` different events, all with one system time."""
    events = {event.event_id: event for event in random_history(rng, size, profile)}
    return [replace(event, recorded_at=0) for event in list(events.values())[:size]]


def histories(profile: str, *, size_max: int = 10) -> st.SearchStrategy[list[Event]]:
    """The same histories for Hypothesis, which shrinks them."""

    @st.composite
    def drawn(draw: st.DrawFn) -> list[Event]:
        dice = Dice(lambda limit: draw(st.integers(0, limit - 1)))
        return history(dice, dice.count(1, size_max), PROFILES[profile])

    return drawn()


def history(dice: Dice, size: int, profile: Profile) -> list[Event]:
    claims = [_claim(dice, number, profile) for number in range(dice.count(*profile.versions))]
    said: list[Happening] = [_assert(dice, claim, claims, profile) for claim in claims if not dice.chance(8)]
    for _ in range(len(said), size):
        said.append(_say(dice, claims, said, profile))
    return _recorded(dice, _shuffled(dice, said))


def event_id_of(what: Happening) -> bytes:
    return blake2b(repr(what).encode(), digest_size=16).digest()


def _shuffled(dice: Dice, said: list[Happening]) -> list[Happening]:
    """In the order made, some later ones first, or in any order; some said twice."""
    said = said + [dice.pick(said) for _ in range(dice.pick((0, 0, 1, 2))) if said]
    return dice.order(said) if dice.chance(60) else said


def _recorded(dice: Dice, said: list[Happening]) -> list[Event]:
    """System time that stands, goes on and now and then falls."""
    events: list[Event] = []
    time = 100
    for what in said:
        time += dice.pick((1, 0, 2, 0, -3, 9))
        events.append(Event(event_id_of(what), what, time))
    return events


def _claim(dice: Dice, number: int, profile: Profile) -> Claim:
    start = dice.pick(profile.starts)
    ends = [point for point in (*GRID, GRID[-1] + STEP) if start is None or point > start]
    end = dice.pick(ends) if dice.chance(40) else None
    known = start is not None or not dice.chance(100 - profile.known_start)
    value = f'"{dice.pick(profile.values)}"'.encode()
    return Claim(bytes(15) + bytes([number + 1]), value, Interval(start, end), known)


def _assert(dice: Dice, claim: Claim, claims: Sequence[Claim], profile: Profile) -> FactAsserted:
    states = dice.count(1, 2) if dice.chance(profile.stated) else 0
    return claim.asserted(
        lifecycle=Lifecycle.PROPOSED if dice.chance(profile.proposed) else Lifecycle.ACTIVE,
        cardinality=Cardinality.MANY if dice.chance(profile.many) else Cardinality.ONE,
        succession=Succession.AUTOMATIC if dice.chance(profile.automatic) else Succession.EXPLICIT,
        confidence=dice.pick((None, 0.2, 0.8)),
        supersedes=tuple(_supersession(dice, claims) for _ in range(states)),
    )


def _supersession(dice: Dice, claims: Sequence[Claim]) -> Supersession:
    return Supersession(_any_version(dice, claims), _maybe_at(dice), _maybe_mode(dice))


def _say(dice: Dice, claims: Sequence[Claim], said: Sequence[Happening], profile: Profile) -> Happening:
    kind = dice.pick(("again", *profile.kinds.split()))
    if kind == "again":
        return _assert(dice, dice.pick(claims), claims, profile)
    if kind == "take_back":
        return FactRevoked(event_id=event_id_of(dice.pick(said)) if said else bytes(16))
    return SAY[kind](dice, claims)


def _supersede(dice: Dice, claims: Sequence[Claim]) -> Happening:
    new, old = _any_version(dice, claims), _any_version(dice, claims)
    return FactSuperseded(new, old, _maybe_at(dice), _maybe_mode(dice), dice.pick((None, "r")))


def _end(dice: Dice, claims: Sequence[Claim]) -> Happening:
    return FactEnded(_any_version(dice, claims), dice.pick(GRID), dice.pick((None, "r")))


def _decide(dice: Dice, claims: Sequence[Claim]) -> Happening:
    """Most keep one of two, some neither, a few a third or a pair of one (which never apply)."""
    left, right = sorted((_any_version(dice, claims), _any_version(dice, claims)))
    keep = dice.pick((left, right, None, left, right, None, _any_version(dice, claims)))
    return ConflictResolved(left, right, keep, dice.count(0, 3), dice.pick((None, "p", "q")))


def _relate(dice: Dice, claims: Sequence[Claim]) -> Happening:
    left, right = sorted((_any_version(dice, claims), _any_version(dice, claims)))
    verdict = dice.pick(tuple(Verdict))
    newer = dice.pick((left, right)) if verdict is Verdict.SUPERSEDES else None
    return RelationDeclared(left, right, verdict, newer, dice.pick(GRID), dice.pick(tuple(Decider)))


def _other(dice: Dice, claims: Sequence[Claim]) -> Happening:
    if dice.chance(50):
        return EventDropped("t", 0, dice.count(0, 9), "p", "r")
    return RelationsChecked(_any_version(dice, claims), 0, 0, 0)


SAY: Final[dict[str, Callable[[Dice, Sequence[Claim]], Happening]]] = {
    "supersede": _supersede,
    "activate": lambda dice, claims: FactActivated(_any_version(dice, claims)),
    "end": _end,
    "revoke": lambda dice, claims: FactRevoked(version_id=_any_version(dice, claims)),
    "decide": _decide,
    "relate": _relate,
    "other": _other,
}


def _any_version(dice: Dice, claims: Sequence[Claim]) -> bytes:
    return STRANGER if dice.chance(3) else dice.pick(claims).version_id


def _maybe_at(dice: Dice) -> int | None:
    return dice.pick(GRID) if dice.chance(50) else None


def _maybe_mode(dice: Dice) -> Mode | None:
    return dice.pick((None, Mode.REPLACE, Mode.OVERRIDE))
