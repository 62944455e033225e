"""The adjudicator's metrics."""

from __future__ import annotations

from typing import Final

from chronofact.runtime.metric import Metric

_RUN_S: Final = (0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

ADJUDICATOR_METRICS: Final = (
    Metric(
        "chronofact_adjudicator_away",
        "gauge",
        ("adjudicator",),
        "1 while something that it needs is away or refuses it: postgres, stream (Kafka), writer, judging, or a timer's round.",
        labels=("part",),
    ),
    Metric(
        "chronofact_adjudicator_memories_total",
        "counter",
        ("adjudicator",),
        "Looks at a text memory by what became of it: `checked` and `pending` are what the log is told.",
        labels=("outcome",),
    ),
    Metric(
        "chronofact_adjudicator_pairs_total",
        "counter",
        ("adjudicator",),
        "Pairs by outcome (rule, model, pending, nothing, known) and reason: what is decided, by whom, and why not.",
        labels=("outcome", "reason"),
    ),
    Metric(
        "chronofact_adjudicator_facts_ended_total",
        "counter",
        ("adjudicator",),
        "Structured facts of earlier sentences that were ended by what a later one says.",
    ),
    Metric(
        "chronofact_adjudicator_runs_total",
        "counter",
        ("adjudicator",),
        "Detection runs, one a memory, by whether a model was called.",
        labels=("llm_call_made",),
    ),
    Metric(
        "chronofact_adjudicator_decided_without_model_share",
        "gauge",
        ("adjudicator",),
        "Share of the pairs decided by this process that needed no model: what the rule saves.",
    ),
    Metric(
        "chronofact_adjudicator_weigh_seconds",
        "histogram",
        ("adjudicator",),
        "Time to find a memory's candidates and judge its pairs by rule, without the wait for the projection.",
        buckets=_RUN_S,
    ),
    Metric(
        "chronofact_adjudicator_run_seconds",
        "histogram",
        ("adjudicator",),
        "The same until its check is in the log, a model's time included.",
        labels=("llm_call_made",),
        buckets=_RUN_S,
    ),
    Metric(
        "chronofact_adjudicator_model_calls_total",
        "counter",
        ("adjudicator",),
        "Calls of the model by outcome: answered, why its answer is not believed, or why there was none.",
        labels=("outcome",),
    ),
    Metric(
        "chronofact_adjudicator_model_tokens_total",
        "counter",
        ("adjudicator",),
        "Tokens that the model read and wrote, as it counted them, else estimated.",
        labels=("direction",),
    ),
    Metric(
        "chronofact_adjudicator_model_cost_total",
        "counter",
        ("adjudicator",),
        "What those cost by the configured prices, in their currency; 0 where none are configured.",
    ),
    Metric(
        "chronofact_adjudicator_model_seconds",
        "histogram",
        ("adjudicator",),
        "Time of one call.",
        buckets=_RUN_S,
    ),
    Metric(
        "chronofact_adjudicator_model_silent",
        "gauge",
        ("adjudicator",),
        "1 while no question is asked, since the last ones failed; /v1/pending says why.",
    ),
    Metric(
        "chronofact_adjudicator_model_calls_today",
        "gauge",
        ("adjudicator",),
        "Calls that count for today, of all adjudicators: the limit is CHRONOFACT_MODEL_CALLS_PER_DAY.",
    ),
    Metric(
        "chronofact_adjudicator_model_tokens_today",
        "gauge",
        ("adjudicator",),
        "Tokens likewise; the limit is CHRONOFACT_MODEL_TOKENS_PER_DAY.",
    ),
    Metric(
        "chronofact_adjudicator_pending_pairs",
        "gauge",
        ("adjudicator",),
        "Pairs that nobody has decided, by reason, as last looked at; `review` waits for a person.",
        labels=("reason",),
    ),
    Metric(
        "chronofact_adjudicator_pending_oldest_seconds",
        "gauge",
        ("adjudicator",),
        "Age of the oldest of them: one that grows says that the model is away, or its budget too small.",
    ),
    Metric(
        "chronofact_adjudicator_partitions",
        "gauge",
        ("adjudicator",),
        "Partitions of the topic of texts that this process owns.",
    ),
    Metric(
        "chronofact_adjudicator_working",
        "gauge",
        ("adjudicator",),
        "Messages taken and not yet acknowledged.",
    ),
    Metric(
        "chronofact_adjudicator_swept_total",
        "counter",
        ("adjudicator",),
        "Memories that only the sweep found: their message was lost, or came before their projection had them.",
    ),
    Metric(
        "chronofact_adjudicator_retries_total",
        "counter",
        ("adjudicator",),
        "Pauses by reason: a writer, database or broker that is away shows here.",
        labels=("code",),
    ),
)
