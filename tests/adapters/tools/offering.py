"""The tools that a chat has of a source, as the toolbox hands them to a turn."""

from adapters.tools.toolbox import DeclaredTools, Toolbox


async def local_tools(chat, *sources):
    """Return the tools that run here, for a chat whose client has declared none."""
    toolbox = Toolbox(DeclaredTools(_none_declared), sources)
    return (await toolbox.for_turn(chat, ())).offered.local


async def _none_declared(chat):
    return ()
