"""What can go wrong when the embedded stack starts, each with its remedy."""

from __future__ import annotations


class EmbeddedError(Exception):
    """The embedded stack can't do what was asked; `remedy` says what helps."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy


class SettingRefusedError(EmbeddedError):
    """A service does not take its settings; the message is its own."""


class FolderInUseError(EmbeddedError):
    """Another process owns the data folder."""

    def __init__(self, folder: str, pid: int | None) -> None:
        owner = f"process {pid}" if pid else "another process"
        super().__init__(
            f"{folder} is in use by {owner}",
            remedy=f"stop it with `chronofact down --data {folder}`, or take another folder",
        )
        self.pid = pid
