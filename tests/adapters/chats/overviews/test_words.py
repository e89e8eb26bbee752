"""Search: in titles, and in what users and models have said, from the moment it was said."""

import pytest

from actors.law import requests as ask
from actors.law.chat import Visibility
from actors.law.parts.message import ReasoningPart
from adapters.chats import overviews as shelf
from adapters.chats.overviews import EXCERPT_CHARACTERS_MAX
from tests.actors.law.chats import ANN, BOB, assistant, edit, send, system
from tests.contracts.given import applied


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("lorem", "ab"),
        ("LOREM", "ab"),
        ("lorem ipsum", "a"),
        ('"lorem ipsum"', ""),
        ('"ipsum lorem"', "a"),
        ("lorem -ipsum", "b"),
        ("ipsum or dolor", "ab"),
        ("lor", ""),
        ("nothing", ""),
    ],
)
async def test_words_are_found_as_searches_write_them(ground, words, found):
    await ground.a_chat("a", answered=["ipsum lorem"])
    await ground.a_chat("b", answered=["lorem dolor"])

    escaped = words.replace('"', r"\"")

    assert sorted(found) == sorted(await ground.titles(f'search:"{escaped}"'))


async def test_titles_users_and_models_are_searched(ground):
    await ground.a_chat("quokka in the title")
    await ground.patch(await ground.a_chat("quokka said by the user"), title="b")
    await ground.a_chat("c", answered=["a quokka"])

    assert 3 == len(await ground.titles("search:quokka"))


async def test_what_nobody_sees_is_not_searched(ground):
    chat = await ground.a_chat("a", done=False)
    hidden = [
        assistant(ReasoningPart("quokka")),
        assistant("quokka", visibility=Visibility.MODEL),
        system("quokka"),
    ]
    await applied(ground.store.ledger.apply(chat, [ask.CommitStep((row,)) for row in hidden]))

    assert [] == await ground.titles("search:quokka")


async def test_what_was_said_later_is_found_and_what_was_taken_back_is_not(ground):
    chat = await ground.a_chat("a")
    first = (await ground.store.rows(chat)).messages[0].id
    assert [] == await ground.titles("search:quokka")

    await applied(ground.store.ledger.apply(chat, [send("a quokka"), ask.FinishTurn()]))
    said = await ground.titles("search:quokka")
    await applied(ground.store.ledger.apply(chat, [edit("a koala", id=first), ask.FinishTurn()]))

    assert ["a"] == said
    assert [] == await ground.titles("search:quokka")
    assert ["a"] == await ground.titles("search:koala")


async def test_what_is_shared_is_searched_where_it_is_asked_for(ground):
    chat = await ground.a_chat("a", by=BOB, answered=["quokka"])
    await ground.a_chat("b", by=BOB, answered=["quokka"])
    await ground.share(chat, ANN)

    assert [] == await ground.titles("search:quokka")
    assert ["a"] == await ground.titles("search:quokka source:shared_with_me")


async def test_words_that_are_none_find_nothing(ground):
    await ground.a_chat("a")

    assert [] == await ground.titles('search:"--"')


async def test_children_are_not_searched_for_their_roots(ground):
    root = await ground.a_chat("a")
    await ground.a_chat("b", parent=root, answered=["quokka"])

    assert [] == await ground.titles("search:quokka")


@pytest.mark.parametrize("at_once", [2, 3, 1000])
async def test_words_are_gathered_a_few_at_a_time_until_all_are_there(ground, monkeypatch, at_once):
    monkeypatch.setattr(shelf, "GATHERED_MESSAGES_MAX", at_once)
    for n in range(3):
        chat = await ground.a_chat(f"c{n}", answered=["one", "two"])
        for word in ("ibis", "koala", "quokka"):
            said = [send(f"{word}{n}"), ask.FinishTurn()]
            await applied(ground.store.ledger.apply(chat, said))

    for n in range(3):
        for word in ("ibis", "koala", "quokka"):
            assert [f"c{n}"] == await ground.titles(f"search:{word}{n}")


async def test_a_very_long_message_is_searched_up_to_a_bound(ground):
    words = " ".join(f"w{n}" for n in range(60_000))
    await ground.a_chat("a", answered=[f"quokka {words} koala"])

    assert ["a"] == await ground.titles("search:quokka")
    assert [] == await ground.titles("search:koala")


async def test_searching_writes_nothing_that_the_law_looks_at(ground):
    chat = await ground.a_chat("a", answered=["quokka"])
    before = await ground.store.rows(chat)

    await ground.titles("search:quokka")

    assert before == await ground.store.rows(chat)


async def test_a_search_says_where_it_found_something_if_it_is_asked(ground):
    long = "before " * 300 + "the red wine\nof Tuscany " + "after " * 300
    chat = await ground.a_chat("a", answered=["a red wine", long, "something else"])
    await ground.a_chat("red wine only in the title")
    query = {"q": 'search:"red wine"', "excerpts": "true"}

    listed = {row["title"]: row for row in (await ground.list(**query)).said}
    plain = (await ground.list(q='search:"red wine"')).said
    without = (await ground.list(excerpts="true")).said

    match = listed["a"]["search_match"]
    assert "red wine of Tuscany" in match["text"]
    assert len(match["text"]) <= EXCERPT_CHARACTERS_MAX
    said = (await ground.store.rows(chat)).messages
    assert [match["message_id"]] == [m.id for m in said if "Tuscany" in m.body.parts[0].text]
    assert not any("search_match" in row for row in [*plain, *without])
    assert 400 == (await ground.list(excerpts="some")).status
