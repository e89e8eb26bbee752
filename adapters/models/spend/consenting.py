"""The tool by which a person lets a chat go on beyond a soft limit.

No model is told of it: the daemon itself makes the call when a soft limit is reached, and people
answer it like any call that needs consent. What they allow is noted, and the turn goes on.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.law.chat import Chat, Message
from actors.law.parts.message import CONTINUE_SPENDING, JsonText
from actors.law.parts.prompt import ToolDefinition
from adapters.models.settings import SPEND_LIMITED, DeploymentSettings
from adapters.models.spend.store import SpendStore

DEADLINE_SECONDS = 30.0
AGREED = "the conversation goes on beyond the soft limit, until its period is over"

TOOL = LocalTool(
    ToolDefinition(
        CONTINUE_SPENDING,
        "Asks a person whether this conversation may go on beyond a soft limit of spending.",
        JsonText('{"type":"object","properties":{}}'),
    ),
    DEADLINE_SECONDS,
    exclusive=True,
    repeatable=True,
    hidden=True,
    consent="always",
)


@dataclass(frozen=True, slots=True)
class SpendConsent:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    store: SpendStore
    settings: Callable[[], Awaitable[DeploymentSettings]]

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        """Offer the tool where there are limits, or where it has been called."""
        is_open = any(approval.tool == CONTINUE_SPENDING for approval in chat.approvals)
        return (TOOL,) if is_open or (await self.settings()).value(SPEND_LIMITED) else ()

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        await self.store.agree(calling.chat.id)
        return ToolOutput(JsonText(json.dumps({"output": AGREED})))
