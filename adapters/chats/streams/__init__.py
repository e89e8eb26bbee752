"""Streams to clients: chats and lists of chats as they are watched.

routes     the endpoints, and the position that a client says it has
serving    a watcher at a WebSocket or an event stream
events     events and pieces of attempts: encoded once, packed into frames     (pure)
reading    what feeds read of the store
viewers    watchers who may lose access; what owners have seen
working_trees  the changes in the repositories of a chat's workspace
wiring     all of it put together
"""
