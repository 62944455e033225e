"""Events fed to ``History`` as the projector does, and everything that comes out, kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chronofact.domain.events import Event, FactAsserted, Lifecycle
from chronofact.domain.history import History, Outcome
from chronofact.domain.labels import Label
from chronofact.domain.rules import RULE_DEFAULT
from tests.property.oracle import (
    OAnswer,
    OLog,
    State,
    answer_at,
    conflicts,
    fold,
    instants,
    known_by,
    labels,
    superseded_by,
    supersedes,
)
from tests.property.oracle import system_times as times_of
from tests.property.painted import Canvas, overlaps
from tests.property.strategies import GRID, STEP
from tests.property.translate import short_id, to_oracle


@dataclass
class Play:
    """One history, its paintings, and its projected labels and conflict edges as the tables would hold them."""

    history: History
    canvas: Canvas
    labels: dict[int, Label] = field(default_factory=dict)
    edges: dict[tuple[bytes, bytes], str] = field(default_factory=dict)
    conflicts_open: int = 0
    state_hash: bytes = b""
    counted: list[Event] = field(default_factory=list)

    def feed(self, event: Event) -> None:
        """One event; a repeat is skipped, as the projector skips it."""
        if self.history.knows(event.event_id):
            return
        change = self.history.apply(event)
        self.counted.append(replace(event, recorded_at=change.recorded_at))
        assert change.event_seq == len(self.counted), "event_seq is dense"
        assert not overlaps(change.paintings), "paintings of one event overlap"
        assert change.event_seq > 1 or change.paintings, "a fact's first event paints the whole axis"
        self.canvas.add(change.recorded_at, change.event_seq, change.paintings)
        if change.version_no is not None:
            assert isinstance(event.what, FactAsserted)
            assert self.canvas.ids[change.version_no] == event.what.version_id

    def settle(self) -> None:
        """The end of a batch."""
        outcome: Outcome = self.history.take_outcome()
        self.labels.update(outcome.labels)
        for pair in outcome.conflicts_gone:
            self.edges.pop(pair, None)
        for left, right, relation in outcome.conflicts_now:
            self.edges[left, right] = relation
        self.conflicts_open, self.state_hash = outcome.conflicts_open, outcome.state_hash


def version_numbers(events: Iterable[Event]) -> dict[int, bytes]:
    """Versions by their number: in order of first assertion."""
    ids = dict.fromkeys(event.what.version_id for event in events if isinstance(event.what, FactAsserted))
    return dict(enumerate(ids, start=1))


def version_starts(events: Iterable[Event]) -> dict[bytes, int | None]:
    return {event.what.version_id: event.what.valid.start for event in events if isinstance(event.what, FactAsserted)}


def start(events: Sequence[Event], *, rule: int = RULE_DEFAULT) -> Play:
    """Nothing applied yet."""
    return Play(
        History.load([], painted=0, lane_mode=0, rule=rule), Canvas(version_numbers(events), version_starts(events))
    )


def play(events: Sequence[Event], *, batch: int = 1, rule: int = RULE_DEFAULT) -> Play:
    """All events, settled after each batch."""
    played = start(events, rule=rule)
    go_on(played, events, batch=batch)
    return played


def go_on(played: Play, events: Sequence[Event], *, batch: int = 1) -> None:
    for number, event in enumerate(events, start=1):
        played.feed(event)
        if number % batch == 0 or number == len(events):
            played.settle()


def reload(played: Play) -> Play:
    """As after a restart: the history refolded from the stored events, the tables as they were."""
    old = played.history
    history = History.load(list(played.counted), painted=old.painted, lane_mode=old.lane_mode, rule=old.rule)
    canvas = replace(played.canvas, paintings=list(played.canvas.paintings))
    return replace(
        played, history=history, canvas=canvas, labels=dict(played.labels), edges=dict(played.edges),
        counted=list(played.counted),
    )  # fmt: skip


def wrong_answers(played: Play, log: OLog, *, system_times: Sequence[int | None] | None = None) -> list[str]:
    """Where the paintings do not answer as the oracle does, at every pair of instants that could differ."""
    if system_times is None:
        times = times_of(log)
        system_times = [times[0] - 1, *times, None]
    found = []
    for as_of in system_times:
        known = known_by(log, as_of)
        state = fold(known)
        for t in watched(state, played.canvas):
            expected = answer_at(state, t) if known else OAnswer("unknown", "not_yet_known")
            painted = played.canvas.answer(t, as_of)
            if painted != expected:
                found.append(f"at {t} as of {as_of}: painted {told(painted)}, should be {told(expected)}")
    return found


def watched(state: State, canvas: Canvas) -> list[int]:
    """Each bound of either side, and the time before the first: nothing changes between them."""
    bounds = {*instants(state), *canvas.bounds(), *GRID, GRID[0] - STEP}
    return sorted(bounds | {min(bounds) - 1})


def wrong_state(played: Play, log: OLog) -> list[str]:
    """Where labels, conflict edges or counts differ from the oracle's at the end."""
    state = fold(known_by(log, None))
    edges = {(left, right, relation) for (left, right), relation in played.edges.items()}
    said = {played.canvas.ids[number]: label for number, label in played.labels.items()}
    found = []
    if edges != conflicts(state):
        found.append(f"conflict edges {told_edges(edges)}, should be {told_edges(conflicts(state))}")
    opened = sum(relation == "OPEN" for _, _, relation in conflicts(state))
    if played.conflicts_open != opened:
        found.append(f"conflicts_open {played.conflicts_open}, should be {opened}")
    if {v: str(label.lifecycle) for v, label in said.items()} != labels(state):
        have = {short_id(v): str(label.lifecycle) for v, label in sorted(said.items())}
        found.append(f"labels {have}, should be { {short_id(v): name for v, name in labels(state).items()} }")
    found += wrong_edge_labels(said, state)
    merged = {v: label.merged_into_id for v, label in said.items() if label.merged_into_id is not None}
    if merged != {v: into for v, into in state.merged.items() if state.versions[v].is_ever_active}:
        found.append(f"merged {[(short_id(a), short_id(b)) for a, b in merged.items()]}")
    confidence = {v: label.confidence for v, label in said.items() if state.versions[v].is_ever_active}
    if confidence != {v: state.versions[v].confidence for v in confidence}:
        found.append(f"confidence {[(short_id(v), given) for v, given in confidence.items()]}")
    return found


def wrong_edge_labels(said: Mapping[bytes, Label], state: State) -> list[str]:
    """Where a label names another version than the one it supersedes, or one that does not supersede it."""
    found = []
    old = supersedes(state)
    for version_id, label in sorted(said.items()):
        if label.supersedes_id != old.get(version_id):
            found.append(f"{short_id(version_id)} supersedes {short_id(label.supersedes_id)}")
        new = superseded_by(state, version_id) if label.lifecycle is Lifecycle.SUPERSEDED else {None}
        if label.superseded_by_id not in new:
            found.append(f"{short_id(version_id)} superseded by {short_id(label.superseded_by_id)}")
    return found


def problems(events: Sequence[Event], *, batch: int = 1, rule: int = RULE_DEFAULT) -> list[str]:
    """All that is wrong with one history."""
    log = to_oracle(events, rule)
    played = play(events, batch=batch, rule=rule)
    return wrong_answers(played, log) + wrong_state(played, log)


def told(answer: OAnswer) -> str:
    names = ",".join(map(short_id, answer.versions))
    return " ".join(
        part for part in (answer.kind, answer.reason, names, answer.winner and short_id(answer.winner)) if part
    )


def told_edges(edges: Iterable[tuple[bytes, bytes, str]]) -> list[str]:
    return sorted(f"{short_id(left)}/{short_id(right)} {relation}" for left, right, relation in edges)
