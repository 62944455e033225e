"""Whether a text is worth a parse: English, of words, and not too long. Cheap: no model is asked."""

from __future__ import annotations

import re
from typing import Final

CHARACTERS_MAX: Final = 1_000
"""Longer texts are kept without frames: what says so much is superseded by no single sentence."""
SENTENCES_MAX: Final = 8

_FOREIGN: Final = frozenset(
    "der die das und ist nicht ein eine ich wir sie mein meine seit jetzt wohnt arbeitet nach zu mit auf von dem den für im "
    "le la les des est une un et je nous vous il elle mon ma dans avec pour du au habite travaille maintenant chez qui que "
    "el los las es una yo mi en con para del vive trabaja ahora por como su se al y no lo "
    "il lo gli della sono uno io mio nel di che abita lavora adesso ha per non "
    "het een ik niet van mijn woont werkt nu bij naar voor op te "
    "o os uma eu não meu minha mora trabalha agora em do da na ao seu sua".split()
)
_ENGLISH: Final = frozenset(
    "the a an is are was were be been am i you he she it they we user user's users my his her their our to of in on at for with from by and "
    "or not no has have had do does did this that these those as but if than more now also still about into over after".split()
)
_AMBIGUOUS: Final = _FOREIGN & _ENGLISH
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_CODE: Final = re.compile(
    r"[{};<>=|\\`]|\(\)|=>|::|^\s*(?:def|class|import|from|function|const|let|var|SELECT|INSERT)\b", re.IGNORECASE
)


def is_readable(text: str) -> bool:
    """Whether frames may be asked for; the text is clean (``plain.clean``)."""
    if not text or len(text) > CHARACTERS_MAX:
        return False
    letters = sum(ch.isalpha() for ch in text)
    latin = sum(ch.isascii() and ch.isalpha() for ch in text)
    if letters < 2 or latin < 0.9 * letters or letters < 0.4 * len(text):
        return False
    if len(_CODE.findall(text)) > 1 + len(text) // 200:
        return False
    spelled = _WORD.findall(text)
    words = [word.casefold() for word in spelled]
    plain = [
        word.casefold() for place, word in enumerate(spelled) if not place or word.islower()
    ]  # "Le Guin" is a name
    foreign = sum(word in _FOREIGN and word not in _AMBIGUOUS for word in plain)
    english = sum(word in _ENGLISH and word not in _AMBIGUOUS for word in words)
    return len(words) >= 2 and foreign <= english and max(map(len, words)) <= 40
