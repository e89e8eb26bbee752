"""The desk: lines that are typed and keys that are pressed become requests; on asyncio."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from adapters.cli.chat import requests
from adapters.cli.chat.deciding import lists
from adapters.cli.chat.deciding.asking import (
    CARRY_OUT,
    Ask,
    ConsentAsk,
    PlanAsk,
    QuestionsAsk,
    UnknownCommandAsk,
)
from adapters.cli.chat.deciding.key_table import InterruptMeaning, meaning_of_interrupt
from adapters.cli.chat.deciding.picking import ListRow, PickList
from adapters.cli.chat.deciding.slash_commands import SlashLine, read_slash
from adapters.cli.chat.place.attaching import Attachment, CannotAttach, parts_with, read_mentions
from adapters.cli.chat.place.live_chat import ChatOutput, LiveChat
from promptcorner_client import api
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.wire import Chat

GO_ON = "ctrl-D leaves, and the chat goes on by itself · /help lists keys and commands"
Pick = tuple[str, ListRow]
"""The key that was pressed, "enter" or one of the list's own, and the row."""


class Front(ChatOutput, Protocol):
    """A window, or plain lines: where a chat is shown and the user types."""

    async def pick(self, rows: PickList) -> Pick | None:
        """Let the user choose; return None if they choose nothing."""

    async def page(self, text: str) -> None:
        """Show a long text in a pager."""

    def put(self, text: str) -> None:
        """Put a text on the line that is typed."""

    def leave(self) -> None:
        """End the command."""

    def toggle_vi(self) -> bool:
        """Type as in vi, or no longer; return whether that is so now."""


@dataclass(frozen=True, slots=True)
class Rewording:
    """A message that is being typed anew: one that waits, or an earlier one."""

    id: int
    is_queued: bool

    @property
    def label(self) -> str:
        what = "a message that waits" if self.is_queued else "an earlier message"
        return f"rewording {what} · Enter saves · Esc gives up"


class Desk:
    """The place where lines and keys become requests."""

    def __init__(self, live: LiveChat, front: Front) -> None:
        self.live = live
        self.front = front
        self.rewording: Rewording | None = None
        self.attachments: list[Attachment] = []
        self.commands: Callable[[SlashLine], Awaitable[None]] | None = None
        self._typing = asyncio.Lock()  # lines are done one after the other

    async def typed(self, line: str, *, busy: str = "", asked: Ask | None = None) -> None:
        """Do what a line says, after those before it: the first one may begin the chat that the
        second one is for. `asked`: the question that it answers, if it does."""
        async with self._typing:
            await self._done_or_put_back(line, busy=busy, asked=asked)

    async def _done_or_put_back(self, line: str, *, busy: str, asked: Ask | None) -> None:
        try:
            await self._typed(line, busy=busy, asked=asked)
        except (RequestRefused, ServerUnreachable, CannotAttach) as fault:
            self.live.note(f"✗ {fault}", "error")
            is_refused = isinstance(fault, RequestRefused) and read_slash(line) is not None
            if line and not is_refused and not isinstance(asked, ConsentAsk):
                self.front.put(line)  # nothing that was typed is lost

    async def _typed(self, line: str, *, busy: str, asked: Ask | None) -> None:
        if self.rewording is not None:
            await self._reword(self.rewording, line)
        elif isinstance(asked, QuestionsAsk | PlanAsk) and asked != self.live.asked:
            self.live.note("the question is no longer open", "warning")
            self.front.put(line)
        elif asked is not None and await self._answers(asked, line):
            return
        elif (slash := read_slash(line)) is not None:
            await self._slash(line, slash)
        elif line.strip() or self.attachments:
            await self.send(line, busy=busy)

    async def _slash(self, line: str, slash: SlashLine) -> None:
        if slash.command is None:
            self.live.question = UnknownCommandAsk(line, slash)
            self.front.changed()
        elif slash.command.needs_chat and self.live.chat is None:
            self.live.note("there is no chat yet: send a message first")
        elif self.commands is not None:
            await self.commands(slash)

    async def send(self, line: str, *, busy: str = "") -> None:
        """Send a message with the files that it names."""
        loop, chat = asyncio.get_running_loop(), self.live.chat
        named, not_attached = await loop.run_in_executor(None, read_mentions, line, Path.cwd())
        if not_attached:
            self.live.note(f"! {not_attached}", "warning")
        attachments, self.attachments = [*self.attachments, *named], []
        try:
            parts = await parts_with(self.live.client, line.strip("\n"), attachments)
            await self._send(chat, parts, busy if self.live.works else "")
        except (RequestRefused, ServerUnreachable):
            kept = [each for each in attachments if each not in named]
            self.attachments = [*kept, *self.attachments]  # others may have come meanwhile
            raise

    async def _send(self, chat: Chat | None, parts: list[dict[str, Any]], busy: str) -> None:
        """Send a message to the chat in which it was typed; another one may be open by now.

        One that interrupts goes before those that wait.
        """
        goes_first = busy == "interrupt" and bool(self.live.seen.queue)
        queued = await self.live.send(chat, parts, busy="queue" if goes_first else busy)
        if goes_first and queued and chat is not None:  # it is sent: a refusal is only told
            self.live.spawn(self._promote(chat.id, queued))

    async def _promote(self, chat: UUID, queued: int) -> None:
        await self.live.client.request(api.promote_queued(chat, queued))

    async def _reword(self, rewording: Rewording, line: str) -> None:
        chat = self.live.chat
        if chat is None or not line.strip():
            return
        self.rewording = None
        if rewording.is_queued:
            await self.live.client.request(requests.edit_queued(chat.id, rewording.id, line))
        else:
            await self.live.edit(rewording.id, line)

    async def _answers(self, asked: Ask, line: str) -> bool:
        """Take a line as an answer; return False if it is none, but a message."""
        match asked:
            case ConsentAsk():
                decision = asked.read(line)
                if decision is None:
                    return await self._no_decision(line)
                await self.live.decide(asked.approval, decision)
            case UnknownCommandAsk():
                return await self._meant(asked, line.strip().lower())
            case QuestionsAsk():
                return read_slash(line) is None and await self._fill(asked, line)
            case PlanAsk():
                if line.strip().lower() not in ("y", "yes"):
                    return False
                self.live.answer_form(None)
                await self.live.plan(is_on=False)
                await self.send(CARRY_OUT)
        return True

    async def _no_decision(self, line: str) -> bool:
        """Refuse what is no decision: a message would wait behind the question unseen."""
        if not line.strip():
            return True
        if read_slash(line) is not None:
            return False
        self.live.note(
            "that is no decision: y, a, or n with words; ctrl-C stops the turn", "warning"
        )
        self.front.put(line)
        return True

    async def _meant(self, asked: UnknownCommandAsk, answer: str) -> bool:
        self.live.question = None
        self.front.changed()
        if answer == "s":
            await self.send(asked.line)
        elif answer in asked.keys and answer != "e":
            name = asked.slash.meant[int(answer) - 1]
            await self._typed(f"/{name} {asked.slash.rest}".strip(), busy="", asked=None)
        elif answer in ("e", ""):
            self.front.put(asked.line)
        else:
            return False
        return True

    async def _fill(self, form: QuestionsAsk, line: str) -> bool:
        answered = form.answered(line)
        if answered is None:
            return True
        if not answered.is_complete:
            self.live.answer_form(answered)
            return True
        self.live.answer_form(None)
        try:
            await self.send(answered.message)
        except (RequestRefused, ServerUnreachable):
            self.live.answer_form(form)
            raise
        return True

    async def guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what a key asks for; what cannot be done is printed."""
        try:
            await work
        except CannotAttach as fault:
            self.live.note(f"✗ {fault}", "error")

    # Keys

    def interrupt(self, text: str) -> bool:
        """Do what ctrl-C means; return whether the line that is typed is dropped."""
        if self.rewording is not None:
            self.rewording = None
            return True
        is_asked = isinstance(self.live.asked, ConsentAsk)
        works = self.live.works or is_asked
        match meaning_of_interrupt(works=works, has_text=bool(text)):
            case InterruptMeaning.STOP_MODEL:
                self.live.spawn(self.live.interrupt())
            case InterruptMeaning.DROP_TEXT:
                return True
            case InterruptMeaning.SAY_HOW:
                self.live.note(GO_ON)
        return False

    async def edit_earlier(self, text: str = "") -> None:
        """Let the user choose one of their messages, and type it anew."""
        chat = self.live.chat
        if chat is None:
            self.live.note("there is no message yet that could be replaced")
            return
        found = (await self.live.client.request(api.prompts(chat.id))).prompts
        if not found:
            self.live.note("there is no message yet that could be replaced")
        elif text:
            await self.live.edit(found[0].id, text)
        elif (picked := await self.front.pick(lists.prompts_list(found))) is not None:
            id = int(picked[1].id)
            self.rewording = Rewording(id, is_queued=False)
            self.front.put(next(one.text for one in found if one.id == id))
