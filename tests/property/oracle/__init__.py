"""A brute-force reading of semantics.md §3 and §4, for tests alone: obvious over fast, and a stranger to the product."""

from .answers import (
    OAnswer,
    answer_at,
    conflicts,
    dangling_edges,
    instants,
    labels,
    resolve,
    superseded_by,
    supersedes,
)
from .covering import covers_at, eligible_at, excluded_at
from .log import counted, known_by, system_times
from .relations import pending_review
from .says import (
    OActivate,
    OAssert,
    OEnd,
    OEvent,
    OLog,
    OOther,
    ORelation,
    OResolve,
    ORevoke,
    OSupersede,
    OSupersedes,
)
from .state import State, fold
from .timeline import Rectangle, Stretch, ingredients, rectangles, stretches, valid_during

__all__ = [
    "OActivate",
    "OAnswer",
    "OAssert",
    "OEnd",
    "OEvent",
    "OLog",
    "OOther",
    "ORelation",
    "OResolve",
    "ORevoke",
    "OSupersede",
    "OSupersedes",
    "Rectangle",
    "State",
    "Stretch",
    "answer_at",
    "conflicts",
    "counted",
    "covers_at",
    "dangling_edges",
    "eligible_at",
    "excluded_at",
    "fold",
    "ingredients",
    "instants",
    "known_by",
    "labels",
    "pending_review",
    "rectangles",
    "resolve",
    "stretches",
    "superseded_by",
    "supersedes",
    "system_times",
    "valid_during",
]
