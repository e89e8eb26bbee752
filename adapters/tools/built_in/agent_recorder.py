"""Films of what agents do on their desktops while a parent waits for them, kept as its files.

A film is made as well as it can be: where none is possible the wait goes on without. One whose
agent has not settled goes on, for the next wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid5

from actors.agents.ports import FamilyMember
from actors.agents.rules import BUSY, AgentType
from actors.chat.turn.ports import ToolInvocation
from actors.law.ids import ChatId, FileId
from actors.law.parts.message import FilePart
from actors.law.states import Status
from actors.prompts.ports import ChatFiles, Document
from adapters.tools.dispatch import ResultDocument
from adapters.workspaces.desktop.desktops import Desktops
from adapters.workspaces.desktop.recording import Film
from runtime.clock import wall

MP4, JPEG = "video/mp4", "image/jpeg"


@dataclass(frozen=True, slots=True)
class AgentRecorder:
    """Records the agents of a chat that operate desktops, while the chat waits for them."""

    desktops: Desktops
    files: ChatFiles

    def begin(self, agents: Sequence[FamilyMember]) -> None:
        """Record those of these agents that operate a desktop just now. Waits for nothing."""
        recordings = self.desktops.recordings
        for agent in agents:
            is_at_work = agent.type == AgentType.COMPUTER_USE.value and agent.status in BUSY
            if recordings is not None and is_at_work:
                recordings.begin(agent.id)

    async def finish(
        self, calling: ToolInvocation, agent: FamilyMember
    ) -> tuple[ResultDocument, tuple[FilePart, ...]]:
        """Return what a parent is told of the film of an agent that has settled, and its files.
        Nothing, if there is no film or the chat may have no more files."""
        recordings = self.desktops.recordings
        if recordings is None or agent.status is not Status.WAITING:
            return {}, ()
        film = await recordings.finish(agent.id)
        return ({}, ()) if film is None else await self._kept(calling, agent.id, film)

    async def _kept(
        self, calling: ToolInvocation, agent: ChatId, film: Film
    ) -> tuple[ResultDocument, tuple[FilePart, ...]]:
        chat, at = calling.chat, f"{wall():%Y-%m-%dT%H-%M-%SZ}"
        told: dict[str, str] = {}
        parts: list[FilePart] = []
        for what, media_type, ending, content in (
            ("recording", MP4, "mp4", film.mp4),
            ("thumbnail", JPEG, "jpg", film.jpeg),
        ):
            name = f"{what}-{at}.{ending}"
            spelled = f"{chat.history_version}/{calling.call.id}/{agent}/{what}"
            id = FileId(uuid5(chat.id, spelled))
            if not await self.files.keep(chat, Document(id, name, media_type, content)):
                break
            told[f"{what}_file_id"] = str(id)
            parts.append(FilePart(media_type, name, id))
        return told, tuple(parts)
