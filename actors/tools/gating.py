"""Which of the built-in tools a chat has, by what kind of chat it is. Pure: one table.

Whether there is anything behind a tool (a skill to read, an advisor to ask, a desktop) is another
question, asked by whoever offers it.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from actors.law.chat import Chat


class Kind(Enum):
    """Of a chat, as far as its tools are concerned."""

    ROOT = "root"
    ROOT_PLAN = "root, planning"
    CHILD = "child"
    CHILD_PLAN = "child, planning"
    EXPLORE = "explore"
    COMPUTER_USE = "computer use"


_OF_MODE = {"explore": Kind.EXPLORE, "computer_use": Kind.COMPUTER_USE}
ALL = frozenset(Kind)
_WRITES = frozenset({Kind.ROOT, Kind.ROOT_PLAN, Kind.CHILD, Kind.COMPUTER_USE})
_SIGNALS = frozenset({Kind.ROOT, Kind.CHILD, Kind.COMPUTER_USE})
_ROOTS = frozenset({Kind.ROOT, Kind.ROOT_PLAN})
_PLANS = frozenset({Kind.ROOT_PLAN})
_ROOT = frozenset({Kind.ROOT})

WHO: Mapping[str, frozenset[Kind]] = MappingProxyType(
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
    }
)


def kind_of(chat: Chat) -> Kind:
    """A chat that explores does so whether its parent plans or not."""
    if chat.mode:
        return _OF_MODE[chat.mode]
    if chat.is_root:
        return Kind.ROOT_PLAN if chat.is_planning else Kind.ROOT
    return Kind.CHILD_PLAN if chat.is_planning else Kind.CHILD


def allowed(name: str, kind: Kind) -> bool:
    """Return whether a chat of this kind may have the tool of this name, which runs here.

    A tool without a row in `WHO` is for root chats that neither plan nor explore.
    """
    return kind in WHO.get(name, _ROOT)


def may_use_others(kind: Kind) -> bool:
    """Whether tools that the client executes are offered."""
    return kind is Kind.ROOT


def may_use_workspace_servers(kind: Kind) -> bool:
    """Whether tools of servers are offered that the chat's workspace names."""
    return kind in _SIGNALS


def may_use_plugin_tool(kind: Kind, *, only_reads: bool) -> bool:
    """Return whether a chat of this kind may have a tool of a plugin."""
    return only_reads or kind in _SIGNALS


def may_search(chat: Chat) -> bool:
    """Whether its model may use the provider's own search. A child that looks around may."""
    looks_alone = bool(chat.mode) and chat.is_root
    return not looks_alone and kind_of(chat) not in (Kind.ROOT_PLAN, Kind.CHILD_PLAN)
