"""What must hold after each run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from chronofact.domain.events import Lifecycle
from chronofact.domain.history import History
from chronofact.domain.labels import Label
from chronofact.domain.paint import Painting
from chronofact.projector.loop import Limits, Projector
from tests.contract.memory_log import TOPIC_ID, Appended, MemoryLog, MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import Stopwatch, Witness
from tests.property.painted import Canvas, Painted
from tests.property.play import Play, wrong_answers, wrong_state
from tests.property.translate import to_oracle
from tests.simulation.expected import ExpectedFact, expected, unexpected, wrongly_dropped
from tests.simulation.group import MARKER
from tests.simulation.picture import FactPicture, Picture, differences, held_behind_nothing, picture_of
from tests.simulation.workload import MENDABLE

if TYPE_CHECKING:
    from tests.simulation.world import World

FALSE_ALARMS = ("log_shortened", "log_truncated", "topic_recreated", "projection_missing")
"""Nothing like that happens to a world's log or database."""
ORACLE_EVENTS_MAX = 7
ORACLE_FACTS = 2
REBUILD_STEPS_MAX = 2_000


def problems(world: World) -> list[str]:
    """All that is wrong at the end of a run; empty when it is right."""
    picture = world.side.picture()
    told = world.hindrances()
    wanted = expected(world, picture.dropped)
    found = [*world.audit.problems, *(f"false alarm: {code}" for code in FALSE_ALARMS if told[code])]
    found += held_behind_nothing(picture)
    found += unexpected(picture, wanted)
    found += wrongly_dropped(world, picture, wanted.facts)
    found += differences(without_outlived_codes(world, picture), without_outlived_codes(world, rebuilt(world, picture)))
    found += [
        f"partition {one} ends at {picture.checkpoints.get(one, 0)}"
        for one in world.topic.partitions
        if picture.checkpoints.get(one, 0) != world.end_of(one)
    ]
    small = [fact_id for fact_id, fact in wanted.facts.items() if len(fact.events) <= ORACLE_EVENTS_MAX]
    for fact_id in sorted(small)[:ORACLE_FACTS]:
        found += answered_wrong(picture.facts[fact_id], wanted.facts[fact_id])
    return found


def without_outlived_codes(world: World, picture: Picture) -> Picture:
    """What an older release could not read stays parked behind other poison under the code of that time."""
    parked = {
        place: ("", *line[1:]) if world.messages[place].kind in MENDABLE else line
        for place, line in picture.parked.items()
    }
    return replace(picture, parked=parked)


class QuietLog(MemoryLog):
    """Never shows what is no message."""

    def poll(self, *, events_max: int, wait_s: float) -> Sequence[Appended]:
        return [one for one in super().poll(events_max=events_max, wait_s=wait_s) if one.key != MARKER]


def rebuilt(world: World, live: Picture) -> Picture:
    """A new projection of the same log by one projector to which nothing happens; it knows what was given up."""
    topic, store = MemoryTopic(partitions=len(world.topic.partitions)), MemoryStore(rule=world.rule)
    topic.partitions = world.topic.partitions
    store.refuses = world.refuses
    store.dropped_elsewhere = {
        (TOPIC_ID, partition, offset): topic.partitions[partition][offset].key for partition, offset in live.dropped
    }
    log = QuietLog(topic)
    topic.admit(log)
    projector = Projector(
        log, store, observer=Witness(), monotonic=Stopwatch(), jitter=lambda: 0.5, limits=Limits(batch_events_max=64)
    )
    ends = {one: world.end_of(one) for one in world.topic.partitions}
    for _ in range(REBUILD_STEPS_MAX):
        projector.step()
        if {one: at for (_, one), (at, _) in store.tables.checkpoints.items()} == ends:
            break
    return picture_of(store)


def answered_wrong(fact: FactPicture, wanted: ExpectedFact) -> list[str]:
    """Where the painted timeline, the labels or the conflict edges do not say what the oracle says."""
    canvas = Canvas(
        {number: line[0] for number, line in fact.versions.items()},
        {line[0]: line[3] for line in fact.versions.values()},
        [Painted(known_from, seq, Painting(lane, *rest)) for lane, known_from, seq, *rest in fact.timeline],
    )
    labels = {number: Label(Lifecycle(line[0]), *line[1:]) for number, line in fact.labels.items()}
    edges = {(left, right): relation for left, right, relation in fact.conflicts}
    played = Play(History(), canvas, labels, edges, conflicts_open=fact.head[5])
    log = to_oracle(wanted.events, wanted.history.rule)
    return wrong_answers(played, log) + wrong_state(played, log)
