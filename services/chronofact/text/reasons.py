"""Why a pair was decided, sent to a model, or left alone: a closed list (docs/memories.md explains each)."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """One word a decision; with its outcome it is what metrics and relations show."""

    # the rule decided: the later-valid memory supersedes
    VALUE_CHANGED = "value_changed"
    SWITCHED = "switched"
    ENDED = "ended"
    # the starts forbid the rule
    VALID_FROM_UNKNOWN = "valid_from_unknown"
    VALID_FROM_EQUAL = "valid_from_equal"
    INTERVALS_APART = "intervals_apart"
    # the same slot, and a guard
    NOT_ASSERTED = "not_asserted"
    PAST = "past"
    SUBORDINATE = "subordinate"
    LONG_SENTENCE = "long_sentence"
    PRONOUN = "pronoun"
    ADDITIVE = "additive"
    ONE_OFF = "one_off"
    NO_CHANGE_CUE = "no_change_cue"
    SAME_VALUE = "same_value"
    CONTAINED_VALUE = "contained_value"
    NO_VALUE = "no_value"
    IMMUTABLE = "immutable"
    MANY_VALUED = "many_valued"
    SCOPE_DIFFERS = "scope_differs"
    TYPE_DIFFERS = "type_differs"
    FROM_ANOTHER = "from_another"
    NOT_A_NAME = "not_a_name"
    REGION_AND_PLACE = "region_and_place"
    POLARITY = "polarity"
    UNSURE_PARSE = "unsure_parse"
    UNREAD_WORDS = "unread_words"
    NOT_ALL_ANSWERED = "not_all_answered"
    # no common slot
    EQUAL_TEXT = "equal_text"
    CLOSE_TEXTS = "close_texts"
    NO_COMMON_SLOT = "no_common_slot"


OPEN: Final = frozenset(
    {
        Reason.NO_COMMON_SLOT,
        Reason.NO_VALUE,
        Reason.TYPE_DIFFERS,
        Reason.NOT_A_NAME,
        Reason.SCOPE_DIFFERS,
        Reason.UNREAD_WORDS,
        Reason.MANY_VALUED,
        Reason.NO_CHANGE_CUE,
        Reason.UNSURE_PARSE,
        Reason.NOT_ALL_ANSWERED,
        Reason.PAST,
    }
)
"""What frames alone could not tell, and whole sentences may."""
