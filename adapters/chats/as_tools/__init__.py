"""Chats as tools of an MCP server, for agents elsewhere that start and follow chats here.

routes    the endpoint: messages of the protocol, and calls of tools
tools     the tools: their arguments, the rows of the API that they ask, what is told of the answers
protocol  messages of MCP over streamable HTTP, as they are read and answered    (pure)
"""
