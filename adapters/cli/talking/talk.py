"""The conversation: what the user types is asked, what comes of it is shown, until he leaves.

Ctrl-C while the model works interrupts its turn, and the chat goes on; where one types it leaves,
as the end of the input does. The chat is kept by the daemon: it is taken up again by its id.
"""

import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import trio
from rich.console import Console

from adapters.cli.tables import plain
from adapters.cli.talking import drawing, screen
from adapters.cli.talking.consenting import Approve, Consenting, typed
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient, ChatEvents
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import Chat

TICK_SECONDS = 0.1
HISTORY_SHOWN = 20  # messages of a chat that is taken up again; the others stay with the daemon
LEAVING = frozenset({"/quit", "/exit"})
INTERRUPTED = 130  # as a shell has it
COMMANDS = "/edit TEXT says your last message otherwise · /compact · /cost · /title TEXT · /quit"


@dataclass(frozen=True, slots=True)
class Wanted:
    """How the chat is to be: which one, or what a new one is born with."""

    chat: UUID | None = None
    message: str = ""  # said at once; then the command ends with the turn
    model: UUID | None = None
    effort: str = ""
    approve: Approve | None = None  # None: as the chat has it, or the deployment


async def converse(client: AsyncClient, wanted: Wanted, console: Console) -> int:
    """The exit code: 0 the last turn went well, 1 it did not, 130 the one that was asked for on the
    command line was interrupted here: what there is of its answer is none to go on with."""
    talking = Talking(client, wanted, console)
    if wanted.chat is not None:
        await talking.take_up(wanted.chat)
    if wanted.message:
        await talking.say(wanted.message)
        if talking.was_interrupted:
            return INTERRUPTED
    else:
        await talking.converse()
    return 0 if talking.went_well else 1


class Talking:
    """One chat and the terminal that it is shown on."""

    def __init__(self, client: AsyncClient, wanted: Wanted, console: Console) -> None:
        self._client = client
        self._wanted = wanted
        self._console = console
        self._chat: Chat | None = None
        self._last_id = 0  # of the messages that have been shown
        self._consenting = Consenting(client, console, wanted.approve)
        self._has_left = False
        self.went_well = True
        self.was_interrupted = False

    async def take_up(self, chat: UUID) -> None:
        """Show where the chat stands; if it is at work, follow it."""
        self._chat = await self._client.request(api.get_chat(chat))
        if self._wanted.approve is not None:
            policy = self._wanted.approve.value
            await self._client.request(api.update_chat(chat, approval_policy=policy))
        if self._wanted.message:
            latest = await self._client.request(api.messages(chat, limit=1))
            self._last_id = max((message.id for message in latest.messages), default=0)
            return
        page = await self._client.request(api.messages(chat, limit=HISTORY_SHOWN))
        self._console.rule(plain(self._chat.title), style="dim")
        for message in reversed(page.messages):
            self._last_id = max(self._last_id, message.id)
            if (seen := drawing.said(message, width=self._console.width)) is not None:
                self._console.print(seen)
        if self._chat.status in ("running", "interrupting", "requires_action"):
            await self._follow(self._chat)

    async def converse(self) -> None:
        if self._console.is_terminal:
            self._console.print(f"ctrl-C stops an answer, ctrl-D leaves · {COMMANDS}", style="dim")
        while not self._has_left:
            line = await typed()
            if line is None or line in LEAVING:
                break
            try:
                await self._do(line)
            except RequestRefused as refused:
                self.went_well = False
                self._console.print(f"✗ {refused}", style="red")
        if self._chat is not None and self._console.is_terminal:
            self._console.print(
                f"\nto go on: promptcorner chat {self._chat.id}", style="dim", highlight=False
            )

    async def _do(self, line: str) -> None:
        command, _, rest = line.partition(" ")
        match command:
            case "":
                return
            case "/title" if self._chat is not None and rest.strip():
                await self._client.request(api.update_chat(self._chat.id, title=rest.strip()))
            case "/edit" if self._chat is not None and rest.strip():
                await self._edit(self._chat, rest.strip())
            case "/compact" if self._chat is not None:
                await self._client.request(api.compact(self._chat.id))
                await self._follow(self._chat)
            case "/cost" if self._chat is not None:
                cost = await self._client.request(api.cost(self._chat.id))
                self._console.print(drawing.cost(cost), style="dim", highlight=False)
            case "/title" | "/edit" | "/compact" | "/cost" if self._chat is None:
                self._console.print("there is no chat yet: say something first", style="dim")
            case "/help" | "/title" | "/edit" | "/compact" | "/cost":
                self._console.print(COMMANDS, style="dim")
            case _:
                await self.say(line)

    async def say(self, text: str) -> None:
        more = {"model_config_id": self._wanted.model, "reasoning_effort": self._wanted.effort}
        chosen: dict[str, Any] = {name: str(value) for name, value in more.items() if value}
        if self._chat is None:
            if self._wanted.approve is not None:
                chosen["approval_policy"] = self._wanted.approve.value
            self._chat = await self._client.create(text, **chosen)
            await self._follow(self._chat)
        else:
            sent = await self._client.request(api.send(self._chat.id, text, **chosen))
            await self._follow(self._chat, since=sent.message.id if sent.message else 0)

    async def _edit(self, chat: Chat, text: str) -> None:
        latest = await self._client.request(api.prompts(chat.id, 1))
        if not latest.prompts:
            self._console.print("there is nothing yet that could be said otherwise", style="dim")
            return
        edited = await self._client.request(api.edit(chat.id, latest.prompts[0].id, text))
        self._last_id = edited.message.id - 1
        await self._follow(chat, since=edited.message.id)

    async def _follow(self, chat: Chat, *, since: int = 0) -> None:
        """Show what comes of it, until the chat rests; ctrl-C interrupts it. `since`: the message
        that was sent, for a status from before it means nothing."""
        seen = Transcript()
        async with self._client.follow(chat.id, after_id=self._last_id) as events:
            while not self._has_left:
                with screen.opened(self._console) as shown:
                    with trio.open_signal_receiver(signal.SIGINT) as signals, said_alone():
                        async with trio.open_nursery() as nursery:
                            nursery.start_soon(self._interrupt, chat.id, signals)
                            nursery.start_soon(tick, shown, seen)
                            await self._show(events, seen, shown, since=since)
                            nursery.cancel_scope.cancel()
                    undecided = self._consenting.undecided(seen)
                    if not undecided:
                        shown.end(seen)
                        break
                self._has_left = not await self._consenting.decide(undecided)
        self.went_well = seen.error is None and seen.status != "requires_action"

    async def _show(
        self, events: ChatEvents, seen: Transcript, shown: screen.Screen, *, since: int
    ) -> None:
        """Until it rests, or somebody here is asked whether a call may run."""
        async for event in events:
            seen.apply(event)
            self._last_id = max(self._last_id, *seen.messages, 0)
            shown.show(event, seen)
            if self._consenting.undecided(seen) or self._rests(seen, since):
                return

    async def _interrupt(self, chat: UUID, signals: AsyncIterator[int]) -> None:
        async for _ in signals:
            self.was_interrupted = True
            try:
                await self._client.request(api.interrupt(chat))
            except RequestRefused as refused:
                if refused.status != 409:  # it rests already
                    raise

    def _rests(self, seen: Transcript, since: int) -> bool:
        """What is decided here it waits for no more, whatever it was told last."""
        waits_for_us = seen.status == "requires_action" and not seen.pending
        return seen.rests_since(since) and not (waits_for_us and self._consenting.is_able)


async def tick(shown: screen.Screen, seen: Transcript) -> None:
    while True:
        shown.tick(seen)
        await trio.sleep(TICK_SECONDS)


@contextmanager
def said_alone() -> Iterator[None]:
    """What the daemon, or its absence, has to say ends a nursery, but is not told in a group."""
    alone: Exception | None = None
    try:
        yield
    except ExceptionGroup as group:
        if group.split((RequestRefused, ServerUnreachable))[1] is not None:
            raise
        alone = group.exceptions[0]
    if alone is not None:
        raise alone
