"""What a family of chats asks for consent, as those see it who watch a member of it."""

import json
from uuid import uuid4

import pytest
import trio

from actors.law import requests as ask
from actors.law.chat import Verdict
from actors.law.ids import ChatId
from actors.law.store.hints import HintsLost
from actors.streams.feeds.diff import Position
from tests.actors.law.chats import ANN, HOLDER, assistant, call, step, user
from tests.actors.streams.feeds.test_feed import Stage, as_lines, feeds_of


def asking(*ids):
    asks = tuple(ask.CallToApprove(id, "execute", "{}") for id in ids)
    calls = assistant(*(call(id, "execute") for id in ids))
    return step(calls), ask.EnterRequiresAction(asks)


def decide(id, verdict=Verdict.ALLOW_ONCE):
    return ask.DecideApproval(id, verdict, ANN)


class Family(Stage):
    """A root and its agent."""

    def __init__(self):
        super().__init__()
        self.child = ChatId(uuid4())

    async def create(self):
        await super().create()
        new = ask.NewChat(self.child, ANN, parent_id=self.chat, root_id=self.chat)
        begun = [ask.Acquire(HOLDER), ask.RecordGenerationAttempt()]
        await self.memory.create(ask.CreateChat(new, (user("work"),)), begun)

    async def child_does(self, *requests):
        await self.memory.apply(self.child, requests)


class Watcher:
    """Hears everything; `asks` is what he has been told last."""

    def __init__(self, subscription):
        self.subscription = subscription
        self.asks = []
        self.types = []

    async def live(self):
        while True:
            frame = await self.subscription.next(as_lines)
            for line in frame.splitlines():
                event = json.loads(line)
                self.types.append(event["type"])
                if event["type"] == "approvals":
                    asks = [(one["chat_id"], one["tool_call_id"]) for one in event["approvals"]]
                    self.asks = asks


@pytest.fixture
async def stage():
    stage = Family()
    await stage.create()
    return stage


async def settled():
    await trio.sleep(1)
    await trio.testing.wait_all_tasks_blocked()


async def test_asks_are_told_with_the_status_and_taken_back_when_they_are_decided(
    autojump_clock, stage
):
    root = str(stage.chat)
    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:
        with feeds.subscribe(stage.chat, Position()) as subscription:
            watcher = Watcher(subscription)
            nursery.start_soon(watcher.live)
            await settled()
            await stage.apply(*asking("a", "b"))
            await settled()
            asked = watcher.asks
            await stage.apply(decide("a"))
            await settled()
            fewer = watcher.asks
            await stage.apply(decide("b"))
            await settled()
            nursery.cancel_scope.cancel()

    both = [(root, "a"), (root, "b")]
    assert [both, both[1:], []] == [asked, fewer, watcher.asks]
    assert "action_required" not in watcher.types


async def test_who_comes_later_is_told_what_is_asked_now(autojump_clock, stage):
    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:
        await stage.apply(*asking("a"))
        with feeds.subscribe(stage.chat, Position()) as subscription:
            watcher = Watcher(subscription)
            nursery.start_soon(watcher.live)
            await settled()
            nursery.cancel_scope.cancel()

    assert [(str(stage.chat), "a")] == watcher.asks
    assert 1 == watcher.types.count("approvals")


async def test_what_an_agent_asks_is_told_to_those_who_watch_its_root(autojump_clock, stage):
    child = str(stage.child)
    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:
        with feeds.subscribe(stage.chat, Position()) as subscription:
            watcher = Watcher(subscription)
            nursery.start_soon(watcher.live)
            await settled()
            await stage.child_does(*asking("x"))
            await settled()
            asked = watcher.asks
            await stage.child_does(decide("x", Verdict.DENY))
            await settled()
            nursery.cancel_scope.cancel()

    assert [[(child, "x")], []] == [asked, watcher.asks]


async def test_the_asks_of_a_root_are_not_its_agents(autojump_clock, stage):
    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:
        with feeds.subscribe(stage.child, Position()) as subscription:
            watcher = Watcher(subscription)
            nursery.start_soon(watcher.live)
            await settled()
            await stage.apply(*asking("a"))
            await settled()
            nursery.cancel_scope.cancel()

    assert [] == watcher.asks


async def test_asks_that_nobody_told_of_are_found_when_a_loss_is_told(autojump_clock, stage):
    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:
        with feeds.subscribe(stage.chat, Position()) as subscription:
            watcher = Watcher(subscription)
            nursery.start_soon(watcher.live)
            await settled()
            stage.deaf = True
            await stage.child_does(*asking("x"))
            await settled()
            unheard = watcher.asks
            stage.bus.hear(HintsLost())
            await settled()
            found = watcher.asks
            await stage.child_does(decide("x"))
            stage.bus.hear(HintsLost())
            await settled()
            nursery.cancel_scope.cancel()

    child = str(stage.child)
    assert [[], [(child, "x")], []] == [unheard, found, watcher.asks]


async def test_as_long_as_nothing_is_asked_nothing_is_read(autojump_clock, stage):
    async with feeds_of(stage) as feeds, trio.open_nursery() as nursery:
        with feeds.subscribe(stage.chat, Position()) as subscription:
            nursery.start_soon(Watcher(subscription).live)
            await settled()
            before = len(stage.reading.asked)
            await stage.apply(step(assistant("hi")))
            await stage.child_does(step(assistant("hi")))
            await settled()
            nursery.cancel_scope.cancel()

    assert before == len(stage.reading.asked)
