"""Refusals of the domain: each names what was wrong by a closed code, never by the value."""

from __future__ import annotations


class Rejected(ValueError):
    """Input that breaks a rule of semantics.md; ``code`` is one of the closed list in the reference docs."""

    def __init__(self, code: str, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field

    def __str__(self) -> str:
        """What is wrong, and in which field."""
        return self.message if self.field is None else f"{self.field}: {self.message}"

    def at(self, field: str) -> Rejected:
        """The same refusal, naming the field it was found in."""
        return Rejected(self.code, self.message, field=field if self.field is None else f"{field}.{self.field}")
