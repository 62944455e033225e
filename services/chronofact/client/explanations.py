"""The call that asks why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chronofact.client.answers import Answer, answer_of
from chronofact.client.asking import ReadCalls, instants_of, params_of, repeated
from chronofact.client.commands import When
from chronofact.client.exchange import Steps


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer with what made it; ``body`` is all that the reader said (versions, causes, events, what is left out)."""

    answer: Answer
    sentences: tuple[str, ...]
    standings: Mapping[UUID, str]
    """How each listed version stands at the instant."""
    body: Mapping[str, Any]


class ExplainCalls(ReadCalls):
    """The call that asks why."""

    def explain(
        self,
        subject: str,
        key: str,
        *,
        scope: str | Iterable[str] | None = None,
        valid_at: When | None = None,
        as_of: When | None = None,
        after: str | None = None,
        wait_ms: int | None = None,
    ) -> Steps[Explanation]:
        """Why ``resolve`` answers as it does."""
        params = [*params_of(subject=subject, key=key), *repeated("scope", scope)]
        params += params_of(**instants_of(valid_at, as_of))
        body = yield from self.get("/v1/explain", params, after=after, wait_ms=wait_ms)
        return explanation_of(body)


def explanation_of(body: Mapping[str, Any]) -> Explanation:
    """The typed form of an explanation."""
    standings = {UUID(one["version_id"]): one["standing"] for one in body["versions"]}
    return Explanation(answer_of(body["answer"]), tuple(body["sentences"]), standings, body)
