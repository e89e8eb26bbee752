"""When a turn is summed up because somebody has asked for it: what comes before it, and after."""

from actors.chat.turn.next_action import (
    AwaitClient,
    CallModel,
    EndReason,
    EndTurn,
    RunTools,
    Summarise,
    next_action,
)
from actors.chat.turn.ports import OfferedTools
from actors.law.ids import EpisodeKey
from actors.law.parts.message import UNPRICED
from actors.law.states import State
from actors.prompts.compaction import Compaction, CompactionSource, Summary
from actors.prompts.fullness import Fullness
from tests.actors.chat.turn.given import answered, calls, hidden, history, tool
from tests.actors.law.chats import CHAT, FAST, NOW, a_chat, assistant, user

WISHED = a_chat(
    State.R0, compaction_requested_at=NOW, dynamic_tools=frozenset({"ask"}), tail=()
).chat
COMPACTION = Compaction(EpisodeKey(CHAT, 5, 2), CompactionSource.MANUAL, Fullness(0, 0, 70))
SUMMARY = list(COMPACTION.rows(Summary("all of it", 1, UNPRICED), FAST))


def after(*bodies, chat=WISHED):
    declared = (tool("ask").tool,)
    return next_action(chat, history(*bodies), OfferedTools((tool("read"),), declared))


def test_what_is_complete_is_summed_up():
    assert Summarise() == after(user(), assistant("done"))


def test_what_waits_for_a_model_is_summed_up_first():
    assert Summarise() == after(user(), assistant("done"), user("more"))
    assert Summarise() == after(user(), assistant(calls("a")), answered("a"))


def test_open_calls_come_first():
    running = after(user(), assistant(calls("a")))
    waiting = after(user(), assistant(calls("c", "ask")))

    assert isinstance(running, RunTools)
    assert isinstance(waiting, AwaitClient)


def test_where_no_model_has_said_anything_new_the_wish_is_passed_over():
    assert CallModel() == after(user())
    assert CallModel() == after(user(), assistant("done"), SUMMARY, user("more"))


def test_behind_the_summary_a_complete_turn_ends():
    assert EndTurn(EndReason.COMPLETE) == after(user(), assistant("done"), SUMMARY)


def test_behind_the_summary_a_turn_that_is_not_complete_goes_on():
    assert CallModel() == after(user(), assistant(calls("a")), answered("a"), SUMMARY)


def test_what_only_the_model_sees_is_no_new_answer():
    said = (user(), assistant("done"), SUMMARY, hidden())

    assert EndTurn(EndReason.COMPLETE) == after(*said)
