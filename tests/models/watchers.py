"""A chat and its watchers, with everything between them going wrong: the world of test_watchers.

What is committed is told as a record (by this process) or as a hint (by any); both lie about until
somebody delivers them: in any order, twice, or never. Reads see what is stored at one moment, and
come back at another. Pieces of attempts are said as they are. Watchers come with nothing, or with
what one before them had, and read when they like.
"""

import json
from dataclasses import dataclass, field, replace
from functools import partial

import pytest
import trio

from actors.law import requests as ask
from actors.law.chat import Role
from actors.law.closing import unanswered_dynamic_calls
from actors.law.ids import EpisodeKey
from actors.law.parts.message import TextPart
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, OpenApprovalsChanged
from actors.law.store.ports import Applied
from actors.streams.feeds.chat_feed import ChatFeed, FeedContext
from actors.streams.feeds.diff import ChatSnapshot, Position, is_shown, versions_of
from actors.streams.feeds.events import (
    ActionRequired,
    ApprovalsChanged,
    ChatFailed,
    MessageChanged,
    PendingApprovals,
    QueueChanged,
)
from actors.streams.feeds.log import FeedEnd
from actors.streams.feeds.subscription import ChatSubscription
from actors.streams.previews import Previews
from adapters.chats.streams.events import encode_event
from adapters.chats.streams.events import encode_piece as piece_encoded
from tests.adapters.chats.streams.clients import State
from tests.fakes.store import MemoryStore
from tests.models.requests import FILES, HOLDERS, new_chat, pick, request_for

TRAIL_MAX = 16  # as the database keeps it


class Store:
    """Fulfils `Reading`; each read stands at two gates, before it looks and before it answers."""

    def __init__(self, memory, chat):
        self.memory, self.chat = memory, chat
        self.trail = []  # every change of status, with its snapshot
        self.gates = []
        self.gated = False

    @property
    def kept(self):
        return self.memory.chats[self.chat]

    def note(self, before):
        after = self.kept.chat
        if after.status is not before:
            self.trail.append((after.snapshot_version, after.status))

    async def snapshot(self, chat, have):
        await self._gate()
        found = self._look(have)
        await self._gate()
        return found

    def _look(self, have):
        kept = self.kept
        gone_at = max((m.revision for m in kept.messages if m.deleted), default=0)
        messages = [
            m
            for m in kept.history
            if gone_at > have.history_version
            or (m.id > have.message_id and m.revision > have.history_version)
        ]
        stored = self.memory._locked(self.chat)
        calls = unanswered_dynamic_calls(stored)
        is_asked = kept.chat.status is Status.REQUIRES_ACTION
        trail = tuple(self.trail[-TRAIL_MAX:])
        if not is_asked:
            return ChatSnapshot(kept.chat, tuple(messages), gone_at, kept.queue, trail, ())
        asks = kept.chat.open_approvals
        asking = (PendingApprovals(self.chat, "", asks),) if asks else ()
        return ChatSnapshot(kept.chat, tuple(messages), gone_at, kept.queue, trail, calls, asking)

    async def newer_snapshots(self, known):
        raise AssertionError("the world asks for itself")

    async def _gate(self):
        await trio.lowlevel.checkpoint()
        if self.gated:
            gate = trio.Event()
            self.gates.append(gate)
            await gate.wait()

    def open_gate(self, index=0):
        if self.gates:
            self.gates.pop(index % len(self.gates)).set()


def as_array(events):
    return b"[" + b",".join(events) + b"]"


@dataclass
class Client:
    """One watcher, by the rules of the protocol."""

    subscription: ChatSubscription
    state: State = field(default_factory=State)
    reading: bool = True
    statuses_before: int = 0  # told to the one whose state he took over
    more: trio.Event = field(default_factory=trio.Event)

    async def live(self):
        while True:
            while not self.reading:
                await self.more.wait()
            frame = await self.subscription.next(as_array)
            assert not isinstance(frame, FeedEnd), f"it ended: {frame}"
            for event in json.loads(frame):
                self.state.hear(event)

    def pause(self):
        self.reading, self.more = False, trio.Event()

    def go_on(self):
        self.reading = True
        self.more.set()


class Stage:
    """What may happen, each with `draw` for its choices."""

    def __init__(self, nursery):
        self.nursery = nursery
        self.told = []
        self.memory = MemoryStore(tell=self.told.append)
        self.memory.files = set(FILES)
        self.records, self.hints = [], []  # on their way
        self.lost = False  # a hint that will never come
        self.clients = []
        self.episode = None

    async def begin(self, draw):
        new = new_chat(draw)
        self.id = new.chat.id
        self.store = Store(self.memory, self.id)
        self.previews = Previews(piece_encoded)
        world = FeedContext(self.store, encode_event, self.previews, self._start, self._broken)
        self.feed = ChatFeed(self.id, world)
        self.following = self.previews.follow(self.feed.note_attempt, fail=self._failed)
        self.following.__enter__()
        await self.memory.create(new, [ask.Acquire(HOLDERS[0])])
        self.told.clear()
        self.first_status = self.chat.status

    def _start(self, feed, body):
        self.nursery.start_soon(body)

    def _broken(self, feed, error):
        pytest.fail(f"a feed is broken: {error!r}")

    def _failed(self, error):
        pytest.fail(f"a feed did not take in that an attempt began: {error!r}")

    @property
    def chat(self):
        return self.memory.chats[self.id].chat

    # what happens

    async def somebody_commits(self, draw):
        kept, before = self.memory.chats[self.id], self.chat.status
        stored = self.memory._locked(self.id)
        ids = [message.id for message in kept.messages[-6:]]
        request = request_for(draw, stored, ids, sane=True)
        made = await self.memory.apply(self.id, [request])
        if not isinstance(made, Applied):
            return
        self.store.note(before)
        self._told(made, draw)

    def _told(self, made, draw):
        if pick(draw, (True, True, False)):  # here
            self.records.append(made)
        self.hints += [
            hint for hint in self.told if isinstance(hint, ChatMoved | OpenApprovalsChanged)
        ]
        self.told.clear()
        if pick(draw, (True, True, True, False)):  # and it is heard of in order, as a rule
            self.deliver_all()

    def deliver_all(self):
        for record in self.records:
            self.feed.note_commit(record)
        for hint in self.hints:
            self._deliver(hint)
        self.records.clear()
        self.hints.clear()

    async def a_record_comes(self, draw):
        if self.records:
            self.feed.note_commit(self.records.pop(draw_index(draw, self.records)))

    async def a_hint_comes(self, draw):
        if self.hints:
            index = draw_index(draw, self.hints)
            is_doubled = pick(draw, (False, False, True))
            self._deliver(self.hints[index] if is_doubled else self.hints.pop(index))

    def _deliver(self, hint):
        if isinstance(hint, ChatMoved):
            self.feed.note_hint(hint)
        else:
            self.feed.note_approvals()

    async def news_is_lost(self, draw):
        lot = pick(draw, (self.records, self.hints))
        if lot:
            lot.pop(draw_index(draw, lot))
            self.lost |= lot is self.hints

    async def an_attempt_begins(self, draw):
        """As a rule it is counted before, and that is heard of."""
        self._end_attempt()
        if self.chat.status is Status.RUNNING and pick(draw, (True, True, False)):
            made = await self.memory.apply(self.id, [ask.RecordGenerationAttempt()])
            self._told(made, draw)
        chat = self.chat
        key = EpisodeKey(self.id, chat.history_version, chat.generation_attempt)
        if chat.generation_attempt and self.previews.find(key) is None:
            self.episode = self.previews.begin(key)

    async def something_is_said(self, draw):
        if self.episode is not None:
            self.episode.add(Role.ASSISTANT, TextPart(pick(draw, ("a", "b", "c"))))

    async def an_attempt_ends(self, draw):
        self._end_attempt()

    def _end_attempt(self):
        if self.episode is not None:
            self.previews.end(self.episode)
            self.episode = None

    async def reads_take_their_time(self, draw):
        self.store.gated = not self.store.gated
        while not self.store.gated and self.store.gates:
            self.store.open_gate()

    async def a_read_goes_on(self, draw):
        self.store.open_gate(pick(draw, (0, 1)))

    async def time_passes(self, draw):
        await trio.sleep(pick(draw, (0, 0.05)))

    async def a_watcher_comes(self, draw):
        client = Client(ChatSubscription(self.feed, Position()))
        self.clients.append(client)
        self.nursery.start_soon(client.live)

    async def a_watcher_comes_back(self, draw):
        if not self.clients:
            return
        before = pick(draw, self.clients).state
        state = State(
            messages=dict(before.messages), queue=list(before.queue), parts=list(before.parts)
        )
        have = Position(message_id=max(before.messages, default=0))
        if state.parts:
            part = state.parts[-1]
            place = part["history_version"], part["generation_attempt"], part["seq"]
            have = replace(have, history_version=place[0], attempt=place[1], seq=place[2])
        client = Client(ChatSubscription(self.feed, have), state)
        self.clients.append(client)
        self.nursery.start_soon(client.live)

    async def a_watcher_is_busy(self, draw):
        if self.clients:
            client = pick(draw, self.clients)
            client.pause() if client.reading else client.go_on()

    async def everybody_does_what_he_can(self, draw):
        await trio.testing.wait_all_tasks_blocked()

    # the end

    async def settle(self):
        """Everything that was delayed comes through; the poll finds what was lost."""
        self.store.gated = False
        while self.store.gates:
            self.store.open_gate()
        for client in self.clients:
            client.go_on()
        self.deliver_all()
        if self.lost:
            self.feed.note_version(self.chat.snapshot_version)
            self.feed.note_approvals()
        await trio.sleep(1)
        await trio.testing.wait_all_tasks_blocked()

    def check(self):
        """Every watcher has what is stored, and was told every status since he came."""
        truth = Truth(self)
        for client in self.clients:
            state = client.state
            assert truth.messages == state.messages
            assert truth.queue == state.queue
            assert truth.status == state.status
            assert truth.preview == [part["part"]["text"] for part in state.parts]
            told = state.statuses
            assert truth.statuses[len(truth.statuses) - len(told) :] == told
            if truth.error is not None:
                assert truth.error == state.error
            assert truth.actions == (state.actions or [])
            assert truth.asks == state.asks


class Truth:
    """What is stored, as clients see it."""

    def __init__(self, stage):
        kept, chat = stage.memory.chats[stage.id], stage.chat
        event = partial(_event, stage.id)
        shown = [message for message in kept.history if is_shown(message)]
        self.messages = {m.id: event(MessageChanged(m))["message"] for m in shown}
        self.queue = event(QueueChanged(kept.queue)).get("queued_messages", [])
        self.status = chat.status.value
        self.statuses = [stage.first_status.value, *(s.value for _, s in stage.store.trail)]
        self.error, self.actions, self.asks = None, [], []
        if chat.status is Status.ERROR and chat.last_error is not None:
            self.error = event(ChatFailed(chat.last_error))["error"]
        if chat.status is Status.REQUIRES_ACTION:
            calls = stage.store._look(Position()).calls
            self.actions = event(ActionRequired(calls))["action_required"]["tool_calls"]
            asks = ApprovalsChanged((PendingApprovals(stage.id, "", chat.open_approvals),))
            self.asks = event(asks)["approvals"]
        heads = versions_of(chat)
        key = EpisodeKey(stage.id, heads.history_version, heads.generation_attempt)
        episode = stage.previews.find(key) if heads.generation_attempt else None
        pieces = [] if episode is None else map(json.loads, episode.encoded)
        self.preview = [piece["message_part"]["part"]["text"] for piece in pieces]


def _event(chat, event):
    return json.loads(encode_event(chat, event))


def draw_index(draw, lot):
    return pick(draw, range(len(lot)))
