"""Failures that are not refusals of input: what passes by itself, what an operator must settle, what must stop us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class Transient(Exception):
    """Something outside is away or busy: pause and repeat, for ever; ``code`` names what, for /readyz and metrics."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ConstraintBroken(Exception):
    """The database refused these lines and always will; ``constraint`` is its name, or the SQLSTATE where none has one."""

    def __init__(self, constraint: str) -> None:
        super().__init__(f"the database refused by {constraint}")
        self.constraint = constraint


class Unfit(Exception):
    """The surroundings are not as they must be (a re-created topic, a missing schema): wait until someone puts it right."""

    def __init__(self, code: str, message: str, *, remedy: str) -> None:
        super().__init__(f"{message}; {remedy}")
        self.code = code
        self.remedy = remedy


class Fenced(Exception):
    """Another owner has taken these partitions: nothing of the batch was written."""

    def __init__(self, partitions: Sequence[int]) -> None:
        super().__init__(f"partitions {sorted(partitions)} have another owner")
        self.partitions = tuple(partitions)


class Held(Exception):
    """Somebody holds these partitions at an offset, to compare what is applied: nothing of the batch was written.

    ``before`` is where the checkpoint of each partition of the batch stands.
    """

    def __init__(self, stop_at: Mapping[int, int], before: Mapping[int, int]) -> None:
        super().__init__(f"held: {dict(stop_at)}")
        self.stop_at = dict(stop_at)
        self.before = dict(before)


class Corruption(Exception):
    """What is stored contradicts itself: stop before anything else is written."""
