"""The chat actors that run in this process: they are started, found, told of news, stopped.

An actor is known by its runner, because a chat may have two actors for a moment: one that is on its
way out, and the newest, which is told of news.
"""

from collections import OrderedDict
from collections.abc import Callable, KeysView
from dataclasses import dataclass, replace
from functools import partial

from actors.chat import api as chat_api
from actors.chat.api import ChatMail
from actors.chat.turn.work import HeldChat
from actors.law.chat import StoredChat
from actors.law.ids import ChatId, Holder, RunnerId, chat_name
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from actors.supervisor.api import HandOver
from actors.supervisor.deps import SupervisorDeps
from runtime.children import Child, Children, RunningChild
from runtime.ends import Cause, End
from runtime.mailbox import Address

MOVED_MAX = 4_096  # chats about to be started here whose news is kept; the oldest is forgotten


@dataclass(eq=False, slots=True)
class RunningChat:
    """A chat actor that runs here."""

    chat: ChatId
    holder: Holder
    address: Address[ChatMail]
    running: RunningChild
    seen: int  # the newest snapshot that it was given or told of

    def note_moved(self, moved: ChatMoved) -> bool:
        """Let the actor look again if the news is new to it and not of its own write.

        Return whether this is the chat's newest known state. Its actor may know it already, but
        the supervisor does not: a chat that waits may free its slot by now.
        """
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
    """All chat actors of this process. `ended` is called with the runner, the name and the end of
    each."""

    def __init__(
        self,
        children: Children,
        deps: SupervisorDeps,
        *,
        ended: Callable[[RunnerId, str, End], None],
    ) -> None:
        self._children = children
        self._deps = deps
        self._ended = ended
        self._running: dict[RunnerId, RunningChat] = {}
        self._newest: dict[ChatId, RunningChat] = {}
        self._moved: OrderedDict[ChatId, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._running)

    @property
    def runners(self) -> KeysView[RunnerId]:
        return self._running.keys()

    @property
    def is_full(self) -> bool:
        return len(self._children) >= self._children.capacity

    def find(self, runner: RunnerId | None) -> RunningChat | None:
        return None if runner is None else self._running.get(runner)

    def start(self, stored: StoredChat, holder: Holder, handed: HandOver | None) -> RunningChat:
        """Start an actor for a chat that has just been acquired, with all that is known of it."""
        chat = stored.chat
        # Who acquires a chat counts its attempt, unless a pause comes first.
        begun = chat.status is Status.RUNNING and chat.retry_state is None
        held = HeldChat(stored, attempt_begun=begun)
        if handed is not None:
            held = replace(held, history=handed.history, message=handed.message)
        chat_actor = self._deps.make_chat(holder, held)
        running = self._children.start(
            Child(
                name=f"{chat_name(chat.id)}@{holder.runner}",
                body=chat_actor.run,
                mailbox=chat_actor.mailbox,
                when_ended=partial(self._ended, holder.runner),
                tell_to_stop=partial(chat_api.drain, chat_actor.address),
                grace_seconds=self._deps.limits.drain_seconds,
            )
        )
        running_chat = RunningChat(
            chat.id, holder, chat_actor.address, running, chat.snapshot_version
        )
        self._running[holder.runner] = self._newest[chat.id] = running_chat
        if self._moved.pop(chat.id, 0) > chat.snapshot_version:
            running_chat.look_again()
        return running_chat

    def dismiss(self, runner: RunnerId) -> RunningChat:
        """Forget an actor whose end has been told."""
        running_chat = self._running.pop(runner)
        if self._newest.get(running_chat.chat) is running_chat:
            del self._newest[running_chat.chat]
        return running_chat

    def stop(self, cause: Cause) -> None:
        """Stop all actors at once."""
        for running_chat in self._running.values():
            running_chat.running.stop(cause, at_once=True)

    def note_moved(self, moved: ChatMoved, *, expecting: bool) -> RunningChat | None:
        """Note news of any chat, and return its actor if this is the chat's newest known state.

        If `expecting`, chats are about to be started here and this may be one of them: its actor
        will have to look if it is started with an older snapshot.
        """
        running_chat = self._newest.get(moved.chat)
        if running_chat is not None:
            return running_chat if running_chat.note_moved(moved) else None
        if expecting:
            self._moved[moved.chat] = moved.snapshot_version
            self._moved.move_to_end(moved.chat)
            if len(self._moved) > MOVED_MAX:
                self._moved.popitem(last=False)
        elif self._moved:
            self._moved.clear()
        return None
