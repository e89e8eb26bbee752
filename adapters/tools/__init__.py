"""The tools of chats: built-in ones, those of servers, and those that a chat's client executes.

For other rooms:
    toolbox                 all sources of tools as one toolset for a turn, and what a source is
    built_in.sources        the built-in tools, in their order
    approvals.presenters    calls that wait for consent as clients see them
    hooks.dispatcher        the server of policy hooks, asked within bounds
    hooks.wiring            the policy hooks, put together
    approvals.routes        the endpoints of consent
    approvals.rule_routes   the endpoints of rules of consent
    approvals.rule_store    rules of consent in PostgreSQL, and those that a process knows
    approvals.schemas       the JSON of consent
    approvals.store         consent in PostgreSQL
    mcp.wiring              the servers of tools, put together
    mcp.registry            the servers that are set up and the tokens of users, in memory
    mcp.servers             a server as it is set up
    mcp.chat_tools.source   the tools of servers as tools of a chat
    mcp.workspaces.servers  the servers that workspaces name
    mcp.oauth.guard         requests to addresses that a stranger has named
    mcp.routes.all_routes   the endpoints of servers

Inside:
    dispatch                reads a call's arguments and makes its schema and its result
    built_in                the tools that come with the daemon
    approvals               consent to calls, over the API
    hooks                   the questions of policy hooks, and their answers
    mcp                     servers of tools that speak MCP
"""
