"""Servers of tools: set up by administrators, connected to by users.

servers   the rows at /organizations/{organization}/mcp-servers
checking  what is written of one                                  (pure)
shown     what is seen of one                                     (pure)
readers   whose chats may use one
oauth     a user logs in there, and takes that back
"""
