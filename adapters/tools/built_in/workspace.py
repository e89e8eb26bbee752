"""The tools by which a chat reads and writes files of its workspace, and runs commands there.
Arguments are read and checked here; the rest is asked of the workspace."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from posixpath import basename, isabs, normpath
from typing import Any
from uuid import uuid5

from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.law.chat import FILES_PER_CHAT_MAX, Chat, Message
from actors.law.ids import FileId
from actors.law.parts.message import FilePart
from actors.law.store.retry import retry_store
from actors.prompts.ports import ChatFiles, Document
from actors.streams.pieces import ResultPiece
from actors.tools.commands import parse_command, seconds_of
from actors.tools.editing import FileEdits
from actors.tools.live_output import LivePiece
from actors.tools.output import LINES_MAX, number_lines
from actors.tools.plans import write_refusal
from actors.tools.workspaces import (
    ChatWorkspace,
    ChatWorkspaces,
    Command,
    NotStarted,
    ShowOutput,
    Signal,
    WorkspaceRefusal,
)
from adapters.http.files import MismatchedType, UnsupportedType, clean_name, media_type_of
from adapters.tools.built_in.workspace_schemas import (
    LISTED_MAX,
    TOOLS,
    WAIT_SECONDS,
    WAIT_SECONDS_MAX,
    AttachFile,
    Execute,
    LooseEditFiles,
    ProcessList,
    ProcessOutput,
    ProcessSignal,
    ReadFile,
    WriteFile,
    execute_result,
    list_row,
    not_started_result,
    output_result,
)
from adapters.tools.dispatch import ArgumentsStruct, ResultDocument, ToolCallError, run, tool_result

READ_BYTES_MAX = 1024 * 1024  # of a file; a larger one is refused
ATTACHED_BYTES_MAX = 10 * 1024 * 1024  # likewise
NOTHING_APPLIED = "no edit was applied"

DoThere = Callable[..., Awaitable[ResultDocument | ToolOutput]]  # (workspace, calling, arguments)


@dataclass(frozen=True, slots=True)
class WorkspaceTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    workspaces: ChatWorkspaces
    files: ChatFiles

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        return TOOLS

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        arguments, do = self._deeds()[name]

        async def do_there(calling: ToolInvocation, asked: Any) -> ResultDocument | ToolOutput:
            chat = calling.chat
            look = partial(self.workspaces.of, chat)
            return await do(_granted(await retry_store(chat.id, "workspace", look)), calling, asked)

        return await run(calling, arguments, do_there)

    def _deeds(self) -> Mapping[str, tuple[ArgumentsStruct, DoThere]]:
        return {
            "read_file": (ReadFile, self._read),
            "write_file": (WriteFile, self._write),
            "edit_files": (LooseEditFiles, self._edit),
            "attach_file": (AttachFile, self._attach),
            "execute": (Execute, self._execute),
            "process_output": (ProcessOutput, self._output),
            "process_list": (ProcessList, self._list),
            "process_signal": (ProcessSignal, self._signal),
        }

    # files

    async def _read(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: ReadFile
    ) -> ResultDocument:
        path = _absolute(asked.path)
        content = _granted(await at.files.read(path, bytes_max=READ_BYTES_MAX))
        limit = asked.limit if asked.limit > 0 else LINES_MAX
        lines = number_lines(content, offset=asked.offset, limit=limit)
        if isinstance(lines, str):
            raise ToolCallError(f"{path}: {lines}")
        return {
            "content": lines.content,
            "file_size": len(content),
            "total_lines": lines.total,
            "lines_read": lines.read,
        }

    async def _write(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: WriteFile
    ) -> ResultDocument:
        path = asked.path.strip()
        await _may_write(at, calling.chat, path)
        _granted(await at.files.write(_absolute(path), asked.content.encode(errors="replace")))
        return {"ok": True}

    async def _edit(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: LooseEditFiles
    ) -> ResultDocument:
        if not asked.files:
            raise ToolCallError("files is empty; say which files to edit, and how")
        merged: dict[str, FileEdits] = {}
        for index, file in enumerate(asked.files):
            path = file.path.strip()
            if not path or not file.edits:
                lacking = "edits" if path else "path"
                raise ToolCallError(f"files[{index}].{lacking} is empty; {NOTHING_APPLIED}")
            await _may_write(at, calling.chat, path)
            edits = tuple(edit.edit for edit in file.edits)
            first = merged.setdefault(normpath(_absolute(path)), FileEdits(path, ()))
            merged[normpath(path)] = FileEdits(first.path, (*first.edits, *edits))
        edited = _granted(await at.files.edit(tuple(merged.values())))
        return {"ok": True, "files": [{"path": each.path, "diff": each.diff} for each in edited]}

    async def _attach(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: AttachFile
    ) -> ToolOutput:
        path = _absolute(asked.path)
        content = _granted(await at.files.read(path, bytes_max=ATTACHED_BYTES_MAX))
        if not content:
            raise ToolCallError(f"{path}: empty; there is nothing to attach")
        name = clean_name(asked.name) or clean_name(basename(path)) or "file"
        found = media_type_of("", name, content)
        assert not isinstance(found, MismatchedType), "no type was declared"
        media_type = found.media_type if isinstance(found, UnsupportedType) else found
        chat = calling.chat
        id = FileId(uuid5(chat.id, f"{chat.history_version}/{calling.call.id}"))
        if not await self.files.keep(chat, Document(id, name, media_type, content)):
            raise ToolCallError(
                f"{path}: the chat has {FILES_PER_CHAT_MAX} files, which is all it may have"
            )
        document = {
            "ok": True,
            "path": path,
            "file_id": str(id),
            "name": name,
            "media_type": media_type,
            "size": len(content),
        }
        return replace(tool_result(document), shown=(FilePart(media_type, name, id),))

    # commands

    async def _execute(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: Execute
    ) -> ResultDocument:
        seconds = _seconds("timeout", asked.timeout)
        wanted = parse_command(asked.command, background=asked.run_in_background)
        if not wanted.text.strip():
            raise ToolCallError("command is empty; say what to run")
        command = Command(wanted.text, asked.workdir.strip(), wanted.background)
        started = _granted(await at.processes.start(command))
        if isinstance(started, NotStarted):
            return not_started_result(started.says)
        if not wanted.background:
            waited = await at.processes.wait(started.id, seconds, show=_shown_by(calling))
            started = _granted(waited)
        return execute_result(
            started, waited_seconds=seconds, began_in_background=wanted.background
        )

    async def _output(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: ProcessOutput
    ) -> ResultDocument:
        id, seconds = _process_id(asked.process_id), _seconds("wait_timeout", asked.wait_timeout)
        found = await at.processes.wait(id, seconds, show=_shown_by(calling))
        return (
            {"error": found.says} if isinstance(found, WorkspaceRefusal) else output_result(found)
        )

    async def _list(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: ProcessList
    ) -> ResultDocument:
        return {"processes": [list_row(each) for each in (await at.processes.all())[:LISTED_MAX]]}

    async def _signal(
        self, at: ChatWorkspace, calling: ToolInvocation, asked: ProcessSignal
    ) -> ResultDocument:
        id = _process_id(asked.process_id)
        refused = await at.processes.signal(id, Signal(asked.signal))
        if refused is not None:
            return {"error": refused.says}
        return {"success": True, "message": f"{asked.signal} was sent to process {id}"}


def _shown_by(calling: ToolInvocation) -> ShowOutput:
    """Return what shows the watchers of the chat a command's output, as the result of the call."""
    call = calling.call

    def show(piece: LivePiece) -> None:
        calling.show(ResultPiece(call.id, call.name, piece.text, resets=piece.resets))

    return show


def _granted(answer: Any) -> Any:
    """Return the answer. ToolCallError: it is a refusal."""
    if isinstance(answer, WorkspaceRefusal):
        raise ToolCallError(answer.says)
    return answer


def _absolute(path: str) -> str:
    path = path.strip()
    if not path:
        raise ToolCallError("path is empty; give the absolute path of a file in the workspace")
    if not isabs(path):
        raise ToolCallError(f"{path}: not an absolute path")
    return path


async def _may_write(at: ChatWorkspace, chat: Chat, path: str) -> None:
    """Raise an error where plans forbid this write. A plan is written where its path says, through
    no symbolic link."""
    why = write_refusal(path, at.home, chat)
    plans = chat.is_planning and chat.is_root
    if why is None and plans and _granted(await at.files.resolve(path)) != path:
        why = f"{path}: a symbolic link leads elsewhere; remove it, then write the plan"
    if why is not None:
        raise ToolCallError(why)


def _seconds(name: str, duration: str) -> float:
    if not duration.strip():
        return WAIT_SECONDS
    seconds = seconds_of(duration)
    if seconds is None:
        raise ToolCallError(f"{name}: {duration[:40]!r} is no duration; write it as 30s or 5m")
    return min(seconds, WAIT_SECONDS_MAX)


def _process_id(text: str) -> str:
    id = text.strip()
    if not id:
        raise ToolCallError("process_id is empty; see process_list")
    return id
