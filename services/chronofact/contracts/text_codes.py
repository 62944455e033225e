"""Codes of text memories; part of the closed list."""

from __future__ import annotations

from typing import Final

TEXT_COMMAND_CODES: Final = {
    "text_empty": "A memory's text is empty, or nothing but white space.",
    "text_too_large": "A memory's text is larger than 64 KiB as canonical JSON.",
    "value_not_text": "The value of a key `memory/…` is no JSON string: such facts hold texts.",
    "key_not_memory": "A relation, or its check, names a key that is not `memory/…`: only text memories have relations.",
    "turns_too_many": "A conversation has more than 1,000 turns.",
    "sentences_too_many": "The user's turns of a conversation have more than 5,000 sentences.",
    "check_not_allowed": "`check_relations` needs the role `service`.",
    "pairs_miscounted": "`pairs` are fewer than those decided and those pending, or more than a million.",
}
"""What is wrong with a memory, or with what is said of its pairs."""

TEXT_REQUEST_CODES: Final = {
    "text_not_installed": (501, "Packages that read texts are not installed, so memories are not taken; facts are."),
    "texts_off": (501, "This writer takes no memories, by its setting."),
}
"""Why a service takes no texts at all."""

TEXT_REMEDIES: Final = {
    "text_not_installed": "install what deploy/lock/requirements-text.txt and requirements-models.txt name: docs/memories.md",
    "texts_off": "ask another writer, or set CHRONOFACT_TEXTS to auto",
}
"""What helps."""
