"""The part of `chronofact doctor` that tells whether text memories can be read on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chronofact.embedded.checks import Check


def text_check() -> Check:
    """The models, or what is missing of them: without them facts work."""
    from importlib.metadata import version

    from chronofact.contracts.error_codes import remedy_of
    from chronofact.embedded.checks import Check
    from chronofact.text.installed import MODELS, missing

    if lacking := missing():
        refused = f"not installed, so memories are refused and facts are not: {', '.join(lacking)}"
        return Check("text models", "skipped", refused, remedy_of("text_not_installed"))
    return Check("text models", "ok", ", ".join(f"{package} {version(package)}" for package in MODELS))
