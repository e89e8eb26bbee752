"""Commands that begin with a slash: which there are, how a line is read, what was meant. Pure."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

# A message may begin with a path, such as /etc/hosts; a command is one word of letters.
_COMMAND = re.compile(r"^/([a-z][a-z-]*)(?:\s+(.*))?$", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command. `takes`: what stands behind it; `needs_chat`: there has to be a chat."""

    name: str
    help: str
    takes: str = ""
    needs_chat: bool = True


@dataclass(frozen=True, slots=True)
class SlashLine:
    """A line with a command. `command` is None if there is none of that name."""

    word: str
    rest: str
    command: SlashCommand | None
    meant: Sequence[str] = ()  # the names that are like it


SLASH_COMMANDS = (
    SlashCommand("help", "the keys and these commands", needs_chat=False),
    SlashCommand("new", "begin another chat", needs_chat=False),
    SlashCommand(
        "resume", "go on with another chat: search, or name one", "[ID]", needs_chat=False
    ),
    SlashCommand("model", "choose the model of the next messages", "[NAME]", needs_chat=False),
    SlashCommand("effort", "choose how much the model thinks", "[LEVEL]", needs_chat=False),
    SlashCommand("plan", "plan first and change nothing, or stop planning", "[off]", False),
    SlashCommand("queue", "reword, reorder, remove or send what waits"),
    SlashCommand("edit", "replace your last message, or choose one", "[TEXT]"),
    SlashCommand("agents", "look into an agent and speak to it, or come back"),
    SlashCommand("open", "read a call, a result or thoughts whole"),
    SlashCommand("mcp", "show the servers of tools", needs_chat=False),
    SlashCommand("cost", "show what the chat has cost"),
    SlashCommand("compact", "sum the conversation up, and go on with the summary"),
    SlashCommand("retry", "make the next attempt now"),
    SlashCommand("title", "give the chat a title", "TEXT"),
    SlashCommand("export", "write the chat to a file as Markdown", "[FILE]"),
    SlashCommand("share", "let another user read the chat, or see who may", "[USERNAME|all]"),
    SlashCommand("image", "attach the picture on the clipboard", needs_chat=False),
    SlashCommand("vi", "type as in vi, or no longer", needs_chat=False),
    SlashCommand("quit", "leave; the chat goes on", needs_chat=False),
)
ALIASES = {"exit": "quit", "q": "quit", "clear": "new", "models": "model", "chats": "resume"}
_BY_NAME = {command.name: command for command in SLASH_COMMANDS}


def read_slash(line: str) -> SlashLine | None:
    """Return the command of a line, or None if the line is a message."""
    found = _COMMAND.match(line.strip())
    if found is None:
        return None
    word, rest = found[1].lower(), (found[2] or "").strip()
    name = ALIASES.get(word, word)
    if (command := _BY_NAME.get(name)) is not None:
        return SlashLine(word, rest, command)
    longer = [one.name for one in SLASH_COMMANDS if one.name.startswith(word)]
    like = difflib.get_close_matches(word, [*_BY_NAME, *ALIASES], n=2, cutoff=0.6)
    meant = (ALIASES.get(str(each), str(each)) for each in like)
    names = dict.fromkeys([*longer, *meant])
    return SlashLine(word, rest, None, tuple(names)[:3])


def commands_like(prefix: str) -> list[SlashCommand]:
    """Return the commands whose names begin so, for completion."""
    return [command for command in SLASH_COMMANDS if command.name.startswith(prefix.lower())]


def commands_text() -> str:
    """Return the commands, a line each."""
    shown = [(f"/{one.name} {one.takes}".rstrip(), one.help) for one in SLASH_COMMANDS]
    width = max(len(name) for name, _ in shown)
    return "\n".join(f"  {name.ljust(width)}  {help}" for name, help in shown)
