"""The tools of chats: built-in ones, those of servers, and those that a chat's client executes.

For other rooms:
    toolbox             all sources of tools as one toolset for a turn; `ToolSource` is their port
    dispatch            runs a tool of ours: reads its arguments, makes its schema and its result
    declared            the tools that a chat's client executes
    built_in.sources    the built-in tools, in their order
    approvals.routes    the endpoints of consent
    approvals.schemas   the JSON of consent
    approvals.store     consent in PostgreSQL
    mcp.chat_tools.source   the tools of servers as tools of a chat
    mcp.oauth.guard     requests to addresses that a stranger has named
    mcp.routes.all_routes   the endpoints of servers, put together
    mcp.registry        the servers that are set up and the tokens of users, in memory
    mcp.servers         a server as it is set up
    mcp.store           the rows of servers, and of the tokens of users
    mcp.wiring          what reaches servers, put together
    mcp.workspaces.servers  the servers that workspaces name

Inside:
    built_in            the tools that come with the daemon
    approvals           consent to calls, over the API
    mcp                 servers of tools that speak MCP
"""
