"""Explanations by example: what counts at an instant and what does not, and texts of others within sentences."""

from __future__ import annotations

import json
from itertools import pairwise

from chronofact.cli.shown import shown as shown_body
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    Mode,
    RelationDeclared,
    Succession,
    Verdict,
)
from chronofact.domain.explained import Why
from chronofact.domain.inert import inert, quoted
from chronofact.domain.interval import Interval
from chronofact.domain.sentences import Around, Told
from tests.unit.test_explain import (
    AUGUST,
    JULY,
    JUNE,
    KEEP,
    MARCH,
    NPM,
    PAIR,
    PNPM,
    decided,
    event_id,
    lines,
    pair,
    said,
    told,
    version,
)

# -- what counts beyond its own time, and what does not


def spoken(*what: Happening, at: int = AUGUST) -> str:
    return "\n".join(lines(*what, at=at))


def test_a_decision_counts_wherever_it_stops_a_supersession() -> None:
    kept, new = said("npm"), said("bun", MARCH, JUNE)
    over = FactSuperseded(new.version_id, kept.version_id, mode=Mode.REPLACE)
    decision = decided(kept, new, kept.version_id)
    explained = told(kept, new, over, decision)
    assert [one.event_id for one in explained.ignored] == []
    assert event_id(decision) in explained.decided_by
    assert "keeps npm." in spoken(kept, new, over, decision)


def test_a_decision_with_nothing_to_decide_then_is_not_told_as_deciding() -> None:
    kept, new = said("npm"), said("bun", MARCH, JUNE)
    decision = decided(kept, new, kept.version_id)
    explained = told(kept, new, decision)
    assert [(one.event_id, one.why) for one in explained.ignored] == [(event_id(decision), Why.OTHER_TIME)]
    assert event_id(decision) not in explained.decided_by
    text = spoken(kept, new, decision)
    assert "keeps npm" not in text
    assert (
        "both claim to hold from 1 March 2026 until 1 June 2026 only, and there is no supersession then that it could stop."
        in text
    )


def test_what_a_revoked_middle_passes_on_counts() -> None:
    middle, new = said("yarn", JUNE), said("bun", JULY)
    edges = (FactSuperseded(new.version_id, middle.version_id), FactSuperseded(middle.version_id, NPM.version_id))
    explained = told(NPM, middle, new, *edges, FactRevoked(middle.version_id))
    assert explained.ignored == ()
    assert {event_id(one) for one in edges} <= {*explained.decided_by}


def test_a_supersession_without_effect_says_what_of_it_by_whom() -> None:
    early = FactSuperseded(PNPM.version_id, NPM.version_id, JUNE, Mode.OVERRIDE)
    assert "A supersession of npm by pnpm, learned on" in spoken(NPM, PNPM, early, at=JUNE)


def test_what_we_would_have_said_before_anything_existed_is_not_told() -> None:
    then = Told("unknown", (), "not_yet_known", None, None)
    assert len(lines(said("npm", None), at=-1, around=Around(then=then))) == 1
    assert len(lines(said("npm", None), at=JUNE, around=Around(then=then))) == 2


def test_what_takes_the_place_of_another_counts_even_if_it_has_no_effect_itself() -> None:
    automatic = said("bun", JUNE, succession=Succession.AUTOMATIC)
    instead = FactSuperseded(automatic.version_id, NPM.version_id, JULY)
    assert told(NPM, automatic, instead, at=JUNE).ignored == ()
    later = ConflictResolved(*PAIR, PNPM.version_id, AUGUST)
    over = told(NPM, PNPM, KEEP, later, FactRevoked(PNPM.version_id))
    assert [(one.event_id, one.why) for one in over.ignored] == [(event_id(KEEP), Why.OVERRIDDEN)]


def test_an_end_after_its_own_valid_to_is_told_as_that() -> None:
    brief, late = said("npm", MARCH, JUNE), FactEnded(NPM.version_id, JULY)
    explained = told(brief, late)
    assert [(one.why, one.by) for one in explained.ignored] == [(Why.OWN_END, None)]
    assert explained.versions[0].ended_by == ()
    assert event_id(late) not in explained.decided_by
    assert "does not count then: its own valid_to comes first." in spoken(brief, late)


def test_events_without_a_version_are_not_told_as_nothing_said() -> None:
    assert lines(FactRevoked(NPM.version_id))[0] == (
        "Nothing is known to hold: what had been said speaks only of versions that nobody had asserted."
    )


def test_a_decision_on_the_pair_ends_the_review() -> None:
    texts = [said(text, cardinality=Cardinality.MANY) for text in ("tea", "coffee")]
    against = RelationDeclared(*pair(*texts), Verdict.CONTRADICTS, None, JULY, Decider.MODEL)
    decision = decided(texts[0], texts[1], texts[1].version_id)
    assert any(one.is_pending_review for one in told(*texts, against).versions)
    assert not any(one.is_pending_review for one in told(*texts, against, decision).versions)
    back = FactRevoked(event_id=event_id(decision))
    assert any(one.is_pending_review for one in told(*texts, against, decision, back).versions)


# -- nothing that others said looks like a sentence of ours

HOSTILE = "z\n* pnpm has held”) since \u202e\u2028\x1b[31m\U000e0041\ufe01\u3164 2020"


def test_no_text_of_others_breaks_out_of_its_sentence() -> None:
    shown = r'"z\u000a* pnpm has held”) since \u202e\u2028\u001b[31m\udb40\udc41\ufe01\u3164 2020"'
    claim = FactAsserted(version("a"), orjson_text(HOSTILE), bytes(32), Interval(MARCH, None), HOSTILE, bytes(32))
    decision = ConflictResolved(*pair(claim, PNPM), claim.version_id, JULY, HOSTILE, HOSTILE)
    text = lines(claim, PNPM, decision, FactEnded(PNPM.version_id, AUGUST + 1, HOSTILE))
    assert text[0] == f"{shown} has always held: it was said by source {shown}, and nothing supersedes it."
    cited = shown[1:-1].replace("”", r"\u201d")
    assert text[1] == f"The decision of 1 July 2026 by {shown} (“{cited}”) keeps {shown}."
    assert all(one.isprintable() for one in text)


def orjson_text(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


def test_an_emoji_keeps_its_style_and_nothing_else_invisible_stays() -> None:
    assert inert("\u2764\ufe0f") == "\u2764\ufe0f"
    assert inert("a\ufe0f") == r"a\ufe0f"
    assert inert("\u2764\ufe0f\ufe0f") == "\u2764\ufe0f\\ufe0f"
    for code in (
        0x34F,
        0x115F,
        0x1160,
        0x17B4,
        0x17B5,
        0x180B,
        0x3164,
        0xFFA0,
        0xFE00,
        0xE0001,
        0xE007F,
        0xE0100,
        0xE01EF,
    ):
        assert inert(f"é{chr(code)}").isascii() is False
        assert chr(code) not in inert(f"é{chr(code)}")
        assert json.loads(quoted(f"é{chr(code)}")) == f"é{chr(code)}"


def test_an_answer_for_a_terminal_has_no_raw_controls() -> None:
    body = {"value": {"k\x1b": ["\x1b]0;pwn\x07", 1, None]}, "sentences": ["a\nb"], "kind": "value"}
    copy = shown_body(body)
    assert copy == {
        "value": {r"k\u001b": [r"\u001b]0;pwn\u0007", 1, None]},
        "sentences": [r"a\u000ab"],
        "kind": "value",
    }
    assert body["sentences"] == ["a\nb"]


def test_long_chains_of_revoked_versions_are_walked_over_once() -> None:
    chain = [said(f"v{number}", MARCH + number) for number in range(2_000)]
    edges = [FactSuperseded(new.version_id, old.version_id) for old, new in pairwise(chain)]
    middles = [FactRevoked(one.version_id) for one in chain[1:-1]]
    assert told(*chain, *edges, *middles).ignored_count == 0
    last = FactRevoked(chain[-1].version_id)
    assert told(*chain, *edges, *middles, last).ignored_count == len(edges)
    assert told(*chain, *reversed(edges), *middles, last).ignored_count == len(edges)
