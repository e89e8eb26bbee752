"""A new chat is given a title of its own, once, beside its first answer; nobody is disturbed."""

import logging
from uuid import UUID

import pytest

from actors.law.chat import Role
from actors.law.ids import ChatId, FileId
from actors.prompts.converting import StoredFile
from actors.upkeep.title_jobs import TITLES_AT_ONCE_MAX
from tests.actors.upkeep.stage import (
    HANGS,
    NO_CREDIT,
    NO_TEMPERATURE,
    OVERLOADED,
    Shelf,
    a_file,
    a_namer,
    assistant,
    hidden,
    says,
    user,
)

GOOD = says({"title": "A good title"})
QUESTION = "why does main.py crash when I start it?"
FALLBACK = "why does main.py crash when I…"


async def test_a_new_chat_is_called_by_what_it_is_about(autojump_clock):
    async with a_namer(GOOD) as stage:
        chat = stage.begin(QUESTION)
        assert FALLBACK == stage.title_of(chat)

        await stage.settled()

        assert "A good title" == stage.title_of(chat)
        assert 1 == len(stage.oracle.prompts)


async def test_what_only_the_model_sees_does_not_make_a_chat_older(autojump_clock):
    said = (user("hello"), hidden(Role.SYSTEM, "rules"), hidden(Role.USER, "context"))
    async with a_namer(GOOD) as stage:
        chat = stage.begin(*said)
        await stage.settled()

        assert "A good title" == stage.title_of(chat)


@pytest.mark.parametrize(
    ("said", "columns"),
    [
        (["hello", "again"], {}),
        (["hello", assistant("hi")], {}),
        (["hello"], {"parent_id": ChatId(UUID(int=7))}),
        (["hello"], {"generation_attempt": 2}),
    ],
    ids=["two messages", "answered", "a child", "not the first attempt"],
)
async def test_a_chat_that_is_not_new_is_left_alone(said, columns, autojump_clock):
    async with a_namer(GOOD) as stage:
        stage.begin(*said, **columns)
        await stage.settled()

        assert [] == stage.oracle.prompts
        assert 0 == stage.titles.statistics().begun_count


async def test_a_chat_that_was_named_by_its_user_is_not_even_asked_about(autojump_clock):
    async with a_namer(GOOD) as stage:
        chat = stage.begin("hello")
        stage.shelf.titles[chat.id] = "Mine"
        await stage.settled()

        assert [] == stage.oracle.prompts
        assert "Mine" == stage.title_of(chat)


async def test_a_chat_that_was_named_meanwhile_keeps_that_title(autojump_clock):
    async with a_namer(5, GOOD) as stage:
        chat = stage.begin("hello")
        await stage.passes(1)
        stage.shelf.titles[chat.id] = "Mine"
        await stage.settled()

        assert "Mine" == stage.title_of(chat)
        assert 1 == stage.titles.statistics().late_count


async def test_a_pasted_text_is_read_and_named(autojump_clock):
    paste = StoredFile("text/plain", "pasted-text-2030-01-02-03-04-05.txt", b"Traceback")
    file = FileId(UUID(int=9))
    async with a_namer(GOOD, shelf=Shelf(files={file: paste})) as stage:
        chat = stage.begin(a_file(file))
        await stage.settled()

        assert "A good title" == stage.title_of(chat)
        assert stage.oracle.prompts[0].messages[0].parts[0].text.endswith("Traceback")


async def test_of_a_picture_alone_no_title_is_made(autojump_clock):
    async with a_namer(GOOD) as stage:
        chat = stage.begin(a_file(FileId(UUID(int=9)), "image/png"))
        await stage.settled()

        assert "New Chat" == stage.title_of(chat)
        assert (set(), []) == (stage.shelf.read_files, stage.oracle.prompts)


async def test_where_no_temperature_is_taken_it_is_asked_again_without(autojump_clock):
    async with a_namer(NO_TEMPERATURE, GOOD) as stage:
        chat = stage.begin("hello")
        await stage.settled()

        assert [0.0, None] == [p.settings.temperature for p in stage.oracle.prompts]
        assert "A good title" == stage.title_of(chat)


async def test_a_provider_that_is_overloaded_is_asked_again_after_a_while(autojump_clock):
    async with a_namer(OVERLOADED, OVERLOADED, GOOD) as stage:
        chat = stage.begin("hello")
        await stage.settled()

        assert "A good title" == stage.title_of(chat)
        first, second, third = stage.oracle.asked_at
        assert 1 <= round(second - first, 6) <= 1.5  # both bounds are met: chance has its ends
        assert 2 <= round(third - second, 6) <= 3


async def test_after_thirty_seconds_the_chat_keeps_the_title_that_it_has(autojump_clock):
    async with a_namer(HANGS) as stage:
        chat = stage.begin(QUESTION)
        await stage.passes(29)
        assert 1 == stage.background.statistics().running

        await stage.passes(2)

        assert 0 == stage.background.statistics().running
        assert FALLBACK == stage.title_of(chat)


async def test_the_thirty_seconds_are_for_all_tries_together(autojump_clock):
    async with a_namer(OVERLOADED) as stage:
        stage.begin("hello")
        await stage.settled()

        first, *_, last = stage.oracle.asked_at
        assert last - first <= 30


@pytest.mark.parametrize(
    "answer", [NO_CREDIT, says("no JSON"), says({"title": "a b c d e f g h i"})]
)
async def test_without_a_title_in_the_answer_nothing_happens_quietly(
    answer, autojump_clock, caplog
):
    with caplog.at_level(logging.INFO, "events"):
        async with a_namer(answer) as stage:
            chat = stage.begin(QUESTION)
            await stage.settled()

            assert FALLBACK == stage.title_of(chat)
            assert 1 == len(stage.oracle.prompts)
            assert 1 == stage.titles.statistics().failed_count

    assert [] == caplog.records


async def test_a_store_that_is_away_costs_the_title_and_nothing_else(autojump_clock, caplog):
    with caplog.at_level(logging.INFO, "events"):
        async with a_namer(GOOD, shelf=Shelf(away=OSError("the database is away"))) as stage:
            chat = stage.begin(QUESTION)
            await stage.settled()

            assert FALLBACK == stage.title_of(chat)

    assert ["job.failed"] == [record.message for record in caplog.records]


async def test_two_attempts_at_once_ask_only_once(autojump_clock):
    async with a_namer(1, GOOD) as stage:
        chat = stage.begin("hello")
        stage.begin_again(chat, [user("hello")])
        await stage.settled()

        assert 1 == len(stage.oracle.prompts)
        assert 1 == stage.titles.statistics().begun_count


async def test_of_many_new_chats_at_once_some_are_named_and_the_others_wait(autojump_clock):
    async with a_namer(HANGS) as stage:
        for number in range(TITLES_AT_ONCE_MAX + 3):
            stage.begin(QUESTION, id=ChatId(UUID(int=number)))
        await stage.passes(1)
        assert TITLES_AT_ONCE_MAX == len(stage.oracle.prompts)

        await stage.settled()

        assert TITLES_AT_ONCE_MAX + 3 == len(stage.oracle.prompts)
