"""The tools of plugins, for chats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.chat import Chat, Message
from actors.law.ids import chat_name
from actors.law.parts.json_text import is_json
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.tools.gating import kind_of, may_use_plugin_tool
from adapters.plugins.calls import PluginFault
from adapters.plugins.loop import PluginLoop
from adapters.plugins.plugins import Plugins
from promptcorner.ext.tools import RESULT_BYTES_MAX, CallResult, PluginTool, ToolContext

FAILED = "the tool failed unexpectedly"


@dataclass(frozen=True, slots=True)
class _OfferedTool:
    loop: PluginLoop
    tool: PluginTool
    local: LocalTool


class PluginTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    def __init__(self, plugins: Plugins) -> None:
        self._tools: Mapping[str, _OfferedTool] = {
            tool.name: _OfferedTool(plugin.loop, tool, _local(plugin.name, tool))
            for plugin in plugins
            for tool in plugin.parts.tools
        }

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        """Return the tools of all plugins that chats of this kind may have. Those that only read
        are for all chats, the others for those that neither plan nor explore."""
        kind = kind_of(chat)
        return [
            each.local
            for each in self._tools.values()
            if may_use_plugin_tool(kind, only_reads=each.tool.consent == "never")
        ]

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        offered, chat = self._tools[name], calling.chat
        context = ToolContext(chat.id, chat.owner_id, calling.call.id, calling.age_seconds)
        work = partial(_call, offered.tool, context, calling.call.args or "{}")
        why = FAILED
        try:
            result: CallResult = await offered.loop.call(work)
        except PluginFault as fault:
            error: Exception = fault
            why = f"the plugin of this tool failed: {fault}"
        except Exception as crash:  # noqa: BLE001  the plugin's own code raised it
            error = crash
        else:
            return ToolOutput(JsonText(result.json), is_error=result.is_error)
        offered.loop.note_failure(error, tool=name, chat=chat_name(chat.id))
        return error_output(why)


async def _call(tool: PluginTool, context: ToolContext, arguments: str) -> CallResult:
    """Run a tool in its plugin's loop. A result that cannot be kept is a fault."""
    result = await tool.call(context, arguments)
    if (size := len(result.json.encode())) > RESULT_BYTES_MAX:
        raise PluginFault(f"its result has {size} bytes, it can have {RESULT_BYTES_MAX}")
    if not is_json(result.json):
        raise PluginFault("its result is nested too deeply")
    return result


def _local(plugin: str, tool: PluginTool) -> LocalTool:
    return LocalTool(
        ToolDefinition(tool.name, tool.description, JsonText(tool.schema)),
        tool.seconds,
        repeatable=tool.repeatable,
        strict=True,
        consent=tool.consent,
        plugin=plugin,
    )
