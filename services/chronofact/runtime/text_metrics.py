"""The part of the closed list that tells of text memories."""

from __future__ import annotations

from typing import Final

from chronofact.runtime.metric import Metric

_READ_S: Final = (0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

TEXT_METRICS: Final = (
    Metric(
        "chronofact_writer_texts_total",
        "counter",
        ("writer",),
        "Texts read, by whether some frame was found: what has none is only ever compared by a model.",
        labels=("frames",),
    ),
    Metric(
        "chronofact_writer_texts_stumbled_total",
        "counter",
        ("writer",),
        "Texts on whose parse a rule of ours stumbled: kept without frames; a fault to report, with the text if it may be told.",
    ),
    Metric(
        "chronofact_writer_texts_waiting",
        "gauge",
        ("writer",),
        "Texts that wait to be read: where it stays high, one process is not enough.",
    ),
    Metric(
        "chronofact_writer_text_seconds",
        "histogram",
        ("writer",),
        "From taking a request's texts until all of them are read: the models' share of the answer time.",
        buckets=_READ_S,
    ),
    Metric(
        "chronofact_writer_text_notices_total",
        "counter",
        ("writer",),
        "Memories told to the adjudicator's topic, by outcome (sent, failed): a failed one waits for its sweep.",
        labels=("outcome",),
    ),
)
