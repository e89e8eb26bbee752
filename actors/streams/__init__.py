"""Streams: what watchers of chats follow, here and across the processes of one database.

For other rooms:
    pieces                what watchers are shown while an attempt runs: parts, and bits of parts
    previews              the logs of these pieces, one for each attempt
    feeds.registry        the feeds of chats and of lists that are watched here: open, subscribe
    feeds.chat_feed       the feed of one chat: learns what becomes of it, and tells it in a log
    feeds.diff            the events that tell how a chat differs from what its watchers know
    feeds.events          what a watcher of a chat is told beside pieces
    feeds.log             the log of a feed, the cursors of its readers, why a feed ends
    feeds.owner_feed      the feed of a user's list of chats
    feeds.ports           what feeds ask of the store, of the encoding and of other processes
    feeds.subscription    the subscriptions of watchers
    relay.exchange        what two processes say to each other, and the port of a connection
    relay.link            the attempts followed at one other process, over one connection
    relay.peer_session    the attempts that another process follows here
    relay.relays          the links to all other processes

Inside:
    feeds/                watchers of chats and of lists: feeds, logs, subscriptions
    relay/                attempts that run in other processes: followed there, mirrored here
"""
