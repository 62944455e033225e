"""POST /v1/interactions over the log in memory, by the real extractor: what becomes a memory, what a fact, and what neither."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import httpx
import orjson
import pytest

from chronofact.client.ids import Ids
from chronofact.contracts.codec import FactEvent
from chronofact.contracts.error_codes import CODES
from chronofact.contracts.interactions import TURNS_MAX
from chronofact.contracts.payload import happening_of
from chronofact.domain.canonical import digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Cardinality, FactAsserted, Succession
from chronofact.domain.interval import parse_instant
from chronofact.text.extract import Extractor
from chronofact.text.untaken import Untaken
from chronofact.text.worker import Models
from tests.contract.remembering import RememberingWriter, TwinModels
from tests.contract.writing import JSON, WriterInProcess

AT = "2026-06-17T10:30:00Z"


@cache
def models() -> Models:
    extractor = Extractor()
    return Models(extractor, TwinModels(), extractor)


@pytest.fixture
def writer() -> RememberingWriter:
    return RememberingWriter(models)


def user(text: str, **said: Any) -> dict[str, Any]:
    found = {"role": "user", "text": text, "at": AT} | said
    return {name: one for name, one in found.items() if one is not ...}


def interact(writer: WriterInProcess, *turns: Any, query: str = "", **said: Any) -> httpx.Response:
    body = {"subject": "ada", "source": {"id": "chat-1"}, "turns": list(turns)} | said
    content = orjson.dumps({name: one for name, one in body.items() if one is not ...})
    return writer.ask("POST", f"/v1/interactions{query}", content=content, headers=JSON)


def taken(writer: WriterInProcess, *turns: Any) -> list[dict[str, Any]]:
    response = interact(writer, *turns)
    assert response.status_code in {200, 201}, response.text
    found: list[dict[str, Any]] = response.json()["turns"]
    return found


def asserted(event: FactEvent) -> FactAsserted:
    what = happening_of(event.kind, event.payload)
    assert isinstance(what, FactAsserted)
    return what


def test_a_turn_is_a_memory_a_sentence_and_a_fact_a_slot(writer: RememberingWriter) -> None:
    text = "I moved to Oslo last week. My sister lives in Madrid!"
    response = interact(writer, user(text))
    (turn,) = response.json()["turns"]
    assert response.status_code == 201
    assert [one["text"] for one in turn["memories"]] == ["I moved to Oslo last week.", "My sister lives in Madrid!"]
    assert [(one["key"], one["value"], one["succession"], one["blocked_by"]) for one in turn["facts"]] == [
        ("residence", "oslo", "automatic", None),
        ("user/sister/residence", "madrid", "explicit", "no_change_cue"),
    ]
    assert [one["valid_from"] for one in turn["facts"]] == ["2026-06-08T00:00:00Z", AT]
    assert [one["valid_from"] for one in turn["memories"]] == ["2026-06-08T00:00:00Z", AT]
    assert [one["is_dated"] for one in turn["memories"]] == [True, False]
    assert (turn["memories"][0]["frames"][0]["slot"], turn["not_taken"]) == ("residence", [])
    events = {orjson.loads(one.identity)[4]: one for one in writer.events()}
    assert list(events) == ["memory/conversation", "residence", "user/sister/residence"]
    moved = asserted(events["residence"])
    assert (moved.value, moved.cardinality, moved.succession) == (b'"oslo"', Cardinality.ONE, Succession.AUTOMATIC)
    assert (moved.source_id, moved.source_hash) == ("chat-1#0", digest(text.encode()))
    assert moved.valid.start == parse_instant("2026-06-08T00:00:00Z")
    memory = asserted(events["memory/conversation"])
    assert (memory.source_id, memory.source_hash, memory.valid_from_known) == ("chat-1#0", digest(text.encode()), True)
    assert events["memory/conversation"].derived is not None
    assert [one["fact_id"] for one in turn["facts"]] == [
        str(Ids().fact_id("ada", key)) for key in ("residence", "user/sister/residence")
    ]
    assert len(writer.told.messages()) == 2


def test_others_are_context_and_kept_nowhere(writer: RememberingWriter) -> None:
    roles = ("assistant", "system", "developer", "tool")
    turns = taken(writer, *({"role": role, "text": "I live in Oslo."} for role in roles))
    assert [turn["not_taken"] for turn in turns] == [[{"reason": "context"}]] * 4
    assert writer.events() == []


def test_the_same_conversation_again_is_the_same_events_and_each_is_sent_once(writer: RememberingWriter) -> None:
    turns = [
        user("I moved to Oslo. I moved to Oslo."),
        user("Thanks."),
        user("I moved to Oslo.", at="2026-06-18T00:00:00Z"),
    ]
    first, again = interact(writer, *turns).json(), interact(writer, *turns).json()
    assert first["turns"] == again["turns"]
    assert sorted(Counter(one.event_id for one in writer.events()).values()) == [2] * 5
    longer = interact(writer, *turns, user("I like tea.")).json()
    assert longer["turns"][:3] == first["turns"]


def test_a_trial_publishes_nothing(writer: RememberingWriter) -> None:
    tried = interact(writer, user("I moved to Oslo."), query="?dry_run=true")
    assert (tried.status_code, tried.json()["position"], writer.events()) == (200, None, [])
    assert writer.told.messages() == []
    assert tried.json()["turns"] == interact(writer, user("I moved to Oslo.")).json()["turns"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Do I live in Rome?", Untaken.QUESTION),
        ("I might move to Lisbon.", Untaken.HYPOTHETICAL),
        ("I'm going to move to Rome next year.", Untaken.PLANNED),
        ("I don't live in Berlin.", Untaken.NEGATED),
        ("I no longer work at Acme.", Untaken.EVENT),
        ("I am switching to Whereby.", Untaken.EVENT),
        ("He moved to Oslo.", Untaken.ENTITY_UNKNOWN),
        ("I lived in Berlin.", Untaken.PAST),
        ("I like tea.", Untaken.MANY_VALUED),
        ("I live in Oslo since 2024 until 2019.", Untaken.CONTRADICT),
        ("I live in Oslo since 31 February 2024.", Untaken.IMPOSSIBLE),
        ("I lived in Rome in 2019 and in Paris in 2020.", Untaken.SEVERAL),
        ("I moved to Oslo in 2020 and my brother lives in Bergen.", Untaken.SEVERAL),
        ("I moved to Nice in the summer of 2022.", Untaken.UNREAD),
        ("I think I moved to Oslo in 2020.", Untaken.SUBORDINATE),
    ],
)
def test_what_says_no_structured_fact_is_a_memory_all_the_same(
    writer: RememberingWriter, text: str, reason: Untaken
) -> None:
    (turn,) = taken(writer, user(text))
    assert [one["text"] for one in turn["memories"]] == [text]
    assert turn["facts"] == []
    assert reason in {one["reason"] for one in turn["not_taken"]}
    is_undatable = reason in {Untaken.CONTRADICT, Untaken.IMPOSSIBLE, Untaken.SEVERAL, Untaken.UNREAD}
    assert turn["memories"][0]["valid_from"] == (None if is_undatable else AT)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I have lived in Paris since March 2024.", ("residence", "paris", "2024-03-01", None)),
        ("In 2019 I lived in Berlin.", ("residence", "berlin", "2019-01-01", "2020-01-01")),
        ("I lived in Berlin from 2015 to 2019.", ("residence", "berlin", "2015-01-01", "2020-01-01")),
        ("I work at Acme until Friday.", ("employer", "acme", "2026-06-17", "2026-06-20")),
        ("As of next month I work at Globex.", ("employer", "globex", "2026-07-01", None)),
        ("I started a new job at Initech yesterday.", ("employer", "initech", "2026-06-16", None)),
        ("I have been working at Acme for the last two years.", ("employer", "acme", "2024-06-17", None)),
        ("Starting Monday, I work at Google.", ("employer", "google", "2026-06-22", None)),
        ("My flight is on Tuesday.", ("user/flight/schedule", "tuesday", "2026-06-17", None)),
        ("The deploy is scheduled for Friday.", ("deploy/schedule", "friday", "2026-06-17", None)),
    ],
)
def test_a_fact_holds_when_the_text_says(
    writer: RememberingWriter, text: str, fact: tuple[str, str, str, str | None]
) -> None:
    (turn,) = taken(writer, user(text))
    (found,) = turn["facts"]
    valid_to = found["valid_to"] and found["valid_to"][:10]
    assert (found["key"], found["value"], found["valid_from"][:10], valid_to) == fact


def test_a_date_of_another_clause_says_nothing_of_the_fact(writer: RememberingWriter) -> None:
    (turn,) = taken(writer, user("I moved to the city where my mother was born in 1960."))
    assert turn["memories"][0]["valid_from"] == AT
    assert not {one["valid_from"] for one in turn["facts"]} - {AT}


def test_a_turn_without_a_time_is_not_known_since_when_unless_it_says_a_year(writer: RememberingWriter) -> None:
    text = "I live in Oslo since March 2024. I moved to Rome. I moved to Bergen last week."
    (turn,) = taken(writer, user(text, at=...))
    assert [one["valid_from"] for one in turn["memories"]] == ["2024-03-01T00:00:00Z", None, None]
    assert [one["value"] for one in turn["facts"]] == ["oslo"]
    known = [asserted(one).valid_from_known for one in writer.events() if one.derived is not None]
    assert sorted(known) == [False, False, True]


def test_a_key_that_is_declared_to_hold_many_is_left(writer: RememberingWriter) -> None:
    (turn,) = taken(writer, user("The memory's status is broken. The memory is paused."))
    assert all(one["reason"] == "key_declared_many" for one in turn["not_taken"] if one["slot"] == "status")
    assert not any(one["key"].startswith("memory/") for one in turn["facts"])


KEPT_WHOLE = {
    "code": "def f(x):\n    return [y for y in x if y > 0]  # {;}\n" * 40,
    "as long as may be": "x y " * 16_000,
    "too many sentences": "I live in Berlin. " * 400,
    "not English": "我住在北京。他们走了。",
    "emoji": "🙂🙃 🙂",
    "right to left": "\u202eI live\u202c \u200fעברית",
    "one word": "Python",
    "control characters": "I\x01 live\x1b[31m in Berlin\x7f.",
    "marks": "1. 2. ... !!! ???",
}


@pytest.mark.parametrize("name", KEPT_WHOLE)
def test_what_has_no_sentences_is_one_memory_to_the_letter(writer: RememberingWriter, name: str) -> None:
    taken(writer, user(KEPT_WHOLE[name]))
    memories = [orjson.loads(asserted(one).value) for one in writer.events() if one.derived is not None]
    assert memories == [KEPT_WHOLE[name]]


def test_lines_end_sentences_where_they_are_not_wrapped(writer: RememberingWriter) -> None:
    wrapped = "I have lived in the old town of Oslo for the last two\nyears with my dog."
    (turn,) = taken(writer, user(f"I moved to Oslo\n\n- I work at Acme\n- I use vim\n{wrapped}"))
    assert [one["text"] for one in turn["memories"]] == ["I moved to Oslo", "- I work at Acme", "- I use vim", wrapped]


def test_a_thousand_turns_are_taken_at_once(writer: RememberingWriter) -> None:
    turns = [user(f"User number {number}.") if number % 50 == 0 else user(" ") for number in range(TURNS_MAX)]
    assert len(taken(writer, *turns)) == TURNS_MAX
    assert len(writer.events()) == 20


REFUSED: list[tuple[dict[str, Any], str, str, int | None]] = [
    ({"turns": [user("a"), user("a", role="ai")]}, "field_value", "turns.1.role", 1),
    ({"turns": [user("a", role=...)]}, "field_missing", "turns.0.role", 0),
    ({"turns": [{"role": "user"}]}, "field_missing", "turns.0.text", 0),
    ({"turns": [user("a"), user("a", at="2026-06-17")]}, "instant_malformed", "turns.1.at", 1),
    ({"turns": [user("a", at="2026-06-17T10:00:00")]}, "offset_missing", "turns.0.at", 0),
    ({"turns": [user("a"), user("a", speaker="x")]}, "field_unknown", "turns.1.speaker", 1),
    ({"turns": [user("a"), "a"]}, "field_type", "turns.1", 1),
    ({"turns": [user("a"), user("a\x00b")]}, "nul_character", "turns.1.text", 1),
    ({"turns": [user("I live in Berlin. " * 5_600)]}, "text_too_large", "turns.0.text", 0),
    ({"turns": []}, "field_empty", "turns", None),
    ({"turns": [user("a")] * (TURNS_MAX + 1)}, "turns_too_many", "turns", None),
    ({"turns": 5}, "field_type", "turns", None),
    ({"source": {}}, "field_missing", "source.id", None),
    ({"source": {"id": "x" * 1_001}}, "field_too_long", "source.id", None),
    ({"source": {"id": "x", "hash": "zz"}}, "source_hash_malformed", "source.hash", None),
    ({"category": "A b"}, "key_malformed", "category", None),
    ({"scope": "planet:mars"}, "scope_kind_unknown", "scope", None),
    ({"subject": ""}, "field_empty", "subject", None),
    ({"role": "user"}, "field_unknown", "role", None),
]


@pytest.mark.parametrize(("said", "code", "field", "index"), REFUSED)
def test_what_is_wrong_refuses_the_whole_and_names_turn_and_field(
    writer: RememberingWriter, said: dict[str, Any], code: str, field: str, index: int | None
) -> None:
    response = interact(writer, user("I moved to Oslo."), **said)
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["field"], error["index"]) == (422, code, field, index)
    assert code in CODES
    assert writer.events() == []


@pytest.mark.parametrize(
    ("body", "code"), [(b"[]", "command_not_object"), (b"{", "json_malformed"), (b"", "body_empty")]
)
def test_a_body_that_is_no_conversation_is_refused(writer: RememberingWriter, body: bytes, code: str) -> None:
    response = writer.ask("POST", "/v1/interactions", content=body, headers=JSON)
    assert (response.json()["error"]["code"], writer.events()) == (code, [])


def test_too_many_texts_at_once_are_refused_whole() -> None:
    writer = RememberingWriter(models, texts_max=2)
    refused = interact(writer, *(user(f"I like {number} teas.") for number in range(3)))
    assert (refused.status_code, refused.json()["error"]["code"], writer.events()) == (429, "queue_full", [])


def test_what_was_not_acknowledged_is_told_as_unknown(writer: RememberingWriter) -> None:
    writer.log.is_silent = True
    refused = interact(writer, user("I moved to Oslo."))
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "outcome_unknown")
    assert writer.told.messages() == []


@pytest.mark.parametrize("code", ["texts_off", "text_not_installed"])
def test_a_writer_that_takes_no_texts_takes_no_conversation(code: str) -> None:
    refused = interact(WriterInProcess(texts=Rejected(code, "why")), user("I moved to Oslo."))
    assert (refused.status_code, refused.json()["error"]["code"]) == (501, code)
