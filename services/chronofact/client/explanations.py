"""The call that asks why."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chronofact.client.answers import Answer, answer_of
from chronofact.client.commands import When, instant_text
from chronofact.client.exchange import Steps


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer with what made it; ``body`` is all that the reader said (versions, causes, events, what is left out)."""

    answer: Answer
    sentences: tuple[str, ...]
    standings: Mapping[UUID, str]
    """How each listed version stands at the instant."""
    body: Mapping[str, Any]


class ExplainCalls:
    """Of a client that reads."""

    @abstractmethod
    def get(
        self, path: str, params: Iterable[tuple[str, str]] = (), *, after: str | None = None, wait_ms: int | None = None
    ) -> Steps[Any]: ...

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
        instants = {"valid_at": instant_text(valid_at, "valid_at"), "as_of": instant_text(as_of, "as_of")}
        params = [("subject", subject), ("key", key)]
        params += [("scope", one) for one in ([scope] if isinstance(scope, str) else scope or ())]
        params += [(name, instant) for name, instant in instants.items() if instant is not None]
        body = yield from self.get("/v1/explain", params, after=after, wait_ms=wait_ms)
        return explanation_of(body)


def explanation_of(body: Mapping[str, Any]) -> Explanation:
    """The typed form of an explanation."""
    standings = {UUID(one["version_id"]): one["standing"] for one in body["versions"]}
    return Explanation(answer_of(body["answer"]), tuple(body["sentences"]), standings, body)
