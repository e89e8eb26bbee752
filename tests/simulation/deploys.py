"""An hour of deploys: every few seconds the oldest process is told to stop and a new one starts.

Nothing else goes wrong: the provider answers, the store is there. Some chats say more in one step
than a process has time for, so that deploys cut it dozens of times: nothing has failed by that.
A parent that only waits for its agents has nothing to finish, and its process does not wait for it.
"""

from functools import partial

import trio

from actors.law import requests as ask
from actors.law.chat import Body, Role
from actors.law.parts.deltas import AnswerFinished, FinishReason
from actors.law.parts.message import TokenUsage
from actors.law.states import Status
from runtime.clock import now
from tests.simulation.deeds import ANN, create, said, served
from tests.simulation.deeds import apply as send
from tests.simulation.process import start_process

SECONDS = 3600.0
EVERY_SECONDS = (3.0, 8.0)
LEAVES_SECONDS = 1.5  # for a parent that waits: its wait has ended by then
STYLES = ("slow", "parent", "worker", "parent")  # of the chats of four users
MESSAGES_MAX = 8  # of a user in one chat; then they begin another one
LONG_PIECES = 17  # a second each: longer than most processes live


async def an_hour(world):
    until = now() + SECONDS
    start_process(world)
    async with trio.open_nursery() as nursery:
        for style in STYLES:
            nursery.start_soon(talk, world, style, until)
        while now() < until:
            await trio.sleep(world.rng.uniform(*EVERY_SECONDS))
            start_process(world)
            oldest = next(each for each in world.living() if not each.is_draining)
            oldest.drain()
            nursery.start_soon(lets_parents_go, oldest)
            for fault in faults(world):
                world.blame(fault)


async def talk(world, style, until):
    """One user, who says something, waits for the answer, thinks, and says more."""
    while now() < until:
        chat, count = await begin(world, style), 1
        while now() < until and count < MESSAGES_MAX:
            await trio.sleep(world.rng.uniform(1.0, 12.0))
            row = world.store.chats[chat].chat
            if row.status is Status.WAITING:
                more = ask.SendMessage(said(world), ask.BusyBehaviour.QUEUE)
                await serving(world, partial(send, chat=row, request=more))
                count += 1


async def begin(world, style):
    chat = world.new_chat_id()
    world.styles[chat] = style
    message = Body(Role.USER, said(world).parts, created_by=ANN)
    request = ask.CreateChat(ask.NewChat(chat, ANN), (message,))
    await serving(world, partial(create, request=request))
    return chat


async def serving(world, do):
    """Ask this of a process that serves, as soon as there is one."""
    while not (there := [each for each in world.living() if each.is_serving]):
        await trio.sleep(0.1)
    process = world.rng.choice(there)
    process.requests_count += 1
    await served(process, partial(do, process))


async def lets_parents_go(process):
    """Blame a process that was told to stop a while ago if a chat still waits for agents in it."""
    told_at = now()
    await trio.sleep(LEAVES_SECONDS)
    for chat, since in process.waits.values():
        if since <= told_at:
            process.world.blame(
                f"{process.name} was told to stop {LEAVES_SECONDS:g} s ago, and chat"
                f" {chat.int} still waits for its agents there"
            )


def script(provider, prompt):
    """Return the answer of a provider that never fails."""
    world = provider.world
    style = world.styles.get(prompt.asker.chat, "agent")
    if world.is_calm:
        return [*provider.text(1, 0.1), ends()]
    if style == "slow":
        return [*provider.text(LONG_PIECES, 1.0), ends()]
    if style == "parent" and world.chance(0.6):
        name = world.rng.choice(["spawn_agent", "wait_agent", "wait_agent"])
        return [*called(provider, name), ends(FinishReason.TOOL_CALLS)]
    if style == "worker" and world.chance(0.4):
        names = world.rng.choices(["fetch", "push", "write"], k=world.rng.choice([1, 2]))
        calls = [batch for name in names for batch in called(provider, name)]
        return [*calls, ends(FinishReason.TOOL_CALLS)]
    return [*provider.text(world.rng.choice([1, 4, 8]), 1.0), ends()]


def called(provider, name):
    return [(0.1, batch) for batch in provider.call(f"call{provider.world.number()}", name)]


def ends(reason=FinishReason.STOP):
    return (0, [AnswerFinished(reason, TokenUsage(input_tokens=10, output_tokens=1))])


def faults(world):
    """Yield the chats that a deploy has stopped, or that are told of a retry: it is no failure."""
    for kept in world.store.chats.values():
        chat = kept.chat
        if chat.status is Status.ERROR or chat.last_error is not None:
            yield f"chat {chat.id.int} has stopped with {chat.last_error}"
        if chat.retry_state is not None:
            yield f"chat {chat.id.int} is told to try again: {chat.retry_state}"
