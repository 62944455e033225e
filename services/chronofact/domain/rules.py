"""Rule versions of the fold: what makes two values one value (docs/rules.md, ADR 28)."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final
from unicodedata import is_normalized, normalize

from chronofact.domain.errors import Rejected

RULES: Final = (1, 2)
"""1: values are one when their canonical bytes are (semantics §1, §3). 2: also when only Unicode spells them otherwise."""
RULE_DEFAULT: Final = 1
UNICODE: Final = "14.0"
"""Rule 2 composes by this version of Unicode, whichever Python and Postgres bring."""
_LATER: Final = re.compile(
    "["
    "\u05c8-\u05c9\u0897\u0b53-\u0b54\u0cf3\u0ece\u1acf-\u1af0\U000105c9-\U000105e4"
    "\U00010d69-\U00010d6d\U00010ecb-\U00010eff\U00011241\U00011383-\U000113e2\U00011b60-\U00011b67"
    "\U00011df0\U00011f00-\U00011f03\U00011f34-\U00011f5a\U00013440-\U00013455\U0001611e-\U0001612f"
    "\U00016d67-\U00016d6a\U0001d127-\U0001d128\U0001d250-\U0001d281\U0001e08f\U0001e4ec-\U0001e4ef"
    "\U0001e5ee-\U0001e5ef\U0001e6e3-\U0001e6f5"
    "]"
)
"""Characters that later versions compose or order: a value with one of them is compared by its bytes."""


def check_rule(rule: int) -> int:
    """The rule, if it is one of ours.

    Raises:
        Rejected: ``rule_unknown``.
    """
    if rule not in RULES:
        known = " and ".join(map(str, RULES))
        raise Rejected("rule_unknown", f"there is no rule {rule} of the fold here; there are {known}")
    return rule


def value_key(value: bytes, value_hash: bytes, rule: int) -> bytes:
    """32 bytes that are equal for values that are one by the rule; ``value`` is canonical JSON, ``value_hash`` its hash."""
    if rule == 1 or value.isascii():
        return value_hash
    text = value.decode()
    if is_normalized("NFC", text) or _LATER.search(text) is not None:
        return value_hash
    return sha256(normalize("NFC", text).encode()).digest()
