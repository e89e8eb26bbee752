"""`promptcorner chat` at a terminal until the user leaves: window or plain lines; asyncio."""

import asyncio
import contextlib
import gc
import os
import signal
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass

from adapters.cli.chat.conversation import ChatRequest
from adapters.cli.chat.place.bindings import bind
from adapters.cli.chat.place.commands import DeskCommands
from adapters.cli.chat.place.completing import ChatCompleter
from adapters.cli.chat.place.desk import GO_ON, Desk
from adapters.cli.chat.place.devices import is_dumb
from adapters.cli.chat.place.live_chat import LiveChat
from adapters.cli.chat.place.plain import PlainFront
from adapters.cli.chat.place.window import ChatWindow
from adapters.cli.daemon_place import DaemonPlace
from promptcorner_client.async_client import AsyncClient

CLOSE_SECONDS = 2.0  # for what is still under way when the user leaves


@dataclass(frozen=True, slots=True)
class TerminalOptions:
    """The user's choices about the terminal."""

    theme: str = "auto"
    bell: str = "notify"
    is_vi: bool = False
    is_plain: bool = False


def talk_at_terminal(place: DaemonPlace, request: ChatRequest, options: TerminalOptions) -> int:
    """Hold a conversation at the terminal and return the exit code."""
    with terminal_restored():
        return asyncio.run(_talk(place, request, options))


async def _talk(place: DaemonPlace, request: ChatRequest, options: TerminalOptions) -> int:
    is_plain = options.is_plain or is_dumb(os.environ)
    async with place.client() as client:
        live = await (_plain if is_plain else _window)(client, request, options)
    if live.chat is not None:
        state = "goes on by itself" if live.works else "is kept"
        sys.stdout.write(f"\nthe chat {state}; to go on: promptcorner chat {live.chat.id}\n")
    return 0 if live.went_well and not live.is_asked_for_consent else 1


async def _window(client: AsyncClient, request: ChatRequest, options: TerminalOptions) -> LiveChat:
    window = ChatWindow(theme=options.theme, bell=options.bell, is_vi=options.is_vi)
    live = LiveChat(client, request, window)
    desk = Desk(live, window)
    commands = DeskCommands(desk)
    desk.commands = commands.run
    window.buffer.completer = ChatCompleter(commands.values)
    await live.begin()
    window.desk = desk
    bind(window, commands)
    if request.chat is None:
        live.note(f"{GO_ON}")
    live.spawn(commands.learn_chats())
    # A walk of the collector over all that was imported takes 40 ms, in which no key is answered.
    gc.freeze()

    def begun() -> None:
        window.app.create_background_task(window.draw_news())

    try:
        await window.app.run_async(pre_run=begun, handle_sigint=False)
        window.draw_last()
    except EOFError:  # the terminal is gone
        pass
    finally:
        await _close(live)
    return live


async def _plain(client: AsyncClient, request: ChatRequest, options: TerminalOptions) -> LiveChat:
    front = PlainFront(bell=options.bell)
    live = LiveChat(client, request, front)
    desk = Desk(live, front)
    desk.commands = DeskCommands(desk).run
    await live.begin()
    front.desk = desk
    live.note(GO_ON)
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, front.interrupt)
    try:
        await front.run()
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        await _close(live)
    return live


async def _close(live: LiveChat) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(live.aclose(), CLOSE_SECONDS)


@contextlib.contextmanager
def terminal_restored() -> Iterator[None]:
    """Leave the terminal as it was, however the conversation ends."""
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
