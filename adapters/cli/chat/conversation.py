"""One message and its answer, for scripts, pipes and `-m`; or what a chat is doing, shown.

Ctrl-C interrupts the turn that runs. The daemon keeps the chat, which can be gone on with by its
id.
"""

import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import trio
from rich.console import Console

from adapters.cli.chat.approvals import ApprovalPrompter, Approve
from adapters.cli.chat.screen import ChatScreen, message_view, open_screen
from adapters.cli.command_line import printable
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient, ChatEvents
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import Chat

TICK_SECONDS = 0.1
HISTORY_SHOWN = 20  # messages of a chat that is gone on with; older ones are not shown
INTERRUPTED = 130  # the exit code that a shell has for ctrl-C


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The chat to go on with, or the properties of a new one."""

    chat: UUID | None = None
    message: str = ""  # sent at once; the command then ends with the turn
    model: UUID | None = None
    effort: str = ""
    approve: Approve | None = None  # None: the chat keeps its own, or the deployment's


async def converse(client: AsyncClient, request: ChatRequest, console: Console) -> int:
    """Send the message, or show the chat that was named, and return the exit code.

    0: the last turn went well, 1: it did not, 130: the turn of a message on the command line was
    interrupted here, so that a script does not take the part of an answer for a whole one.
    """
    conversation = TerminalChat(client, request, console)
    if request.chat is not None:
        await conversation.resume(request.chat)
    if request.message:
        await conversation.send(request.message)
        if conversation.was_interrupted:
            return INTERRUPTED
    return 0 if conversation.went_well else 1


class TerminalChat:
    """One chat, and the terminal or pipe that its answer is shown on."""

    def __init__(self, client: AsyncClient, request: ChatRequest, console: Console) -> None:
        self._client = client
        self._request = request
        self._console = console
        self._chat: Chat | None = None
        self._last_id = 0  # of the messages that have been shown
        self._history_version = 0  # as of which they were shown
        self._approvals = ApprovalPrompter(client, console, request.approve)
        self._has_left = False
        self.went_well = True
        self.was_interrupted = False

    async def resume(self, chat: UUID) -> None:
        """Show the last messages of the chat; if it is at work, follow it."""
        self._chat = await self._client.request(api.get_chat(chat))
        if self._request.approve is not None:
            policy = self._request.approve.value
            await self._client.request(api.update_chat(chat, approval_policy=policy))
        if self._request.message:
            latest = await self._client.request(api.messages(chat, limit=1))
            self._last_id = max((message.id for message in latest.messages), default=0)
            self._history_version = latest.history_version or 0
            return
        page = await self._client.request(api.messages(chat, limit=HISTORY_SHOWN))
        self._history_version = page.history_version or 0
        self._console.rule(printable(self._chat.title), style="dim")
        for message in reversed(page.messages):
            self._last_id = max(self._last_id, message.id)
            if (view := message_view(message, width=self._console.width)) is not None:
                self._console.print(view)
        if self._chat.status in ("running", "interrupting", "requires_action"):
            await self._follow(self._chat)

    async def send(self, text: str) -> None:
        """Send a message, in a new chat if there is none yet, and follow the turn."""
        more = {"model_config_id": self._request.model, "reasoning_effort": self._request.effort}
        chosen: dict[str, Any] = {name: str(value) for name, value in more.items() if value}
        if self._chat is None:
            if self._request.approve is not None:
                chosen["approval_policy"] = self._request.approve.value
            self._chat = await self._client.create(text, **chosen)
            await self._follow(self._chat)
        else:
            sent = await self._client.request(api.send(self._chat.id, text, **chosen))
            await self._follow(self._chat, since=sent.message.id if sent.message else 0)

    async def _follow(self, chat: Chat, *, since: int = 0) -> None:
        """Show the turn until the chat rests; ctrl-C interrupts it.

        `since` is the message that was sent: a status from before it does not count.
        """
        transcript = Transcript()
        known = {"after_id": self._last_id, "history_version": self._history_version}
        async with self._client.follow(chat.id, **known) as events:
            while not self._has_left:
                with open_screen(self._console) as screen:
                    with trio.open_signal_receiver(signal.SIGINT) as signals, ungrouped():
                        async with trio.open_nursery() as nursery:
                            nursery.start_soon(self._interrupt, chat.id, signals)
                            nursery.start_soon(tick, screen, transcript)
                            await self._show(events, transcript, screen, since=since)
                            nursery.cancel_scope.cancel()
                    undecided = self._approvals.undecided(transcript)
                    if not undecided:
                        screen.end(transcript)
                        break
                self._has_left = not await self._approvals.decide(undecided)
        self.went_well = transcript.error is None and transcript.status != "requires_action"

    async def _show(
        self, events: ChatEvents, transcript: Transcript, screen: ChatScreen, *, since: int
    ) -> None:
        """Show events until the chat rests, or the user is to decide whether a call may run."""
        async for event in events:
            transcript.apply(event)
            self._last_id = max(self._last_id, *transcript.messages, 0)
            screen.show(event, transcript)
            if self._approvals.undecided(transcript) or self._rests(transcript, since):
                return

    async def _interrupt(self, chat: UUID, signals: AsyncIterator[int]) -> None:
        async for _ in signals:
            self.was_interrupted = True
            try:
                await self._client.request(api.interrupt(chat))
            except RequestRefused as refused:
                if refused.status != 409:  # it rests already
                    raise

    def _rests(self, transcript: Transcript, since: int) -> bool:
        """Tell whether the chat rests. Calls that were decided here it no longer waits for."""
        waits_for_us = transcript.status == "requires_action" and not transcript.pending
        return transcript.rests_since(since) and not (waits_for_us and self._approvals.can_decide)


async def tick(screen: ChatScreen, transcript: Transcript) -> None:
    """Let the screen show that time passes."""
    while True:
        screen.tick(transcript)
        await trio.sleep(TICK_SECONDS)


@contextmanager
def ungrouped() -> Iterator[None]:
    """Raise a refusal, or the absence of the daemon, as itself and not in a group of one."""
    alone: Exception | None = None
    try:
        yield
    except ExceptionGroup as group:
        if group.split((RequestRefused, ServerUnreachable))[1] is not None:
            raise
        alone = group.exceptions[0]
    if alone is not None:
        raise alone
