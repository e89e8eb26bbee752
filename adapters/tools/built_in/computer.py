"""The tool by which a model operates the desktop of its workspace: `computer`.

Providers declare it in their own words (`ComputerUse` of a prompt), so that models are not told of
it twice. Anthropic's models ask for one action a call; OpenAI's for a list of them. Either way the
result is a picture of what the screen shows afterwards.
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid5

import trio
from msgspec import Struct

from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.chat import Chat, Message
from actors.law.ids import FileId
from actors.law.parts.message import FilePart, Part
from actors.law.parts.prompt import ToolDefinition
from actors.prompts.ports import ChatFiles, Document
from actors.tools.desktop.actions import (
    CURSOR_POSITION,
    SCREENSHOT,
    WAIT,
    DesktopAction,
    pause_of,
    steps_of,
)
from actors.tools.desktop.batches import ListedAction, steps_of_list
from actors.tools.desktop.geometry import (
    FOR_OPENAI,
    NATIVE,
    ScreenSize,
    from_native,
    size_for_anthropic,
)
from actors.tools.desktop.steps import ActionRefused
from actors.tools.gating import ChatKind, kind_of
from actors.tools.workspaces import WorkspaceRefusal
from adapters.tools.dispatch import read_arguments, schema_of, tool_result
from adapters.workspaces.desktop.connection import DesktopConnection, ScreenGone, ScreenPicture
from adapters.workspaces.desktop.desktops import Desktops, OperatedDesktop
from adapters.workspaces.desktop.pictures import as_png
from runtime.clock import wall

COMPUTER = "computer"
DEADLINE_SECONDS = 150.0  # of one call; the longest pause, and a desktop that is started for it
PNG = "image/png"
MS_PER_SECOND = 1_000  # Anthropic counts durations in seconds


class ComputerCall(Struct, frozen=True):
    """The arguments of a call: an action of Anthropic's, or `actions` of OpenAI's."""

    action: str = ""
    coordinate: tuple[int, int] | None = None
    start_coordinate: tuple[int, int] | None = None
    text: str | None = None
    duration: float | None = None  # in seconds
    scroll_amount: int | None = None
    scroll_direction: str | None = None
    actions: tuple[ListedAction, ...] | None = None
    pending_safety_checks: tuple[dict[str, Any], ...] = ()


TOOL = LocalTool(
    ToolDefinition(
        COMPUTER,
        "Operate the desktop of the workspace by pointer and keys, and see what it shows.",
        schema_of(ComputerCall),
    ),
    DEADLINE_SECONDS,
    serial=True,
    strict=True,
    hidden=True,
)


@dataclass(frozen=True, slots=True)
class _Done:
    """The outcome of a call: the picture behind it, in which size it is shown, and what is said."""

    picture: ScreenPicture
    size: ScreenSize
    text: str = ""
    is_kept: bool = False  # as a file of the chat


@dataclass(frozen=True, slots=True)
class ComputerTool:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    desktops: Desktops
    files: ChatFiles

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        return (TOOL,) if kind_of(chat) is ChatKind.COMPUTER_USE else ()

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        asked = read_arguments(ComputerCall, calling.call.args or "{}")
        if isinstance(asked, str):
            return error_output(asked)
        desktop = await self.desktops.operate(calling.chat)
        if isinstance(desktop, WorkspaceRefusal):
            return error_output(desktop.says)
        try:
            async with desktop.turn:
                behind = await self.desktops.catch_up(calling.chat, desktop)
                if behind is not None:
                    return error_output(behind.says)
                done = await _done(asked, desktop.connection)
        except ActionRefused as refused:
            return error_output(str(refused))
        except ScreenGone as gone:
            return await self._without(desktop, gone)
        self.desktops.count_call(is_action=asked.action != SCREENSHOT)
        return await self._shown(calling, done)

    async def _without(self, desktop: OperatedDesktop, gone: ScreenGone) -> ToolOutput:
        await self.desktops.forget(desktop)
        return error_output(
            f"{gone}, and what ran on it with it; a screenshot starts a new one, which is empty"
        )

    async def _shown(self, calling: ToolInvocation, done: _Done) -> ToolOutput:
        """Return a result with the picture, which becomes a file of the chat if that is wanted and
        the chat may have another one."""
        png = await as_png(done.picture, done.size)
        document = {"data": b64encode(png).decode(), "mime_type": PNG, "text": done.text}
        shown: tuple[Part, ...] = ()
        if done.is_kept:
            chat = calling.chat
            id = FileId(uuid5(chat.id, f"{chat.history_version}/{calling.call.id}"))
            name = f"screenshot-{wall():%Y-%m-%dT%H-%M-%SZ}.png"
            if await self.files.keep(chat, Document(id, name, PNG, png)):
                document |= {"attachment_file_id": str(id), "attachment_name": name}
                shown = (FilePart(PNG, name, id),)
        return ToolOutput(tool_result(document).result, is_media=True, shown=shown)


async def _done(asked: ComputerCall, screen: DesktopConnection) -> _Done:
    """Do what is asked. ActionRefused: nothing was done. ScreenGone: it is not known what was."""
    if asked.actions is not None:
        return await _listed(asked, screen)
    size = size_for_anthropic(NATIVE)
    action = DesktopAction(
        asked.action,
        asked.coordinate,
        asked.start_coordinate,
        asked.text,
        None if asked.duration is None else asked.duration * MS_PER_SECOND,
        asked.scroll_amount,
        asked.scroll_direction,
    )
    steps = steps_of(action, size, screen.size)
    if action.action == SCREENSHOT:
        return _Done(await screen.picture(), size, is_kept=True)
    if action.action == CURSOR_POSITION:
        x, y = from_native(screen.pointer, size, screen.size)
        return _Done(await screen.picture(), size, f"x={x}, y={y}")
    if action.action == WAIT:
        await trio.sleep(pause_of(action).seconds)
        return _Done(await screen.picture(), size)
    await screen.perform(steps)
    return _Done(await screen.settled_picture(), size)


async def _listed(asked: ComputerCall, screen: DesktopConnection) -> _Done:
    assert asked.actions is not None, "it is a list"
    steps = steps_of_list(asked.actions, FOR_OPENAI, screen.size)
    if steps:
        await screen.perform(steps)
        picture = await screen.settled_picture()
    else:
        picture = await screen.picture()
    # What the provider warned of is done all the same: a person was asked before, if the chat's
    # policy wants that. The words stay with the call, for people to see.
    warned = [
        str(check.get("message") or check.get("code")) for check in asked.pending_safety_checks
    ]
    text = "" if not warned else f"The provider warned: {'; '.join(warned)}"
    return _Done(picture, FOR_OPENAI, text, is_kept=True)
