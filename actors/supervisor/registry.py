"""The chat actors that live in this process: started, found, told of news, stopped.

An actor is known by its runner, for a chat may have two for a moment: one that is on its way out,
and the newest, which is the one to be told of news.
"""

from collections import OrderedDict
from collections.abc import Callable, KeysView
from dataclasses import dataclass
from functools import partial

from actors.chat import api as chat_api
from actors.chat.api import ChatMail
from actors.chat.turn.work import Held
from actors.law.chat import Message, StoredChat
from actors.law.ids import ChatId, Holder, RunnerId, chat_name
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from actors.supervisor.deps import SupervisorDeps
from runtime.children import Child, Children, RunningChild
from runtime.ends import Cause, End
from runtime.mailbox import Address

MOVED_MAX = 4_096  # chats on their way to us whose news is kept; the oldest is forgotten


@dataclass(eq=False, slots=True)
class RunningChat:
    """A chat actor that lives here."""

    chat: ChatId
    holder: Holder
    address: Address[ChatMail]
    running: RunningChild
    seen: int  # the newest snapshot that it was given or told of

    def hear(self, moved: ChatMoved) -> bool:
        """Whether it stands so, as far as is known. If that is no news it may have a place by now
        among those that wait."""
        if moved.snapshot_version <= self.seen:
            return moved.snapshot_version == self.seen
        self.seen = moved.snapshot_version
        own = moved.by_holder and moved.runner_id in (self.holder.runner, None)
        if not own:
            chat_api.notify_changed(self.address)
        return True

    def look_again(self) -> None:
        chat_api.notify_changed(self.address)


class ChatRegistry:
    def __init__(
        self, children: Children, deps: SupervisorDeps, *, ended: Callable[[RunnerId, End], None]
    ) -> None:
        self._children = children
        self._deps = deps
        self._tell_end = ended
        self._members: dict[RunnerId, RunningChat] = {}
        self._newest: dict[ChatId, RunningChat] = {}
        self._moved: OrderedDict[ChatId, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._members)

    @property
    def runners(self) -> KeysView[RunnerId]:
        return self._members.keys()

    @property
    def is_full(self) -> bool:
        return len(self._children) >= self._children.capacity

    def find(self, runner: RunnerId | None) -> RunningChat | None:
        return None if runner is None else self._members.get(runner)

    def start(
        self, stored: StoredChat, holder: Holder, history: tuple[Message, ...] | None
    ) -> RunningChat:
        """Start an actor for a chat that has just been acquired, with all that is known of it."""
        chat = stored.chat
        # Who acquires a chat counts its attempt, unless a pause comes first.
        begun = chat.status is Status.RUNNING and chat.retry_state is None
        life = self._deps.live(holder, Held(stored, history, attempt_begun=begun))
        running = self._children.start(
            Child(
                name=f"{chat_name(chat.id)}@{holder.runner}",
                body=life.run,
                mailbox=life.mailbox,
                when_ended=partial(self._ended, holder.runner),
                tell_to_stop=partial(chat_api.drain, life.address),
                grace_seconds=self._deps.limits.drain_seconds,
            )
        )
        member = RunningChat(chat.id, holder, life.address, running, chat.snapshot_version)
        self._members[holder.runner] = self._newest[chat.id] = member
        if self._moved.pop(chat.id, 0) > chat.snapshot_version:
            member.look_again()
        return member

    def dismiss(self, runner: RunnerId) -> RunningChat:
        """Its end has been told."""
        member = self._members.pop(runner)
        if self._newest.get(member.chat) is member:
            del self._newest[member.chat]
        return member

    def stop(self, cause: Cause) -> None:
        """All of them, at once."""
        for member in self._members.values():
            member.running.stop(cause, at_once=True)

    def hear(self, moved: ChatMoved, *, expecting: bool) -> RunningChat | None:
        """News of any chat. `expecting`: chats are on their way to us, and it may be one of them;
        then whoever is started with an older snapshot will have to look. Who stands so now."""
        member = self._newest.get(moved.chat)
        if member is not None:
            return member if member.hear(moved) else None
        if expecting:
            self._moved[moved.chat] = moved.snapshot_version
            self._moved.move_to_end(moved.chat)
            if len(self._moved) > MOVED_MAX:
                self._moved.popitem(last=False)
        elif self._moved:
            self._moved.clear()
        return None

    def _ended(self, runner: RunnerId, _name: str, end: End) -> None:
        self._tell_end(runner, end)
