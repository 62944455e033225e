"""Anything at all to POST /v1/interactions, read by the real models: never a 500, windows that begin before they end, all or nothing."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from chronofact.contracts.fact_keys import check_key
from chronofact.contracts.payload import happening_of, id_text
from chronofact.domain.events import FactAsserted
from chronofact.text.models import make_models
from tests.contract.remembering import RememberingWriter
from tests.contract.writing import JSON
from tests.property.test_events_fuzz import INSTANTS, ODD, VALUES, check_error, mostly, spelled
from tests.property.test_memories_fuzz import TEXTS

WRITER = RememberingWriter(make_models)
SAID = st.sampled_from(
    [
        *(
            "I moved to Oslo last week.",
            "I live in Berlin until Friday!",
            "In 2019 I lived in Rome.",
            "My sister lives in Madrid",
        ),
        *(
            "I work at Acme from 3 May to 10 June",
            "since 31 February 2024",
            "until 0001-01-01",
            "from 9999-12-31 on",
            "next decade",
            "999 decades ago",
        ),
        *("\n\n", "- ", "He said that", "and", "The billing service is down as of 2024-02-29."),
    ]
)
SPOKEN = st.lists(SAID | TEXTS, max_size=6).map(" ".join)
AT = st.datetimes().map(lambda at: f"{at:%Y-%m-%dT%H:%M:%S}Z".rjust(20, "0"))
TURN = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "text": SPOKEN}, optional={"at": AT})
ODD_TURN = st.fixed_dictionaries(
    {"role": VALUES, "text": mostly(SPOKEN, VALUES)}, optional={"at": mostly(INSTANTS, VALUES)}
)
TALK = st.fixed_dictionaries(
    {"subject": st.just("ada"), "source": st.just({"id": "chat"}), "turns": st.lists(TURN, min_size=1, max_size=4)},
    optional={"category": st.just("talk")},
)
ODD_TALK = st.fixed_dictionaries(
    {"subject": st.just("ada"), "source": VALUES, "turns": mostly(st.lists(TURN | ODD_TURN, max_size=4), VALUES)},
    optional={"category": VALUES, "speaker": VALUES},
)
BODIES = st.one_of(TALK, TALK, ODD_TALK, ODD)


@settings(max_examples=150, deadline=None)
@given(BODIES)
def test_any_conversation_is_taken_whole_or_refused_by_name(said: Any) -> None:
    WRITER.log.partitions.clear()
    response = WRITER.ask("POST", "/v1/interactions", content=spelled(said), headers=JSON)
    told = orjson.loads(response.content)
    if response.status_code not in {200, 201}:
        assert response.status_code < 500
        check_error(told["error"])
        assert WRITER.events() == []
        return
    events = {id_text(event.event_id): event for event in WRITER.events()}
    answered = [one for turn in told["turns"] for part in ("memories", "facts") for one in turn[part]]
    assert {one["event_id"] for one in answered} == events.keys()
    for one in answered:
        event = events[one["event_id"]]
        what = happening_of(event.kind, event.payload)
        assert isinstance(what, FactAsserted)
        assert what.valid.start is None or what.valid.end is None or what.valid.start < what.valid.end
        assert orjson.loads(what.value) == one.get("value", one.get("text"))
        check_key(one.get("key", "memory/talk"))
