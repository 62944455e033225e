"""The topic catalogue of ``schemas/topics.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

import yaml

from chronofact.runtime.resources import schema_path

STAMPS: Final = "message.timestamp.type"
"""The setting that says whose time a message bears."""
GIVEN: Final = "CreateTime"
"""Of it: the producer's. A topic has it while it is filled with messages of another, each with the time that it had there."""
SIZES: Final = "max.message.bytes"
CLOSED: Final = "0"
"""Of it: the topic takes no message any more."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic as it has to be; a topic that differs refuses to start."""

    role: str
    name: str
    partitions: int
    replication_factor: int
    min_insync_replicas: int
    config: Mapping[str, str]

    def named(self, name: str) -> Topic:
        """The same topic under the name that the configuration gives it."""
        return replace(self, name=name)


@cache
def catalogue() -> Mapping[str, Topic]:
    """Every topic by its role: ``facts``, ``texts``."""
    declared: dict[str, dict[str, Any]] = yaml.safe_load(schema_path("topics.yaml").read_bytes())["topics"]
    return {role: _topic(role, fields) for role, fields in declared.items()}


def facts_topic(name: str | None = None, partitions: int | None = None) -> Topic:
    """The topic that is the truth, under the configured name and of the configured count of partitions if given."""
    topic = catalogue()["facts"]
    topic = topic if name is None else topic.named(name)
    return topic if partitions is None else replace(topic, partitions=partitions)


def texts_topic(name: str) -> Topic:
    """The topic that tells of new text memories, under the configured name."""
    return catalogue()["texts"].named(name)


def _topic(role: str, fields: dict[str, Any]) -> Topic:
    return Topic(
        role=role,
        name=fields["name"],
        partitions=fields["partitions"],
        replication_factor=fields["replication_factor"],
        min_insync_replicas=fields["min_insync_replicas"],
        config={name: str(setting) for name, setting in fields["config"].items()},
    )
