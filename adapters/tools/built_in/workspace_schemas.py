"""The arguments of the tools of a workspace, and what a model is told of these tools and of a
command. Pure."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from actors.chat.turn.ports import LocalTool
from actors.law.parts.prompt import ToolDefinition
from actors.tools.commands import advice
from actors.tools.editing import Edit
from actors.tools.output import LINES_MAX
from actors.tools.workspaces import Process
from adapters.tools.dispatch import schema_of

DEADLINE_SECONDS = 60.0  # of all but those that wait for commands
WAIT_SECONDS = 10.0  # for a command, where the model does not say
WAIT_SECONDS_MAX = 3_600.0  # of one call; it may wait again
FILES_MAX = 100  # edited in one call

AbsolutePath = Annotated[str, Meta(description="Absolute path, in the workspace.")]
Intent = Annotated[
    str, Meta(description="What you are doing, for people: a few words, as in `running the tests`.")
]
ProcessId = Annotated[str, Meta(description="As execute or process_list returned it.")]


class ReadFile(Struct, frozen=True):
    path: AbsolutePath
    offset: Annotated[int, Meta(description="The first line to read, from 1.")] = 1
    limit: Annotated[int, Meta(description=f"How many lines, at most {LINES_MAX}.")] = LINES_MAX


class WriteFile(Struct, frozen=True):
    path: AbsolutePath
    content: Annotated[str, Meta(description="The whole file, as it is to be.")]


class OneEdit(Struct, frozen=True):
    old_text: Annotated[
        str, Meta(description="Text of the file, enough of it to be found only once.")
    ]
    new_text: Annotated[str, Meta(description="What stands there afterwards.")]
    replace_all: Annotated[bool, Meta(description="Replace it wherever it is found.")] = False


class _LooseEdit(Struct, frozen=True):
    """An edit as some models write it, although they were not told to."""

    old_text: str = ""
    new_text: str = ""
    replace_all: bool = False
    search: str = ""
    replace: str = ""

    @property
    def edit(self) -> Edit:
        return Edit(self.old_text or self.search, self.new_text or self.replace, self.replace_all)


class OneFile(Struct, frozen=True):
    path: AbsolutePath
    edits: list[OneEdit]


class EditFiles(Struct, frozen=True):
    files: list[OneFile]


class _LooseFile(Struct, frozen=True):
    path: str = ""
    edits: list[_LooseEdit] = []


class LooseEditFiles(Struct, frozen=True):
    files: Annotated[list[_LooseFile], Meta(max_length=FILES_MAX)]


class Execute(Struct, frozen=True):
    command: Annotated[str, Meta(description="Run by `sh -c`.")]
    model_intent: Intent = ""
    timeout: Annotated[
        str,
        Meta(
            description="How long to wait for its end, such as 30s or 5m; 10s if left out. Then it"
            " goes on in the background."
        ),
    ] = ""
    workdir: Annotated[str, Meta(description="Where it runs; the workspace if left out.")] = ""
    run_in_background: Annotated[
        bool, Meta(description="Do not wait at all: for servers, watchers and the like.")
    ] = False


class ProcessOutput(Struct, frozen=True):
    process_id: ProcessId
    wait_timeout: Annotated[
        str,
        Meta(description="How long to wait for its end; 10s if left out, 0s does not wait."),
    ] = ""
    model_intent: Intent = ""


class ProcessList(Struct, frozen=True):
    pass


class ProcessSignal(Struct, frozen=True):
    process_id: ProcessId
    signal: Literal["terminate", "kill"]


class AttachFile(Struct, frozen=True):
    path: AbsolutePath
    name: Annotated[str, Meta(description="By which the user sees it; its own if left out.")] = ""


def _tool(
    name: str,
    arguments: type[Struct],
    says: str,
    *,
    seconds: float = DEADLINE_SECONDS,
    repeatable: bool = False,
    accepts: type[Struct] | None = None,
) -> LocalTool:
    tool = ToolDefinition(name, says, schema_of(arguments))
    taken = None if accepts is None else schema_of(accepts)
    return LocalTool(tool, seconds, repeatable=repeatable, strict=True, accepts=taken)


_WAITS = WAIT_SECONDS_MAX + DEADLINE_SECONDS

TOOLS = (
    _tool(
        "read_file",
        ReadFile,
        "Read a file of the workspace, with the numbers of its lines.",
        repeatable=True,
    ),
    _tool(
        "write_file",
        WriteFile,
        "Write a whole file; directories that are missing are made. To change a part of a file use"
        " edit_files.",
    ),
    _tool(
        "edit_files",
        EditFiles,
        "Replace texts in files. If one of the edits does not fit, no file is changed. Returns"
        " the changes as diffs.",
        accepts=LooseEditFiles,
    ),
    _tool(
        "attach_file",
        AttachFile,
        "Give the user a file of the workspace: they see it in the chat and can download it.",
    ),
    _tool(
        "execute",
        Execute,
        "Run a command in the workspace. Returns what it writes, to both outputs, and its exit"
        " code. What it has started and left running ends with it, so start servers with"
        " run_in_background.",
        seconds=_WAITS,
    ),
    _tool(
        "process_output",
        ProcessOutput,
        "All that a command has written so far. Waits for its end first, as long as wait_timeout"
        " says.",
        seconds=_WAITS,
        repeatable=True,
    ),
    _tool(
        "process_list",
        ProcessList,
        "The commands of this chat that run, and those that have ended in the last minutes.",
        repeatable=True,
    ),
    _tool(
        "process_signal",
        ProcessSignal,
        "End a command, and all that it has started: terminate asks it to, kill does it.",
    ),
)


LISTED_MAX = 10  # of the commands of a chat; those that have run long ago are not listed

Document = Mapping[str, Any]


def execute_result(
    process: Process, *, waited_seconds: float, began_in_background: bool
) -> Document:
    """Return the result of execute."""
    if began_in_background:
        return {
            "success": True,
            "exit_code": 0,
            "wall_duration_ms": 0,
            "background_process_id": process.id,
            "backgrounded": True,
        }
    if process.is_running:
        return {
            "success": False,
            **_output(process),
            "exit_code": -1,
            "wall_duration_ms": process.wall_ms,
            "error": f"timed out after {waited_seconds:g} s; it goes on in the background:"
            " wait for it with process_output, or end it with process_signal",
            **_note(advice(process.command)),
            "background_process_id": process.id,
        }
    return {
        **ended_result(process),
        "wall_duration_ms": process.wall_ms,
        **_note(advice(process.command)),
    }


def ended_result(process: Process) -> Document:
    return {
        "success": process.exit_code == 0,
        **_output(process),
        "exit_code": -1 if process.exit_code is None else process.exit_code,
        "wall_duration_ms": 0,
        **({"error": process.why} if process.why else {}),
    }


def not_started_result(says: str) -> Document:
    return {"success": False, "exit_code": 0, "wall_duration_ms": 0, "error": says}


def output_result(process: Process) -> Document:
    """Return the result of process_output."""
    if not process.is_running:
        return {**ended_result(process), "command": process.command}
    return {
        "success": True,
        "running": True,
        **_output(process),
        "exit_code": 0,
        "wall_duration_ms": 0,
        "command": process.command,
        "note": "it is still running",
    }


def list_row(process: Process) -> Document:
    """Return a row of process_list."""
    ended_at = process.ended_at
    return {
        "id": process.id,
        "command": process.command,
        "workdir": process.workdir,
        "background": process.background,
        "running": process.is_running,
        **({} if process.exit_code is None else {"exit_code": process.exit_code}),
        "started_at": int(process.started_at.timestamp()),
        **({} if ended_at is None else {"exited_at": int(ended_at.timestamp())}),
    }


def _output(process: Process) -> Document:
    output = process.output
    if not output.original_bytes:
        return {}
    if not output.omitted_bytes:
        return {"output": output.text}
    return {
        "output": output.text,
        "truncated": {
            "original_bytes": output.original_bytes,
            "retained_bytes": output.retained_bytes,
            "omitted_bytes": output.omitted_bytes,
            "strategy": "head_tail",
        },
    }


def _note(text: str) -> Document:
    return {"note": text} if text else {}
