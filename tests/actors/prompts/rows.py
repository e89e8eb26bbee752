"""Rows of a history with readable defaults, numbered in the order in which they are given."""

from datetime import UTC, datetime
from uuid import UUID

from actors.law.chat import Body, Message, Role, Visibility
from actors.law.ids import MessageId
from actors.law.parts.message import TextPart, ToolCallPart, ToolResultPart

T0 = datetime(2026, 1, 1, tzinfo=UTC)
OURS = UUID(int=1)
THEIRS = UUID(int=2)
SEARCH_NOTES = '{"anthropic":{"web_search":[]}}'


def row(role, *parts, visibility=Visibility.BOTH, compressed=False, deleted=False, model=OURS):
    body = Body(role, parts, visibility, compressed, model_config_id=model)
    return Message(MessageId(0), 1, T0, deleted, body)


def system(text, **more):
    return row(Role.SYSTEM, TextPart(text), **more)


def user(*parts, **more):
    return row(Role.USER, *map(_part, parts), **more)


def assistant(*parts, **more):
    return row(Role.ASSISTANT, *map(_part, parts), **more)


def tool(*results, **more):
    return row(Role.TOOL, *results, **more)


def history(*rows):
    return tuple(
        Message(MessageId(id), 1, T0, each.deleted, each.body) for id, each in enumerate(rows, 1)
    )


def call(id, name="f", args="{}", **more):
    return ToolCallPart(id, name, args, **more)


def result(id, value='{"output":"ok"}', name="f", **more):
    return ToolResultPart(id, name, value, **more)


def searched(id="s"):
    """A valid pair of the provider's own search."""
    return (
        ToolCallPart(id, "web_search", '{"query":"q"}', provider_executed=True),
        ToolResultPart(
            id, "web_search", "[]", provider_executed=True, provider_metadata=SEARCH_NOTES
        ),
    )


def _part(part):
    return TextPart(part) if isinstance(part, str) else part
