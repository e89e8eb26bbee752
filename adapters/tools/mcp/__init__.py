"""The servers of tools that speak MCP: what is set up, how they are reached, what they say.

servers     a server as it is set up, a user's token there, headers that show who asks (pure)
    store       servers and tokens as they are stored
    registry    all that are set up and the tokens of users, kept in memory and renewed
    oauth       tokens of users: where they come from, and how they are given up
    faults      what went wrong with a server, in words that hold no secret (pure)
    tolerance   the answers of servers, as the SDK takes them (pure)
    http        a server behind HTTP, and how much of what it sends is read
    sdk         a session with a server; the official SDK, loaded late
    sessions    the sessions of chats at work
    listing     the tools of a server: their names and their schemas
    wiring      all of it, put together
    chat_tools  the tools of servers, as the tools of a chat
    workspaces  the servers that a workspace names for itself, over pipes, too
    routes      the endpoints of servers

The protocol itself is the official SDK's, and its types are seen where sessions are only. A server
is not trusted: what it sends is bounded, and what it says is told to the model as what it is, the
output of a tool.
"""
