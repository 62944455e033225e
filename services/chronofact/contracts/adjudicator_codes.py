"""Codes of what surrounds the adjudicator; part of the closed list."""

from __future__ import annotations

from typing import Final

ADJUDICATOR_CODES: Final = {
    "writer_unreachable": (
        "The adjudicator can't reach the writer; verdicts wait.",
        "bring the writer back, or check CHRONOFACT_ADJUDICATOR_WRITER; the adjudicator goes on by itself",
    ),
    "writer_busy": (
        "The writer has no room or no Kafka; verdicts wait.",
        "see the writer's /readyz; the adjudicator goes on by itself",
    ),
    "writer_refuses": (
        "The writer refuses the adjudicator's token.",
        "give CHRONOFACT_ADJUDICATOR_TOKEN a token with the roles write and service",
    ),
    "projection_behind": (
        "A projection has not applied for 30 s what the log held before: memories wait to be held against it.",
        "see the projector's /readyz and lag: docs/operations/feeding.md",
    ),
    "claim_lost": (
        "An adjudicator stood still, or lost Postgres, while it judged a memory: another may judge it by now.",
        "nothing: it is looked at anew",
    ),
    "kafka_options_unknown": (
        "CHRONOFACT_KAFKA_OPTIONS names a way of security that the adjudicator's client does not know.",
        "use PLAIN or SCRAM, with or without TLS, or TLS alone",
    ),
}
"""Each with what it means and what helps."""
