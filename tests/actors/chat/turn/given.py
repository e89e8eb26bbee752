"""Short ways to say a history, and the tools of a turn."""

from itertools import count

from actors.chat.turn.ports import LocalTool
from actors.law.chat import Body, Message, Role, Visibility
from actors.law.ids import MessageId
from actors.law.parts.message import JsonText, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import ToolDefinition
from tests.actors.law.chats import NOW

SCHEMA = JsonText('{"type":"object","properties":{}}')


def hidden(role=Role.USER):
    """What only the model sees."""
    return Body(role, (TextPart("hidden"),), visibility=Visibility.MODEL)


def answered(*ids, name="read", error=False, **more):
    """One tool message per id."""
    return [
        Body(Role.TOOL, (ToolResultPart(id, name, JsonText("1"), is_error=error),), **more)
        for id in ids
    ]


def calls(id, name="read", args="{}", **more):
    return ToolCallPart(id, name, args, **more)


def tool(name="read", **rules):
    return LocalTool(ToolDefinition(name, "", SCHEMA), rules.pop("seconds", 60.0), **rules)


def history(*bodies, deleted=()):
    """Bodies, or lists of them, as rows; `deleted` are the places of those that are gone."""
    flat = [body for each in bodies for body in (each if isinstance(each, list) else [each])]
    numbers = count(1)
    return tuple(
        Message(MessageId(next(numbers)), 50, NOW, place in deleted, body)
        for place, body in enumerate(flat)
    )
