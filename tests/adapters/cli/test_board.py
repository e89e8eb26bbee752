"""The board as data: who comes first and why, what is not known, which keys were typed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import msgspec
import pytest

from adapters.cli.board.drawing import frame, without_chats
from adapters.cli.board.news import query_of
from adapters.cli.board.rows import (
    BoardFilter,
    BoardGroup,
    BoardState,
    ChatDetail,
    RowGate,
    age_of,
    cost_text,
    keys_of,
    tokens_text,
)
from tests.adapters.cli.test_conversation import CHAT

AT = datetime(2030, 1, 2, tzinfo=UTC)


def chat(number, *, minutes=0, **more):
    id = UUID(int=number)
    changed = {"id": id, "root_chat_id": id, "status": "waiting", "title": f"chat {number}"}
    return msgspec.structs.replace(
        CHAT, updated_at=AT - timedelta(minutes=minutes), **{**changed, **more}
    )


def board(*chats, **more):
    return BoardState(chats={each.id: each for each in chats}, is_loaded=True, **more)


def test_who_needs_a_person_longest_comes_first_and_what_rests_by_its_last_change():
    state = board(
        chat(1, minutes=9),
        chat(2, minutes=1),
        chat(3, status="running"),
        chat(4, minutes=1, attention="question", question="Which river?"),
        chat(5, minutes=5, status="error", attention="error"),
    )

    assert [5, 4, 3, 2, 1] == [row.id.int for row in state.rows]
    assert ["failed", "asks: Which river?"] == [row.why for row in state.rows[:2]]
    assert {BoardGroup.NEEDS} == {row.group for row in state.rows[:2]}


def test_an_agent_that_needs_a_person_is_said_in_the_row_of_its_root():
    agent = chat(2, parent_chat_id=UUID(int=1), root_chat_id=UUID(int=1), attention="consent")
    state = board(chat(1, status="running")).with_chat(agent)

    [row] = state.rows
    assert (BoardGroup.NEEDS, "agent asks for consent") == (row.group, row.why)


def test_a_board_without_chats_says_how_to_begin_one_or_why_none_is_seen():
    empty = board()

    assert "promptcorner chat begins one" in without_chats(empty)
    assert "no chat is like that" in without_chats(replace(empty, search="rivers"))
    assert "no chat is like that" in without_chats(replace(empty, filter=BoardFilter.NEEDS))


@pytest.mark.parametrize(("count", "words"), [(0, "0 chats ·"), (1, "1 chat ·"), (2, "2 chats ·")])
def test_chats_are_counted_as_one_says_it(count, words):
    [head, *_] = frame(board(*map(chat, range(1, count + 1))), AT, width=80, height=24)

    assert words in head.plain


def test_a_filter_leaves_out_the_others_and_the_selection_stays_on_the_screen():
    state = board(chat(1), chat(2, status="running"), selected=UUID(int=1))
    filtered = replace(state, filter=BoardFilter.WORKS)

    assert [2] == [row.id.int for row in filtered.rows]
    assert 2 == filtered.current.id.int
    assert 1 == state.moved(99).current.id.int
    assert 2 == state.moved(-99).current.id.int


@pytest.mark.parametrize(
    ("detail", "cost", "tokens"),
    [
        (ChatDetail(), "?", "?"),
        (ChatDetail(cost_micros=0, unpriced_count=2), "?", "?"),
        (ChatDetail(cost_micros=0, tokens=0), "$0.0000", "0"),
        (ChatDetail(cost_micros=1_500, unpriced_count=1, tokens=999), "$0.0015+?", "999"),
        (ChatDetail(cost_micros=1_500, tokens=50_000, tokens_max=200_000), "$0.0015", "50.0k 25%"),
    ],
)
def test_what_is_not_known_is_not_called_nothing(detail, cost, tokens):
    assert (cost, tokens) == (cost_text(detail), tokens_text(detail))


@pytest.mark.parametrize(
    ("seconds", "age"), [(-5, "0s"), (59, "59s"), (60, "1m"), (7_200, "2h"), (200_000, "2d")]
)
def test_an_age_has_one_unit(seconds, age):
    assert age == age_of(AT - timedelta(seconds=seconds), AT)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"\x1b[A\x1bOBq", ["up", "down", "q"]),
        (b"/zz\xc3\xa9\n", ["/", "z", "z", "é", "enter"]),
        (b"ab\x7f\r", ["a", "b", "backspace", "enter"]),
        (b"\x1b", ["escape"]),
        (b"\x1b[1;5Cx", ["x"]),
        (b"\x00\xff", []),
    ],
)
def test_keys_are_read_of_what_a_terminal_sends(data, keys):
    assert keys == keys_of(data)


@pytest.mark.parametrize(
    ("search", "query"),
    [
        ("", ""),
        ("two rivers", 'search:"two rivers"'),
        ('has_unread:true "two', 'has_unread:true search:"two"'),
    ],
)
def test_words_are_searched_together_and_filters_are_left_as_they_are(search, query):
    assert query == query_of(BoardState(search=search))
    archived = BoardState(search=search, filter=BoardFilter.ARCHIVED)
    assert f"{query} archived:true".strip() == query_of(archived)


def test_a_reason_takes_the_room_that_a_title_leaves_and_a_cut_is_seen():
    chats = [chat(1, title="Ships", attention="consent"), chat(2, title="w" * 90)]
    shown = [line.plain for line in frame(board(*chats), AT, width=60, height=9)]

    assert any(line.startswith("▸ ! Ships") and "asks for consent  " in line for line in shown)
    assert any("www…" in line for line in shown)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (20, 5), (1, 1)])
def test_a_frame_is_as_large_as_the_screen(width, height):
    chats = [chat(number, title="title\x1b[2J " * 20) for number in range(1, 100)]
    lines = frame(board(*chats), AT, width=width, height=height)

    assert height == len(lines)
    assert max(line.cell_len for line in lines) <= width
    assert "\x1b" not in "".join(line.plain for line in lines)


def test_a_key_acts_on_the_row_that_was_seen_and_once_while_it_is_held():
    gate, one, other = RowGate(), UUID(int=1), UUID(int=2)
    gate.drawn(one, 10.0)
    assert not gate.takes(one, 10.1), "it has just been drawn"
    assert gate.takes(one, 11.0)
    gate.drawn(other, 11.1)  # the first one is archived
    held = [gate.takes(other, 11.2 + number / 30) for number in range(60)]

    assert not any(held)
    assert gate.takes(other, 14.0)


def test_a_key_acts_at_once_on_the_row_that_was_moved_to_and_not_on_one_that_is_not_drawn():
    gate, one, other = RowGate(), UUID(int=1), UUID(int=2)
    gate.drawn(one, 10.0)
    gate.moved(other)

    assert gate.takes(other, 10.0)
    assert not gate.takes(one, 20.0)
