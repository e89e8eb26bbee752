"""A family of chats cut at any moment of spawning and waiting, in virtual time: every twentieth of
a second of its life, by everything that can happen to it.
"""

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import MockClock

from actors.law.refusals import NotAllowed
from actors.law.requests import Interrupt
from tests.actors.agents.stage import REPORT, Story

pytestmark = pytest.mark.slow

LIFE_SECONDS = 4.5  # of an undisturbed family
STEP_SECONDS = 0.05
MOMENTS = [n * STEP_SECONDS + 0.011 for n in range(int(LIFE_SECONDS / STEP_SECONDS))]


def at_every_moment(cause):
    """The stories, each with the moment at which `cause` struck."""
    for moment in MOMENTS:
        story = Story()
        trio.run(story.play, cause, moment, clock=MockClock(autojump_threshold=0))
        yield moment, story


def family_is_whole(story):
    """One child, one report of it, and nobody at work."""
    [child] = story.children
    told = story.results()
    assert ["spawn_agent", "wait_agent"] == [name for name, _ in told]
    assert [str(child.id)] * 2 == [result["chat_id"] for _, result in told]
    assert REPORT == told[-1][1]["report"]
    assert [REPORT] == story.answers(child.id)
    assert [f"heard: {REPORT}"] == story.answers(story.parent)
    return True


async def nothing_happens(story):
    await trio.lowlevel.checkpoint()


async def its_process_is_killed(story):
    story.holder().kill()


async def its_process_is_told_to_stop(story):
    story.holder().drain()


async def all_processes_are_killed(story):
    for process in story.processes:
        process.kill()
    await trio.sleep(1.0)
    story.start()


async def the_parent_is_interrupted(story):
    await story.store.apply(story.parent, [Interrupt()])


async def the_agent_is_interrupted(story):
    for child in story.children:
        await story.store.apply(child.id, [Interrupt()])


async def the_family_is_archived(story):
    refused = await story.store.archive_family(story.parent, archived=True)
    assert isinstance(refused, NotAllowed) or all(each.chat.archived for each in refused)


@pytest.mark.parametrize(
    "cause",
    [
        nothing_happens,
        its_process_is_killed,
        its_process_is_told_to_stop,
        all_processes_are_killed,
        the_family_is_archived,
    ],
)
def test_whatever_happens_to_processes_the_family_does_its_work_once(cause):
    for moment, story in at_every_moment(cause):
        assert family_is_whole(story), moment


def test_a_parent_that_is_interrupted_leaves_no_child_behind_and_no_call_open():
    spawned = set()
    for moment, story in at_every_moment(the_parent_is_interrupted):
        told = dict(story.results())
        assert len(story.children) <= 1, moment
        spawned.add(len(story.children))
        for child in story.children:
            assert [REPORT] == story.answers(child.id), moment
            said = told["spawn_agent"].get("chat_id", str(child.id))
            assert str(child.id) == said, moment
        if told.get("wait_agent", {}).get("report"):
            assert REPORT == told["wait_agent"]["report"], moment

    assert {0, 1} == spawned


def test_an_agent_that_is_interrupted_is_reported_as_unfinished_or_done_never_half():
    found = set()
    for moment, story in at_every_moment(the_agent_is_interrupted):
        [child] = story.children
        told = dict(story.results())["wait_agent"]
        found.add((told["report"], told.get("unfinished", False)))
        assert story.answers(child.id) or told["unfinished"], moment

    assert {(REPORT, False), ("", True)} == found


CAUSES = [
    its_process_is_killed,
    its_process_is_told_to_stop,
    all_processes_are_killed,
    the_parent_is_interrupted,
    the_agent_is_interrupted,
    the_family_is_archived,
]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.0, 3.0), st.sampled_from(CAUSES)), min_size=1, max_size=4),
    st.frozensets(st.integers(1, 30), max_size=8),
)
def test_whatever_comes_together_and_whatever_news_is_lost(blows, lost):
    story = Story(lost)

    async def strike(story):
        for seconds, cause in blows:
            await trio.sleep(seconds)
            await cause(story)
            if all(process.is_gone for process in story.processes):
                story.start()

    trio.run(story.play, strike, clock=MockClock(autojump_threshold=0))

    told = story.results()
    assert len(story.children) <= 1
    assert len([one for name, one in told if name == "spawn_agent"]) <= 1
    assert len([one for _, one in told if one.get("report")]) <= 1
    for child in story.children:
        assert len(story.answers(child.id)) <= 1
        assert {one["chat_id"] for _, one in told if "chat_id" in one} <= {str(child.id)}
    assert {chat.archived for chat in (story.row, *story.children)} in ({True}, {False})
