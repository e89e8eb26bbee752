"""The built-in tools of a chat, by the kind of the chat: one table. Pure.

Whether there is anything behind a tool (a skill to read, an advisor to ask, a desktop) is another
question, which is asked by the source that offers it.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from actors.law.chat import Chat
from actors.law.parts.message import CONTINUE_SPENDING


class ChatKind(Enum):
    """The kind of a chat, as far as its tools are concerned."""

    ROOT = "root"
    ROOT_PLAN = "root, planning"
    CHILD = "child"
    CHILD_PLAN = "child, planning"
    EXPLORE = "explore"
    COMPUTER_USE = "computer use"


_OF_MODE = {"explore": ChatKind.EXPLORE, "computer_use": ChatKind.COMPUTER_USE}
ALL = frozenset(ChatKind)
_WRITES = frozenset({ChatKind.ROOT, ChatKind.ROOT_PLAN, ChatKind.CHILD, ChatKind.COMPUTER_USE})
_SIGNALS = frozenset({ChatKind.ROOT, ChatKind.CHILD, ChatKind.COMPUTER_USE})
_ROOTS = frozenset({ChatKind.ROOT, ChatKind.ROOT_PLAN})
_PLANS = frozenset({ChatKind.ROOT_PLAN})
_ROOT = frozenset({ChatKind.ROOT})

KINDS_BY_TOOL: Mapping[str, frozenset[ChatKind]] = MappingProxyType(
    {
        "read_file": ALL,
        "write_file": _WRITES,  # planning: the plan, and nothing else
        "edit_files": _WRITES,
        "attach_file": _WRITES,
        "execute": ALL,
        "process_output": ALL,
        "process_list": _SIGNALS,
        "process_signal": _SIGNALS,
        "read_skill": ALL,
        "read_skill_file": ALL,
        "ask_user_question": _PLANS,
        "propose_plan": _PLANS,
        "list_templates": _ROOTS,
        "read_template": _ROOTS,
        "create_workspace": _ROOTS,
        "start_workspace": _ROOTS,
        "stop_workspace": _ROOTS,
        "spawn_agent": _ROOTS,
        "list_subagent_models": _ROOTS,
        "wait_agent": _ROOTS,
        "list_agents": _ROOTS,
        "message_agent": _ROOT,
        "interrupt_agent": _ROOT,
        "advisor": _ROOT,
        "find_tools": ALL,
        CONTINUE_SPENDING: ALL,
        "computer": frozenset({ChatKind.COMPUTER_USE}),
    }
)


def kind_of(chat: Chat) -> ChatKind:
    """Return a chat's kind. A chat that explores does so whether its parent plans or not; one that
    operates a desktop does not while it plans."""
    if chat.mode == "computer_use" and chat.is_planning:
        return ChatKind.CHILD_PLAN
    if chat.mode:
        return _OF_MODE[chat.mode]
    if chat.is_root:
        return ChatKind.ROOT_PLAN if chat.is_planning else ChatKind.ROOT
    return ChatKind.CHILD_PLAN if chat.is_planning else ChatKind.CHILD


def is_allowed(name: str, kind: ChatKind) -> bool:
    """Return whether a chat of this kind may have the built-in tool of this name."""
    return kind in KINDS_BY_TOOL.get(name, _ROOT)


def may_use_dynamic_tools(kind: ChatKind) -> bool:
    """Return whether a chat of this kind is offered the tools that its client executes."""
    return kind is ChatKind.ROOT


def may_use_workspace_servers(kind: ChatKind) -> bool:
    """Return whether such a chat is offered the tools of servers that its workspace names."""
    return kind in _SIGNALS


def may_use_plugin_tool(kind: ChatKind, *, only_reads: bool) -> bool:
    """Return whether a chat of this kind may have a tool of a plugin."""
    return only_reads or kind in _SIGNALS


def may_search(chat: Chat) -> bool:
    """Return whether a chat's model may use the provider's search; a child that explores may."""
    looks_alone = bool(chat.mode) and chat.is_root
    return not looks_alone and kind_of(chat) not in (ChatKind.ROOT_PLAN, ChatKind.CHILD_PLAN)
