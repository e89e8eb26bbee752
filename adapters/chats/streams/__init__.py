"""Streams to clients: events as bytes, bytes as frames, frames to whoever watches.

`encoding` an event · `packing` many of them · `positions` what a client says that it has ·
`serving` a socket · `event_stream` the same as SSE · `watching` an owner's chats · `read_cursors`
what owners have seen · `routes` the rows · `opening` all of it together.
"""
