"""Processes that are told to stop while a parent there waits for its agent."""

from dataclasses import replace

import trio

from tests.actors.agents.stage import LIMITS, REPORT, Story

WAITING_AT = 1.8  # the parent waits, and the agent is in the middle of its only step


def holders(story):
    """Of the parent and of its agent."""
    [agent] = story.children
    return story.row.holder.worker, agent.holder.worker


async def test_the_parent_goes_on_elsewhere_while_the_agent_ends_its_step_here(autojump_clock):
    story = Story(limits=replace(LIMITS, drain_seconds=30.0))
    seen = {}

    async def drain(story):
        seen["before"] = holders(story)
        both = {process.supervisor.slots.worker: process for process in story.processes}
        for process in map(both.get, set(seen["before"])):
            process.drain()
        story.start()
        await trio.sleep(0.5)
        seen["after"] = holders(story)

    await story.play(drain, at=WAITING_AT)

    parent, agent = seen["after"]
    assert parent not in seen["before"]
    assert agent == seen["before"][1]
    (spawned, _), (waited, told) = story.results()
    assert ("spawn_agent", "wait_agent") == (spawned, waited)
    assert REPORT == told["report"]
    assert [f"heard: {REPORT}"] == story.answers(story.parent)
    [child] = story.children
    assert [REPORT] == story.answers(child.id)
    assert 0 == story.row.process_deaths_count
