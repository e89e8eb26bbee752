"""Servers of tools that speak MCP: what is set up, how they are reached, what they say.

servers    a server as it is set up, and whose chats use it          (pure)
known      all that are set up, kept in memory; users' tokens
naming     what their tools are called here                          (pure)
showing    the headers by which a server knows for whom we ask       (pure)
mending    halves of characters in what they say                     (pure)
tolerant   what they say, as the SDK takes it                        (pure)
reaching   a server behind HTTP, and how much of what it sends is read
speaking   a session with a server; the SDK, loaded late
sessions   the sessions of chats at work
listing    the tools of a server
oauth      tokens of users: where they come from, how they are fetched and given up
renewing   a user's token, renewed before it runs out
opening    all of it, put together
workspaces those that a workspace names for itself, over pipes, too

The protocol itself is the official SDK's, and its types are seen where sessions are only. A server
is not trusted: what it sends is bounded, and what it says is told to the model as what it is, the
output of a tool.
"""
