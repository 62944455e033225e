import pytest

from chronofact.contracts.derived import is_embedding
from chronofact.text.embed import Embedder, cosine

TEXTS = (
    "User prefers Python",
    "User is switching to Go",
    "",
    "a",
    "🙂 שלום \u202e!",
    "\x01\x07\n",
    "x = [1]\n" * 12_000,
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


def test_the_pair_of_the_decision_is_as_far_apart_as_it_says(embedder: Embedder) -> None:
    assert cosine(embedder.embed(TEXTS[0]), embedder.embed(TEXTS[1])) == pytest.approx(0.2987, abs=0.002)


def test_what_says_the_same_is_near(embedder: Embedder) -> None:
    assert cosine(embedder.embed("The user prefers Python."), embedder.embed("User prefers Python")) > 0.85


@pytest.mark.parametrize("text", TEXTS)
def test_every_text_has_an_embedding(embedder: Embedder, text: str) -> None:
    assert is_embedding(embedder.embed(text))


def test_neighbours_change_nothing(embedder: Embedder) -> None:
    assert embedder.embed_many(TEXTS * 5) == [embedder.embed(text) for text in TEXTS] * 5


def test_no_texts_have_no_embeddings(embedder: Embedder) -> None:
    assert embedder.embed_many(()) == []


def test_only_embeddings_have_a_cosine() -> None:
    with pytest.raises(ValueError, match="768"):
        cosine(bytes(768), bytes(766))
    assert cosine(bytes(768), bytes(768)) == 0.0
