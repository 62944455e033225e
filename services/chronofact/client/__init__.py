"""The Python client: ``Client``, ``AsyncClient``, their answers, and ids before anything is sent."""

from chronofact.client.answers import (
    Accepted,
    Answer,
    Claim,
    Conflict,
    Edge,
    Fact,
    Freshness,
    Page,
    Reading,
    Rejection,
    Sent,
    Unknown,
    Value,
    Values,
)
from chronofact.client.changes import Change, ChangedAnswer
from chronofact.client.commands import Source, Supersedes
from chronofact.client.contexts import Context, Question, Settled, Settlement
from chronofact.client.errors import Busy, ClientError, Refused, Unreachable
from chronofact.client.explanations import Explanation
from chronofact.client.ids import Ids
from chronofact.client.shells import AsyncClient, Client
from chronofact.client.verdicts import Pair, Verdict
from chronofact.domain.errors import Rejected

__all__ = [
    "Accepted",
    "Answer",
    "AsyncClient",
    "Busy",
    "Change",
    "ChangedAnswer",
    "Claim",
    "Client",
    "ClientError",
    "Conflict",
    "Context",
    "Edge",
    "Explanation",
    "Fact",
    "Freshness",
    "Ids",
    "Page",
    "Pair",
    "Question",
    "Reading",
    "Refused",
    "Rejected",
    "Rejection",
    "Sent",
    "Settled",
    "Settlement",
    "Source",
    "Supersedes",
    "Unknown",
    "Unreachable",
    "Value",
    "Values",
    "Verdict",
]
