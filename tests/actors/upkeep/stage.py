"""Given-helpers for stories of titles: a model that is asked aside, and a shelf of titles.

async with a_namer(says({"title": "A good name"})) as stage:
    stage.begin("why does main.py crash?")
    await stage.settled()
    stage.titles            {chat: title}
"""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import trio

from actors.chat.turn.ports import Model
from actors.law.chat import Body, Message, Role, Visibility
from actors.law.failures import wording
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FailureKind, FinishReason
from actors.law.parts.message import FilePart, TextPart
from actors.law.parts.prompt import CallSettings
from actors.upkeep.jobs import Background, open_background
from actors.upkeep.title_jobs import AutomaticTitles
from actors.upkeep.title_wording import fallback_title, source_of
from tests.actors.law.chats import a_chat

HANGS = object()
OVERLOADED = wording.failure(FailureKind.OVERLOADED, "anthropic", retryable=True, status=529)
NO_CREDIT = wording.failure(FailureKind.AUTH, "anthropic", status=401)
NO_TEMPERATURE = wording.failure(
    FailureKind.GENERIC, "openai", status=400, detail="Unsupported parameter: 'temperature'"
)


def says(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return ModelAnswer((TextPart(text),), FinishReason.STOP)


class Oracle:
    """The part of a provider that answers at once: one answer per call, the last again and again.
    A number is a wait before the next answer."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.prompts = []
        self.asked_at = []

    async def generate(self, prompt):
        self.prompts.append(prompt)
        self.asked_at.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        while True:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer is HANGS:
                await trio.sleep_forever()
            elif isinstance(answer, int | float):
                await trio.sleep(answer)
            elif isinstance(answer, Exception):
                raise answer
            else:
                return answer


class Books:
    """The port AnswerBooks: what each answer was booked as, in order."""

    def __init__(self):
        self.booked = []

    async def reserve(self, chat, what, model, prompt):
        return None

    def give_back(self, reservation):
        pass

    async def book_answer(self, chat, what, model, answer, reservation=None):
        self.booked.append((chat, what, answer))


@dataclass
class Shelf:
    """The port TitleStore in memory, and the port FileReader."""

    titles: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    read_files: set = field(default_factory=set)
    away: Exception | None = None

    async def is_called(self, chat, title):
        await trio.lowlevel.checkpoint()
        if self.away is not None:
            raise self.away
        return self.titles.get(chat) == title

    async def rename(self, chat, title, *, was):
        if not await self.is_called(chat, was):
            return False
        self.titles[chat] = title
        return True

    async def read(self, wanted):
        await trio.lowlevel.checkpoint()
        self.read_files |= wanted
        return {id: file for id, file in self.files.items() if id in wanted}


@dataclass
class Stage:
    oracle: Oracle
    shelf: Shelf
    background: Background
    titles: AutomaticTitles
    settings: CallSettings
    books: Books

    def begin(self, *said, **columns):
        """A chat with these messages, called by its first words, is about to ask its model."""
        history = [m if isinstance(m, Message) else user(m) for m in said]
        chat = a_new_chat(**columns)
        source = source_of(history[0].body.parts, self.shelf.files)
        self.shelf.titles.setdefault(chat.id, fallback_title(source))
        self.begin_again(chat, history)
        return chat

    def begin_again(self, chat, history):
        model = Model(self.oracle, None, "anthropic", "anthropic", "claude", self.settings)
        self.titles.begin(chat, history, model)

    async def passes(self, seconds):
        await trio.sleep(seconds)

    async def settled(self):
        await trio.sleep(100)
        assert 0 == self.background.statistics().running

    def title_of(self, chat):
        return self.shelf.titles[chat.id]


def a_new_chat(**columns):
    return a_chat(**{"generation_attempt": 1} | columns).chat


def user(said, **body):
    parts = (TextPart(said),) if isinstance(said, str) else (said,)
    return message(Body(Role.USER, parts, **body))


def assistant(text):
    return message(Body(Role.ASSISTANT, (TextPart(text),)))


def hidden(role, text):
    return message(Body(role, (TextPart(text),), visibility=Visibility.MODEL))


def message(body):
    return Message(1, 1, datetime(2030, 1, 1, tzinfo=UTC), False, body)


def a_file(id, media_type="text/plain"):
    return FilePart(media_type, file_id=id)


@asynccontextmanager
async def a_namer(*answers, settings=None, shelf=None):
    oracle, shelf = Oracle(*answers), shelf or Shelf()
    async with open_background(drain_seconds=0) as background:
        books = Books()
        titles = AutomaticTitles(
            background, shelf, shelf, choose=lambda chat, model: model, books=books
        )
        yield Stage(oracle, shelf, background, titles, settings or CallSettings(), books)
