"""What the adjudicator does, as metrics."""

from __future__ import annotations

from collections import Counter

from chronofact.adjudicator.judging import BEYOND, Outcome
from chronofact.adjudicator.sweeping import Picture
from chronofact.adjudicator.weighing import Weighed
from chronofact.runtime.metrics import Metrics
from chronofact.text.budget import Call
from chronofact.text.gate import Asked

_PREFIX = "chronofact_adjudicator_"


class Telling:
    """Counts as it is told."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._decided: Counter[str] = Counter()
        self._reasons: set[str] = set()
        for made in ("true", "false"):
            metrics.counter(f"{_PREFIX}runs_total").labels(made)

    def weighed(self, _weighed: Weighed, seconds: float) -> None:
        """Candidates were found and judged by rule."""
        self._metrics.histogram(f"{_PREFIX}weigh_seconds").observe(seconds)

    def ran(self, weighed: Weighed, asked: Asked, seconds: float) -> None:
        """A memory was looked at, and the log says so."""
        made = str(asked.calls > 0).lower()
        self._metrics.counter(f"{_PREFIX}runs_total").labels(made).inc()
        self._metrics.histogram(f"{_PREFIX}run_seconds").labels(made).observe(seconds)
        asked_for = {pair.other.version_id: pair.judgement.reason for pair in weighed.to_ask}
        pairs = Counter(("rule", str(pair.judgement.reason)) for pair in weighed.by_rule)
        pairs.update(("model", str(asked_for[one.other])) for one in asked.verdicts)
        pairs.update(("pending", str(one.reason)) for one in asked.undecided)
        pairs.update(("nothing", reason) for reason in weighed.left_alone)
        if weighed.beyond:
            pairs["pending", BEYOND] = weighed.beyond
        if weighed.known:
            pairs["known", "declared"] = weighed.known
        for (outcome, reason), number in pairs.items():
            self._metrics.counter(f"{_PREFIX}pairs_total").labels(outcome, reason).inc(number)
        self._decided.update(rule=len(weighed.by_rule), model=len(asked.verdicts))
        if decided := self._decided.total():
            share = self._decided["rule"] / decided
            self._metrics.gauge(f"{_PREFIX}decided_without_model_share").set(share)

    def ended_facts(self, number: int) -> None:
        """So many facts are over by what a memory says."""
        self._metrics.counter(f"{_PREFIX}facts_ended_total").inc(number)

    def ended(self, outcome: Outcome | str) -> None:
        """A look at a memory is over."""
        self._metrics.counter(f"{_PREFIX}memories_total").labels(outcome).inc()

    def called(self, call: Call) -> None:
        """The model was called."""
        self._metrics.counter(f"{_PREFIX}model_calls_total").labels(call.outcome).inc()
        tokens = self._metrics.counter(f"{_PREFIX}model_tokens_total")
        tokens.labels("read").inc(call.tokens_read)
        tokens.labels("written").inc(call.tokens_written)
        self._metrics.counter(f"{_PREFIX}model_cost_total").inc(call.cost)
        self._metrics.histogram(f"{_PREFIX}model_seconds").observe(call.seconds)

    def swept(self, memories: int) -> None:
        """The sweep found so many."""
        self._metrics.counter(f"{_PREFIX}swept_total").inc(memories)

    def retried(self, code: str) -> None:
        """Something is away."""
        self._metrics.counter(f"{_PREFIX}retries_total").labels(code).inc()

    def saw(self, picture: Picture) -> None:
        """What waits."""
        pending = self._metrics.gauge(f"{_PREFIX}pending_pairs")
        self._reasons |= set(picture.pairs)
        for reason in self._reasons:
            pending.labels(reason).set(picture.pairs[reason])
        age_us = 0 if picture.oldest_since is None else (picture.seen_at or 0) - picture.oldest_since
        self._metrics.gauge(f"{_PREFIX}pending_oldest_seconds").set(max(0, age_us) / 1e6)

    def spent(self, calls: int, tokens: int, *, is_silent: bool) -> None:
        """What today has cost."""
        self._metrics.gauge(f"{_PREFIX}model_calls_today").set(calls)
        self._metrics.gauge(f"{_PREFIX}model_tokens_today").set(tokens)
        self._metrics.gauge(f"{_PREFIX}model_silent").set(is_silent)

    def owns(self, partitions: int, working: int) -> None:
        """What Faust has given us."""
        self._metrics.gauge(f"{_PREFIX}partitions").set(partitions)
        self._metrics.gauge(f"{_PREFIX}working").set(working)
