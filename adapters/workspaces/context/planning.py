"""Plans of chats, as files of their workspaces."""

from dataclasses import dataclass

from actors.law.chat import Chat
from actors.prompts.context.ports import Unreadable
from actors.tools.workspace.plans import plan_path
from actors.tools.workspace.ports import Refused, Workspaces


@dataclass(frozen=True, slots=True)
class WorkspacePlans:
    """Fulfils `actors.prompts.context.ports.PlanFiles`."""

    workspaces: Workspaces

    async def place(self, chat: Chat) -> str | None:
        workspace = await self.workspaces.of(chat)
        return None if isinstance(workspace, Refused) else plan_path(workspace.home, chat.id)

    async def read(self, chat: Chat, path: str, *, bytes_max: int) -> bytes | Unreadable:
        workspace = await self.workspaces.of(chat)
        if isinstance(workspace, Refused):
            return Unreadable(workspace.says)
        where = await workspace.files.resolve(path)
        if where != path:
            why = where.says if isinstance(where, Refused) else "a symbolic link leads elsewhere"
            return Unreadable(f"{path}: {why}; write the plan there, as a file")
        found = await workspace.files.read(path, bytes_max=bytes_max)
        return Unreadable(found.says) if isinstance(found, Refused) else found
