"""Streams to clients: events as bytes, bytes as frames, frames to whoever watches.

`encoding` an event · `packing` many of them, for a WebSocket or for SSE · `positions` what a client
says that it has · `serving` one watcher · `watching` an owner's chats · `read_cursors` what owners
have seen.
"""
