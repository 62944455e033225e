"""`make soak`: dense histories with fresh seeds, for as long as it is told; each failure prints its seed and story."""

from __future__ import annotations

import os
import time
from random import Random, SystemRandom

import pytest

from tests.property.play import problems
from tests.property.shrink import smallest
from tests.property.strategies import PROFILES, Dice, Profile, history
from tests.property.translate import story

SOAK_S = float(os.environ.get("CHRONOFACT_SOAK_S", "60"))
"""For each profile."""
DENSE = PROFILES | {
    "mixed": Profile(
        versions=(3, 8), automatic=50, stated=50,
        kinds="supersede supersede end end revoke take_back decide decide activate other",
    ),
    "tight": Profile(versions=(3, 6), starts=(20, 30, 30, 40), automatic=50, stated=60, kinds="supersede supersede decide end"),
    "judged": Profile(versions=(4, 8), automatic=90, stated=15, proposed=0, kinds="decide decide supersede supersede end"),
    "turning": Profile(versions=(3, 6), many=75, automatic=40, stated=25, kinds="revoke decide end take_back supersede activate"),
}  # fmt: skip


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("profile", DENSE)
def test_dense_histories_answer_as_the_oracle(profile: str) -> None:
    first = SystemRandom().randrange(1 << 40)
    until = time.monotonic() + SOAK_S
    seed = first
    while time.monotonic() < until:
        rng = Random(seed)
        events = history(Dice(rng.randrange), rng.randint(4, 25), DENSE[profile])
        if problems(events):
            small = smallest(events, lambda fewer: bool(problems(fewer)))
            pytest.fail(f"{profile}, seed {seed}\n{story(small)}\n" + "\n".join(problems(small)), pytrace=False)
        seed += 1
    print(f"{profile}: {seed - first} histories from seed {first}")
