"""Whatever is written and whatever was stored: reading and judging never raise, and arrival decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chronofact.text.compare import DECIDES
from chronofact.text.frames import Frame, Holds, Modality, Polarity, Temporality, frames_of_json
from chronofact.text.keys import index_keys, lookup_keys
from chronofact.text.pairs import Memory, Outcome, judge
from chronofact.text.reasons import Reason
from tests.labelled_pairs import extractor, pairs

pytestmark = pytest.mark.property

WORDS = st.sampled_from(
    [
        "",
        " ",
        "user",
        "python",
        "go",
        "berlin",
        "use",
        "prefer",
        "switch",
        "end",
        "do:run",
        "plan:go",
        "12",
        "12 kg",
        "a b",
    ]
)
SLOTS = st.sampled_from(
    ["switch", "end", "use", "prefer", "residence", "occupation", "prop:x", "do:run", "num:old", "plan:a", "status", ""]
)
FRAMES = st.builds(
    Frame,
    entity=st.sampled_from(["user", "user:dog", ""]),
    slot=SLOTS | WORDS,
    value=WORDS | st.text(max_size=8),
    value_type=WORDS,
    polarity=st.sampled_from(Polarity),
    modality=st.sampled_from(Modality),
    temporality=st.sampled_from(Temporality),
    cardinality=st.sampled_from(Holds),
    scope=WORDS,
    from_value=WORDS,
    is_main=st.booleans(),
    cues=st.lists(st.sampled_from(["now", "changed", "ends:any", "ends:done", "all", "at:go"]), max_size=3).map(tuple),
    guards=st.lists(st.sampled_from([*Reason, "unheard_of"]), max_size=2).map(tuple),
)
INSTANTS = st.none() | st.integers(0, 3)


@st.composite
def memories(draw: st.DrawFn, name: bytes) -> Memory:
    start = draw(INSTANTS)
    return Memory(name, draw(st.sampled_from(["one", "two", "One."])), start, draw(st.booleans()), draw(INSTANTS),
                  tuple(draw(st.lists(FRAMES, max_size=4))))  # fmt: skip


@given(memories(b"a"), memories(b"b"), st.none() | st.floats(-1, 1))
def test_arrival_decides_nothing(one: Memory, other: Memory, cosine: float | None) -> None:
    assert judge(one, other, cosine) == judge(other, one, cosine)


@given(memories(b"a"), memories(b"b"), st.none() | st.floats(-1, 1))
def test_the_rule_only_closes_the_earlier(one: Memory, other: Memory, cosine: float | None) -> None:
    judgement = judge(one, other, cosine)
    if judgement.outcome is not Outcome.DECIDED:
        assert judgement.newer is None
        return
    assert one.valid_from_known
    assert other.valid_from_known
    assert judgement.reason in DECIDES
    later = max((one, other), key=lambda memory: -1 if memory.valid_from is None else memory.valid_from)
    assert judgement.newer == later.version_id


@given(st.lists(FRAMES, max_size=4), st.integers(0, 3), st.integers(0, 3), st.none() | st.floats(-1, 1))
def test_equal_texts_never_supersede(frames: list[Frame], start: int, other: int, cosine: float | None) -> None:
    one, two = (
        Memory(name, "User uses Go.", at, True, None, tuple(frames)) for name, at in ((b"a", start), (b"b", other))
    )
    assert judge(one, two, cosine).outcome is Outcome.MODEL


@given(st.lists(FRAMES, max_size=6))
def test_frames_survive_json_and_a_pair_is_found_in_either_order(frames: list[Frame]) -> None:
    assert frames_of_json([frame.to_json() for frame in frames]) == tuple(frames)
    for first in frames:
        for second in frames:
            forth = set(lookup_keys([first])) & set(index_keys([second]))
            back = set(lookup_keys([second])) & set(index_keys([first]))
            assert bool(forth) == bool(back)


@given(st.lists(st.dictionaries(st.text(max_size=6), st.none() | st.integers() | st.text(max_size=4)), max_size=3))
def test_what_is_no_frame_reads_as_none(said: list[dict[str, object]]) -> None:
    assert all(isinstance(frame, Frame) for frame in frames_of_json(said))


@pytest.fixture(scope="module", autouse=True)
def _no_stumbling() -> Iterator[None]:
    """What a service survives, a test must see."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chronofact.text.extract.STUMBLES", ())
        yield


ODD = st.text(max_size=200) | st.text(
    st.characters(categories=["Lu", "Ll", "Zs", "Po", "Nd", "Cf", "Cc", "So"]), max_size=120
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ODD)
@example("")
@example("User")
@example("\u202eUser lives in Rome\u202c.")
@example("User's")
@example("User user User's the user.")
@example("he said she said they said him")
@example("A B C D E F G H I J K L M N O P.")
def test_any_text_has_frames_or_none(text: str) -> None:
    for frame in extractor().frames(text):
        assert Frame.from_json(frame.to_json()) == frame
        assert len(frame.value) <= 120


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from([word for pair in pairs() for word in pair.new.text.split()]), max_size=14).map(" ".join)
)
def test_shuffled_words_have_frames_or_none(text: str) -> None:
    assert isinstance(extractor().frames(text), tuple)
