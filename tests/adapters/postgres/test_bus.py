"""The bus: followers hear the news of their kinds or their chat, as long as they follow."""

from contextlib import ExitStack
from uuid import uuid4

import pytest

from actors.law import requests as ask
from actors.law.ids import ChatId, UserId
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, HintsLost, TitleChanged, WorkWaits
from adapters.postgres.bus import Switchboard
from tests.actors.law.chats import user
from tests.fakes.store import MemoryStore

ANN = UserId(uuid4())
EVERYTHING = HintsLost()


def moved():
    chat = ChatId(uuid4())
    return ChatMoved(chat, 1, 1, 0, 0, 1, Status.RUNNING, False, None, None, ANN)


def test_a_follower_hears_the_kinds_of_news_that_it_follows():
    bus = Switchboard()
    one, other, waits = moved(), moved(), WorkWaits(ChatId(uuid4()), 1)
    both, moves, chat, titles = [], [], [], []

    with (
        bus.follow(both.append, ChatMoved, WorkWaits),
        bus.follow(moves.append, ChatMoved),
        bus.follow_chat(one.chat, chat.append),
        bus.follow(titles.append, TitleChanged),
    ):
        for hint in (one, other, waits):
            bus.tell(hint)

    assert ([one, other, waits], [one, other], [one], []) == (both, moves, chat, titles)


def test_a_title_is_news_for_those_who_follow_the_chat():
    bus, hint = Switchboard(), TitleChanged(ChatId(uuid4()), ANN)
    chat, other = [], []

    with bus.follow_chat(hint.chat, chat.append), bus.follow_chat(ChatId(uuid4()), other.append):
        bus.tell(hint)

    assert ([hint], []) == (chat, other)


def test_whoever_follows_no_more_hears_no_more():
    bus, heard = Switchboard(), []
    hint = moved()

    with bus.follow_chat(hint.chat, heard.append):
        pass
    bus.tell(hint)

    assert ([], 0) == (heard, bus.statistics().following)


def test_several_follow_the_same_and_one_may_follow_twice():
    bus, heard = Switchboard(), []
    hint = moved()

    with bus.follow_chat(hint.chat, heard.append), bus.follow_chat(hint.chat, heard.append):
        bus.tell(hint)
        assert 2 == bus.statistics().following

    assert [hint, hint] == heard


def test_every_follower_hears_once_that_it_is_to_look_at_everything():
    bus = Switchboard()
    heard = []

    with (
        bus.follow(heard.append, ChatMoved, WorkWaits),
        bus.follow(heard.append, TitleChanged),
        bus.follow_chat(ChatId(uuid4()), heard.append),
    ):
        bus.hear(EVERYTHING)
        assert 3 == bus.statistics().following

    assert [EVERYTHING] * 3 == heard


def test_what_is_told_here_goes_beyond_and_what_comes_from_there_does_not_go_back():
    beyond, heard = [], []
    bus = Switchboard(beyond.append)
    told, came = moved(), moved()

    with bus.follow(heard.append, ChatMoved):
        bus.tell(told)
        bus.hear(came)

    assert ([told, came], [told]) == (heard, beyond)
    assert (1, 1) == (bus.statistics().told_count, bus.statistics().heard_count)


def fails(_):
    raise KeyError("mine")


@pytest.mark.parametrize("teller", ["tell", "hear"])
def test_one_who_fails_holds_up_neither_the_others_nor_the_teller_and_is_counted(teller):
    bus, heard = Switchboard(), []
    hint = moved()

    with bus.follow_chat(hint.chat, fails), bus.follow_chat(hint.chat, heard.append):
        getattr(bus, teller)(hint)

    assert [hint] == heard
    assert 1 == bus.statistics().failed_count


def test_a_way_to_other_processes_that_fails_holds_up_nobody_here():
    bus, heard = Switchboard(fails), []
    hint = moved()

    with bus.follow(heard.append, ChatMoved):
        bus.tell(hint)

    assert [hint] == heard
    assert 1 == bus.statistics().failed_count


async def test_a_commit_that_somebody_fails_to_take_in_is_counted():
    bus, seen = Switchboard(), []
    new = ask.NewChat(ChatId(uuid4()), ANN)
    applied = await MemoryStore(tell=bus.tell).create(ask.CreateChat(new, (user("hello"),)), [])

    with bus.follow_commits(fails), bus.follow_commits(seen.append):
        bus.tell_commit(applied)

    assert [applied] == seen
    assert 1 == bus.statistics().failed_count


def test_a_follower_may_stop_while_he_hears():
    bus, heard = Switchboard(), []
    hint, following = moved(), ExitStack()
    following.enter_context(bus.follow_chat(hint.chat, lambda _: following.close()))

    with bus.follow_chat(hint.chat, heard.append):
        bus.tell(hint)
        bus.tell(hint)

    assert [hint, hint] == heard
    assert 0 == bus.statistics().following
