"""The models that texts are read with; importing this takes the text extra, making them a second or two."""

from __future__ import annotations

from chronofact.text.embed import Embedder
from chronofact.text.extract import Extractor
from chronofact.text.worker import Models


def make_models() -> Models:
    """Both of them, read from their files."""
    extractor = Extractor()
    return Models(extractor, Embedder(), extractor)
