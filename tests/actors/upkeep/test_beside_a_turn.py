"""A turn begins the title of its chat when it asks its model, and does not wait for it."""

from uuid import uuid4

import pytest
import trio

from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.generation import generate
from actors.chat.turn.ports import Model
from actors.chat.turn.work import AtStake, HeldChat, WorkAdvanced
from actors.law.chat import Body, Role
from actors.law.ids import ChatId, Holder, RunnerId, WorkerId
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import CallSettings
from actors.law.requests import Acquire, CreateChat, NewChat, RecordGenerationAttempt
from actors.streams.previews import Previews
from actors.upkeep.jobs import open_background
from actors.upkeep.title_jobs import AutomaticTitles
from tests.actors.law.chats import ANN
from tests.actors.upkeep.stage import HANGS, Books, Oracle, Shelf, says
from tests.fakes.scripted import (
    OVERLOADED,
    MemoryJournal,
    PlainPrompts,
    ScriptedProvider,
    ScriptedTools,
    TwoMicros,
)
from tests.fakes.store import MemoryStore


class TwoVoices(Oracle):
    """A provider that plays one script in the turn, and answers beside it."""

    def __init__(self, script, *answers):
        super().__init__(*answers)
        self.stream = ScriptedProvider(*script).stream

    async def model_for(self, chat):
        await trio.lowlevel.checkpoint()
        return Model(self, None, "one", "anthropic", "claude", CallSettings())


async def first_turn(provider, shelf, background):
    """The first step of a new chat; how long it took."""
    store = MemoryStore()
    new = NewChat(ChatId(uuid4()), ANN, title="hello")
    shelf.titles[new.id] = new.title
    said = Body(Role.USER, (TextPart("hello"),), created_by=ANN)
    me = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
    applied = await store.create(CreateChat(new, (said,)), [Acquire(me), RecordGenerationAttempt()])
    world = TurnDeps(
        ledger=store,
        reading=store,
        models=provider,
        prompts=PlainPrompts(),
        tools=ScriptedTools(),
        journal=MemoryJournal(),
        prices=TwoMicros(),
        previews=Previews(lambda key, said: b""),
        titles=AutomaticTitles(
            background, shelf, shelf, choose=lambda chat, model: model, books=Books()
        ),
    )
    began, held = trio.current_time(), HeldChat(applied.stored, attempt_begun=True)
    while store.chats[new.id].messages[-1].body.role is Role.USER:  # attempt after attempt
        advanced = await generate(held, world, AtStake())
        held = advanced.held if isinstance(advanced, WorkAdvanced) else held
    return trio.current_time() - began


@pytest.fixture
async def background():
    async with open_background(drain_seconds=0) as background:
        yield background


async def test_the_title_may_be_there_before_the_answer(autojump_clock, background):
    shelf = Shelf()
    provider = TwoVoices([[5, "hi"]], 1, says({"title": "A good title"}))

    seconds = await first_turn(provider, shelf, background)

    assert 5 == seconds
    assert ["A good title"] == list(shelf.titles.values())


async def test_the_turn_does_not_wait_for_the_title(autojump_clock, background):
    shelf = Shelf()
    provider = TwoVoices([["hi"]], HANGS)

    seconds = await first_turn(provider, shelf, background)

    assert 0 == seconds
    assert 1 == background.statistics().running


async def test_a_title_that_comes_after_the_answer_counts_too(autojump_clock, background):
    shelf = Shelf()
    provider = TwoVoices([["hi"]], 5, says({"title": "A good title"}))

    await first_turn(provider, shelf, background)
    await trio.sleep(10)

    assert ["A good title"] == list(shelf.titles.values())


async def test_further_attempts_begin_no_further_title(autojump_clock, background):
    shelf = Shelf()
    provider = TwoVoices([[OVERLOADED], [OVERLOADED], ["hi"]], says("no title"))

    await first_turn(provider, shelf, background)

    assert 1 == len(provider.prompts)
