"""What a model is told of a command. Pure."""

from collections.abc import Mapping
from typing import Any

from actors.tools.workspace.commands import advice
from actors.tools.workspace.ports import Process

LISTED_MAX = 10  # of the commands of a chat; those that have run long ago are not listed

Document = Mapping[str, Any]


def executed(process: Process, *, waited_seconds: float, began_in_background: bool) -> Document:
    """What execute returns."""
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
        **ended(process),
        "wall_duration_ms": process.wall_ms,
        **_note(advice(process.command)),
    }


def ended(process: Process) -> Document:
    return {
        "success": process.exit_code == 0,
        **_output(process),
        "exit_code": -1 if process.exit_code is None else process.exit_code,
        "wall_duration_ms": 0,
        **({"error": process.why} if process.why else {}),
    }


def not_started(says: str) -> Document:
    return {"success": False, "exit_code": 0, "wall_duration_ms": 0, "error": says}


def seen(process: Process) -> Document:
    """What process_output returns."""
    if not process.is_running:
        return {**ended(process), "command": process.command}
    return {
        "success": True,
        "running": True,
        **_output(process),
        "exit_code": 0,
        "wall_duration_ms": 0,
        "command": process.command,
        "note": "it is still running",
    }


def listed(process: Process) -> Document:
    """A row of process_list."""
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
