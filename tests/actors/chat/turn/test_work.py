"""What is known after two pieces of news, whichever came first."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.chat.turn.work import HeldChat, newest_of, without_attempt
from tests.actors.chat.turn.given import history
from tests.actors.law.chats import a_chat, user

OLD = history(user("old"))


def held(snapshot, *, history_version=10, attempt=1, rows=None, begun=False):
    stored = a_chat(
        snapshot_version=snapshot, history_version=history_version, generation_attempt=attempt
    )
    return HeldChat(stored, rows, attempt_begun=begun)


def test_the_newest_snapshot_wins_whichever_came_first():
    older, newest = held(20), held(21)

    assert newest == newest_of(older, newest) == newest_of(newest, older)


def test_a_history_that_has_been_read_is_kept_while_it_stands():
    read = held(20, rows=OLD)

    assert OLD == newest_of(read, held(21)).history
    assert OLD == newest_of(held(21), read).history
    assert newest_of(read, held(21, history_version=21)).history is None


def test_an_attempt_that_was_begun_is_not_counted_again():
    begun = held(20, begun=True)

    assert newest_of(begun, held(21)).attempt_begun
    assert newest_of(held(21), begun).attempt_begun
    assert not newest_of(begun, held(21, attempt=2)).attempt_begun
    assert not newest_of(begun, held(21, history_version=21)).attempt_begun


def test_an_attempt_that_is_over_is_forgotten_and_nothing_else():
    begun = held(20, rows=OLD, begun=True)

    assert replace(begun, attempt_begun=False) == without_attempt(begun)


NEWS = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6)


@settings(max_examples=40)
@given(NEWS, st.randoms())
def test_news_may_come_in_any_order_and_twice(news, chance):
    views = [held(20 + n, rows=OLD if read else None) for n, read in news]
    shuffled = [*views, *views]
    chance.shuffle(shuffled)

    known = shuffled[0]
    for view in shuffled[1:]:
        known = newest_of(known, view)

    assert max(v.stored.chat.snapshot_version for v in views) == known.stored.chat.snapshot_version
    assert (known.history is OLD) == any(read for _, read in news)
