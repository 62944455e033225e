"""Anything at all to POST /v1/memories, read by the real models: never a 500, and what is accepted is kept to the letter."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from chronofact.contracts.codec import decode_event
from chronofact.contracts.derived import decode
from chronofact.text.frames import frames_of_json
from chronofact.text.models import make_models
from tests.contract.remembering import RememberingWriter, memory
from tests.contract.writing import JSON
from tests.property.test_events_fuzz import INSTANTS, ODD, VALUES, check_error, mostly, spelled

WRITER = RememberingWriter(make_models)

PARTS = st.sampled_from(
    [
        *(
            "User",
            "I",
            "my sister",
            "he",
            "prefers",
            "is switching to",
            "no longer",
            "moved",
            "from",
            "to",
            "Go",
            "Python",
        ),
        *(
            "not",
            "never",
            "if",
            "?",
            "!",
            ".",
            ",",
            ";",
            "-",
            "'s",
            '"',
            "(",
            ")",
            "{",
            "}",
            "\n",
            "\t",
            "since March 2024",
        ),
        *(
            "until Friday",
            "in 2019",
            "31 February",
            "🙂",
            "\u202e",
            "\u200f",
            "\x01",
            "\x1b[31m",
            "Köln",
            "我",
            "עברית",
            "\ufeff",
        ),
    ]
)
TEXTS = st.lists(PARTS, max_size=25).map(" ".join) | st.lists(PARTS, max_size=12).map("".join) | st.text(max_size=200)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "text": mostly(TEXTS, VALUES),
    "category": mostly(st.sampled_from(["note", "a/b", "likes.food"]), ODD),
    "valid_from": mostly(INSTANTS, st.none()),
    "valid_to": INSTANTS,
    "confidence": mostly(st.floats(0, 1), VALUES),
    "scope": mostly(st.sampled_from(["user:self", "repo:A/b"]), ODD),
    "source": st.fixed_dictionaries({"id": ODD}, optional={"text": ODD, "hash": ODD}),
}


@st.composite
def memories(draw: st.DrawFn) -> Any:
    names = draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=3))
    return memory(**{name: draw(FIELDS[name]) for name in {"text", *names}})


@given(st.lists(memories(), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_every_memory_is_kept_as_it_came_or_refused_by_name(sent: list[dict[str, Any]]) -> None:
    WRITER.log.partitions.clear()
    response = WRITER.ask("POST", "/v1/memories", content=spelled(sent), headers=JSON)
    assert response.status_code in {200, 400}, response.text
    if response.status_code == 400:
        check_error(response.json()["error"])
        return
    results = response.json()["results"]
    accepted = {}
    for said, result in zip(sent, results, strict=True):
        if "error" in result:
            check_error(result["error"])
        else:
            accepted[result["event_id"]] = said["text"], result["frames"]
    for message in WRITER.log.messages():
        event = decode_event(message.value)
        derived = decode(event.derived or b"")
        assert derived is not None
        assert len(frames_of_json(derived.frames)) == len(derived.frames)
        assert (orjson.loads(event.payload)["value"], derived.frames) in accepted.values()
    assert len(WRITER.log.messages()) == sum("error" not in one for one in results)
