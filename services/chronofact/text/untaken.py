"""Why something of a turn was not taken: a closed list (docs/memories.md explains each)."""

from __future__ import annotations

from enum import StrEnum


class Untaken(StrEnum):
    """One word for a turn, for the dates of a sentence, or for a structured fact that a frame does not make."""

    # a turn
    CONTEXT = "context"
    TEXT_EMPTY = "text_empty"
    # the dates of a sentence
    CONTRADICT = "dates_contradict"
    SEVERAL = "dates_several"
    IMPOSSIBLE = "date_impossible"
    UNREAD = "date_unread"
    TIMELESS = "turn_time_unknown"
    # a sentence
    QUOTED = "quoted"
    REQUEST = "request"
    # a frame
    SUBORDINATE = "subordinate"
    SCOPED = "scoped"
    UNSURE = "unsure"
    ONE_OFF = "one_off"
    ENTITY_UNKNOWN = "entity_unknown"
    EVENT = "event"
    PLANNED = "planned"
    HYPOTHETICAL = "hypothetical"
    QUESTION = "question"
    NEGATED = "negated"
    MANY_VALUED = "many_valued"
    NO_VALUE = "no_value"
    PAST = "past"
    DATED_BY = "dated_by"
    ENDED_BEFORE = "ended_before_said"
    KEY_UNSPELLABLE = "key_unspellable"
    KEY_DECLARED = "key_declared_many"
