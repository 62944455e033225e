"""Words of texts in any language are found by what is asked of them, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import psycopg
import pytest

from tests.integration.fixtures_stack import database_like

TEXTS = (
    "She works in IT",
    "User visits cities like Berlin",
    "Ticket ABC-123 needs node.js",
    "El usuario prefiere té",
    "Пользователь предпочитает Python",
    "المستخدم يحب القهوة",
    "User lives in 東京に住んでいます",
    "我喜欢喝绿茶",
    "Kim은 서울에 산다",
    "ผู้ใช้ชอบกาแฟ",
    "🎉 party",
)


@pytest.fixture(scope="module")
def connection(postgres: str, database_template: str) -> Iterator[psycopg.Connection]:
    with (
        database_like(postgres, database_template) as database,
        psycopg.connect(database, autocommit=True) as connection,
    ):
        yield connection


def found(connection: psycopg.Connection, query: str) -> list[str]:
    statement = "select t from unnest(%s::text[]) as t where chronofact.searched(t) @@ chronofact.asked(%s)"
    return [text for (text,) in connection.execute(statement, (list(TEXTS), query))]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("IT", 0),
        ("working", 0),
        ("the city", 1),
        ("abc-123", 2),
        ("node.js", 2),
        ("TÉ", 3),
        ("предпочитает", 4),
        ("القهوة", 5),
        ("東京", 6),
        ("茶", 7),
        ("喜欢咖啡", 7),
        ("서울", 8),
        ("กาแฟ", 9),
        ("🎉", 10),
    ],
)
def test_a_word_is_found_in_whatever_language(connection: psycopg.Connection, query: str, number: int) -> None:
    assert found(connection, query) == [TEXTS[number]]


@pytest.mark.parametrize("query", ["京東", "茶绿", "' | !!! :* \\ ()", "", "   ", "\u202e", "울서"])
def test_characters_in_another_order_are_another_word(connection: psycopg.Connection, query: str) -> None:
    assert found(connection, query) == []


def test_empty_words_count_only_where_there_are_no_others(connection: psycopg.Connection) -> None:
    asked = "select chronofact.asked(%s)::text"
    assert connection.execute(asked, ("who is it",)).fetchone() == ("'is' | 'it' | 'who'",)
    assert connection.execute(asked, ("who is in Berlin",)).fetchone() == ("'berlin'",)
    assert connection.execute(asked, ("it is 茶",)).fetchone() == ("'茶'",)


def test_any_text_has_words_and_any_query_can_be_asked(connection: psycopg.Connection) -> None:
    dice = Random(7)
    for _ in range(200):
        text = "".join(chr(dice.choice((dice.randrange(1, 256), dice.randrange(1, 0xD800)))) for _ in range(40))
        connection.execute("select chronofact.searched(%s) @@ chronofact.asked(%s)", (text, text))
    for long in ("x" * 100_000, "東" * 100_000, " ".join(f"{dice.getrandbits(20):x}" for _ in range(20_000))):
        assert connection.execute("select length(chronofact.searched(%s)) < 20000", (long,)).fetchone() == (True,)
