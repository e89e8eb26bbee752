"""The bus: whoever follows hears what he follows, as long as he follows."""

from contextlib import ExitStack
from uuid import uuid4

import pytest

from actors.law import requests as ask
from actors.law.ids import ChatId, UserId
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, LookAtEverything, TitleChanged, WorkWaits
from adapters.postgres.bus import Switchboard
from tests.actors.law.chats import user
from tests.fakes.store import MemoryStore

ANN, BOB = UserId(uuid4()), UserId(uuid4())
EVERYTHING = LookAtEverything()


def moved(owner=ANN, chat=None, snapshot=1):
    chat = chat or ChatId(uuid4())
    return ChatMoved(chat, snapshot, 1, 0, 0, 1, Status.RUNNING, False, None, None, owner)


def test_each_hears_what_he_follows():
    bus = Switchboard()
    mine, hers, waits = moved(ANN), moved(BOB), WorkWaits(ChatId(uuid4()), 1)
    everything, chat, owner = [], [], []

    with (
        bus.follow_all(everything.append),
        bus.follow_chat(mine.chat, chat.append),
        bus.follow_owner(BOB, owner.append),
    ):
        for hint in (mine, hers, waits):
            bus.tell(hint)

    assert ([mine, hers, waits], [mine], [hers]) == (everything, chat, owner)


def test_a_title_is_news_for_those_who_follow_the_chat_or_its_owner():
    bus, hint = Switchboard(), TitleChanged(ChatId(uuid4()), ANN)
    chat, ann, bob = [], [], []

    with (
        bus.follow_chat(hint.chat, chat.append),
        bus.follow_owner(ANN, ann.append),
        bus.follow_owner(BOB, bob.append),
    ):
        bus.tell(hint)

    assert ([hint], [hint], []) == (chat, ann, bob)


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


def test_everything_is_heard_by_all():
    bus = Switchboard()
    heard = []

    with (
        bus.follow_all(heard.append),
        bus.follow_chat(ChatId(uuid4()), heard.append),
        bus.follow_owner(BOB, heard.append),
    ):
        bus.hear(EVERYTHING)

    assert [EVERYTHING] * 3 == heard


def test_what_is_told_here_goes_beyond_and_what_comes_from_there_does_not_go_back():
    beyond, heard = [], []
    bus = Switchboard(beyond.append)
    told, came = moved(), moved()

    with bus.follow_all(heard.append):
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

    with bus.follow_all(heard.append):
        bus.tell(hint)

    assert [hint] == heard
    assert 1 == bus.statistics().failed_count


async def test_a_commit_that_somebody_fails_to_take_in_is_counted():
    bus, seen = Switchboard(), []
    new = ask.NewChat(ChatId(uuid4()), ANN)
    applied = await MemoryStore(tell=bus.tell).create(ask.CreateChat(new, (user("hello"),)), [])

    with bus.follow_commits(fails), bus.follow_commits(seen.append):
        bus.saw(applied)

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
