"""Within one version of the API nothing that plugins use goes, or changes its meaning.

`surface.txt` is what plugins see: names, fields, parameters. A line that is added is a new
possibility. A line that changes or goes breaks plugins: then `API_VERSION` is raised, and the
CHANGELOG says what authors have to do. `python -m tests.promptcorner.ext.test_surface` writes it.
"""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

from promptcorner import ext
from promptcorner.ext import testing

SURFACE = Path(__file__).with_name("surface.txt")
CHECKS = ("check_tool", "check_provider", "check_stream", "check_deltas", "check_identity")


# Fields of messages that are the daemon's own business, and may change.
UNPROMISED = {
    *("CallSettings.options", "FilePart.file_id", "FilePart.provider_metadata"),
    *("Prompt.asker", "Prompt.bytes_count", "Prompt.cached", "Prompt.written"),
    *("ReasoningPart.created_at", "ReasoningPart.completed_at"),
    *("ToolCallPart.created_at", "ToolCallPart.hook_rewritten", "ToolCallPart.parsed_commands"),
    *("ToolCallPart.mcp_server_config_id", "ToolResultPart.mcp_server_config_id"),
    *("ToolResultPart.created_at", "ToolResultPart.is_media", "TextPart.hook_rewritten"),
}


def surface() -> Iterator[str]:
    yield f"API_VERSION = {ext.API_VERSION}"
    for name in ext.__all__:
        yield from (line for line in lines_of(name, getattr(ext, name)) if line not in UNPROMISED)
    for name in CHECKS:
        yield from lines_of(f"testing.{name}", getattr(testing, name))


def lines_of(name: str, value: object) -> Iterator[str]:
    if isinstance(value, type) and issubclass(value, Enum):
        yield from (f"{name}.{member.name}" for member in value)
    elif is_dataclass(value):
        yield from (f"{name}.{field.name}" for field in fields(value))
    elif isinstance(value, type) and issubclass(value, Exception):
        yield f"{name}{_parameters(value.__init__)}"
    elif isinstance(value, type):
        yield name
        for method, found in vars(value).items():
            if inspect.isfunction(found) and not method.startswith("_"):
                yield f"{name}.{method}{_parameters(found)}"
    elif inspect.isfunction(value):
        yield f"{name}{_parameters(value)}"
    elif name != "API_VERSION":
        yield name


def _parameters(function) -> str:
    """Their names, and which have defaults; types are written differently by each Python."""
    found = inspect.signature(function).parameters.values()
    shown = [f"{each.name}=…" if each.default is not each.empty else each.name for each in found]
    return f"({', '.join(shown)})"


def test_what_plugins_see_stays_as_it_is():
    kept = SURFACE.read_text().splitlines()
    found = list(surface())

    gone = [line for line in kept if line not in found]

    assert not gone, f"plugins may use these; raise API_VERSION if they have to go: {gone}"
    assert kept == found, "what was added is to stand in surface.txt"


if __name__ == "__main__":
    SURFACE.write_text("".join(f"{line}\n" for line in surface()))
