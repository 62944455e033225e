"""Takes a conversation: all of it is accepted, read and appended at once, or none of it."""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple, Protocol

from chronofact.contracts.interactions import Interaction, Turn, TurnRejected, interaction_of
from chronofact.contracts.log import Message
from chronofact.contracts.position import Position
from chronofact.domain.errors import Rejected
from chronofact.text.frames import Frame
from chronofact.text.quoting import is_quoted, quotations, without_lead
from chronofact.text.sentences import Sentence
from chronofact.text.untaken import Untaken
from chronofact.writer.accept import Accepted, Acceptor, Authority, import_time_of, source_hash_of
from chronofact.writer.fields import bound_at, text_value
from chronofact.writer.interact import Left, Reread, Said, Taking, TurnTaken, said_of, text_of_facts, text_of_plain
from chronofact.writer.notices import Notice, Notices, notice_of
from chronofact.writer.remember import memory_key
from chronofact.writer.service import Outcome, Writer
from chronofact.writer.texts import Texts

SENTENCES_MAX: Final = 5_000
_SLICE: Final = 50


class Talk(NamedTuple):
    """What became of a conversation; no position where nothing was to be published."""

    turns: list[TurnTaken]
    position: Position | None


class TakesTalk(Protocol):
    """What takes conversations."""

    async def take(
        self, body: dict[str, Any], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Talk:
        """What became of each turn; a request that can't be taken whole is refused by ``Rejected``."""
        ...


class _Heard(NamedTuple):
    """A sentence, and the index of its turn."""

    turn: int
    said: Said


class Interactions:
    """The way of a conversation to the log."""

    def __init__(self, writer: Writer, acceptor: Acceptor, texts: Texts, notices: Notices) -> None:
        self._writer = writer
        self._acceptor = acceptor
        self._texts = texts
        self._notices = notices

    async def take(
        self, body: dict[str, Any], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Talk:
        """Reads every turn of the user's, and appends what it says.

        Raises:
            Rejected: what is wrong with the request; ``queue_full``, ``outcome_unknown``, ``shutting_down``, or what hinders the log.
            TurnRejected: what is wrong with a turn.
        """
        if not is_dry_run:
            self._writer.require_log()
        said, turns = interaction_of(body)
        await self._check(said, turns, authority)
        heard = await self._heard(turns)
        taken = await self._taken(Taking(self._acceptor, said, authority, trace), turns, heard)
        position = None if is_dry_run else await self._append(taken, authority)
        outcomes = [Outcome(one.event.event_id, one.fact_id, one.version_id, None) for one in _accepted(taken)]
        self._writer.count([*outcomes], is_dry_run=is_dry_run)
        return Talk(taken, position)

    async def _check(self, said: Interaction, turns: list[Turn], authority: Authority) -> None:
        """Whatever can be refused is refused before anything is read."""
        self._acceptor.slot(said.subject, said.scope, memory_key(said.category), authority)
        import_time_of(said.recorded_at, authority)
        if (said.source.hash, said.source.text) != (None, None):
            source_hash_of(said.source)
        for index, turn in enumerate(turns):
            try:
                bound_at("at", turn.at)
                if _is_heard(turn):
                    text_value(turn.text)
            except Rejected as error:
                raise TurnRejected(error, index) from None
            if index % _SLICE == 0:
                await asyncio.sleep(0)

    async def _heard(self, turns: list[Turn]) -> list[_Heard]:
        """The sentences of the user's turns, with their dates."""
        places = [index for index, turn in enumerate(turns) if _is_heard(turn)]
        parted = await self._texts.split([turns[index].text for index in places])
        if sum(map(len, parted)) > SENTENCES_MAX:
            raise Rejected("sentences_too_many", f"one request has at most {SENTENCES_MAX} sentences", field="turns")
        bare = await self._bare(parted)
        heard: list[_Heard] = []
        for index, sentences in zip(places, parted, strict=True):
            turn, place = turns[index], 0
            spans = quotations(turn.text)
            for sentence in sentences:
                place = max(turn.text.find(sentence.text, place), place)
                end = place + len(sentence.text)
                quoted = is_quoted(place, end, spans)
                heard.append(_Heard(index, said_of(sentence, turn.at, bare=bare.get(sentence.text), is_quoted=quoted)))
                place = end
            if index % _SLICE == 0:
                await asyncio.sleep(0)
        return heard

    async def _bare(self, parted: list[tuple[Sentence, ...]]) -> dict[str, Sentence]:
        """The sentences that something leads to ("remember that"), each without it."""
        leads = {one.text: rest for some in parted for one in some if (rest := without_lead(one.text)) is not None}
        if not leads:
            return {}
        found = await self._texts.split(list(leads.values()))
        return {text: one[0] for text, one in zip(leads, found, strict=True) if len(one) == 1}

    async def _taken(self, taking: Taking, turns: list[Turn], heard: list[_Heard]) -> list[TurnTaken]:
        readings = await self._texts.read([one.said.sentence.text for one in heard])
        plain = [text_of_plain(one.said) for one in heard]
        for_facts = [text_of_facts(one.said, reading.frames) for one, reading in zip(heard, readings, strict=True)]
        texts = list(dict.fromkeys(text for text in (*plain, *for_facts) if text is not None))
        frames: dict[str | None, tuple[Frame, ...]] = dict(zip(texts, await self._texts.frames(texts), strict=True))
        taken = [_begun(turn) for turn in turns]
        for place, (one, reading) in enumerate(zip(heard, readings, strict=True)):
            turn = turns[one.turn]
            source = taking.source_of(one.turn, turn)
            again = Reread(frames.get(plain[place]), frames.get(for_facts[place]))
            taking.add(taken[one.turn], one.said, reading, again, turn, source)
            if place % _SLICE == 0:
                await asyncio.sleep(0)
        return taken

    async def _append(self, taken: list[TurnTaken], authority: Authority) -> Position | None:
        distinct = {one.event.event_id: one for one in _accepted(taken)}
        messages = {event_id: self._writer.message(one) for event_id, one in distinct.items()}
        if not messages:
            return None
        position = await self._writer.append(list(messages.values()))
        self._notices.tell(_notices(taken, messages, authority, position))
        return position


class NoInteractions:
    """In a writer that takes no texts."""

    def __init__(self, refusal: Rejected) -> None:
        self._refusal = refusal

    async def take(
        self, body: dict[str, Any], authority: Authority, *, is_dry_run: bool, trace: str | None = None
    ) -> Talk:
        """Nothing is taken.

        Raises:
            Rejected: why.
        """
        del body, authority, is_dry_run, trace
        raise Rejected(self._refusal.code, self._refusal.message)


def _is_heard(turn: Turn) -> bool:
    return turn.role == "user" and bool(turn.text) and not turn.text.isspace()


def _begun(turn: Turn) -> TurnTaken:
    if _is_heard(turn):
        return TurnTaken(turn.role)
    why = Untaken.TEXT_EMPTY if turn.role == "user" else Untaken.CONTEXT
    return TurnTaken(turn.role, left=[Left(why)])


def _accepted(taken: list[TurnTaken]) -> list[Accepted]:
    found: list[Accepted] = []
    for turn in taken:
        found += [one.accepted for one in turn.memories]
        found += [one.accepted for one in turn.facts]
    return found


def _notices(
    taken: list[TurnTaken], messages: dict[bytes, Message], authority: Authority, position: Position
) -> list[Notice]:
    """One a memory, however often it was said."""
    memories = {one.accepted.event.event_id: one.accepted for turn in taken for one in turn.memories}
    return [
        notice_of(authority.tenant_id, one.fact_id, one.version_id, position, partition=messages[event_id].partition)
        for event_id, one in memories.items()
        if one.version_id is not None
    ]
