"""The tools by which an agent reads skills."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct

from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.chat import Chat, Message
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.prompts.ports import UnreadableFile
from actors.prompts.skills import (
    FILE_BYTES_MAX,
    ListedSkill,
    SkillSource,
    find_skill,
    skill_path_fault,
)
from adapters.tools.dispatch import read_arguments, schema_of
from adapters.workspaces.context.skills import SkillIndex

DEADLINE_SECONDS = 60.0
READ, READ_FILE = "read_skill", "read_skill_file"

Name = Annotated[str, Meta(description="The skill's name, as the list of skills has it.")]


class ReadSkill(Struct, frozen=True):
    name: Name


class ReadSkillFile(Struct, frozen=True):
    name: Name
    path: Annotated[str, Meta(description="Of one of its files, relative to its directory.")]


@dataclass(frozen=True, slots=True)
class SkillTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    index: SkillIndex

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        entries = await self.index.of(chat)
        has_files = any(entry.source is SkillSource.WORKSPACE for entry in entries)
        return [READING] * bool(entries) + [READING_FILE] * has_files

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        args = calling.call.args or "{}"
        asked = (
            read_arguments(ReadSkill, args) if name == READ else read_arguments(ReadSkillFile, args)
        )
        if isinstance(asked, str):
            return error_output(asked)
        entry = find_skill(await self.index.of(calling.chat), asked.name.strip())
        if isinstance(entry, str):
            return error_output(entry)
        if isinstance(asked, ReadSkillFile):
            return await self._file(calling.chat, entry, asked.path)
        return await self._skill(calling.chat, entry, asked.name)

    async def _skill(self, chat: Chat, entry: ListedSkill, name: str) -> ToolOutput:
        text = await self.index.text(chat, entry)
        if isinstance(text, UnreadableFile):
            return error_output(text.why)
        where = {"dir": text.directory} if entry.source is SkillSource.WORKSPACE else {}
        return _json_output({"name": name, **where, "body": text.body, "files": text.files})

    async def _file(self, chat: Chat, entry: ListedSkill, path: str) -> ToolOutput:
        if fault := skill_path_fault(path):
            return error_output(fault)
        content = await self.index.file(chat, entry, path)
        if isinstance(content, UnreadableFile):
            return error_output(content.why)
        return _json_output({"content": content[:FILE_BYTES_MAX].decode("utf-8", "replace")})


def _json_output(document: dict[str, Any]) -> ToolOutput:
    return ToolOutput(JsonText(json.dumps(document, ensure_ascii=False)))


def _tool(name: str, arguments: type[Struct], says: str) -> LocalTool:
    tool = ToolDefinition(name, says, schema_of(arguments))
    return LocalTool(tool, DEADLINE_SECONDS, repeatable=True, strict=True)


READING = _tool(READ, ReadSkill, "Read a skill: instructions for particular work.")
READING_FILE = _tool(
    READ_FILE, ReadSkillFile, "Read a file that belongs to a skill, as read_skill lists them."
)
