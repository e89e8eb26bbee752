"""Feeds: one for each chat, or list of chats, that is watched here, and cursors into its log.

registry        all feeds of this process
chat_feed       the feed of one chat: learns what becomes of it, and tells it
owner_feed      the feed of a user's list of chats
shared_news     finds those with whom a chat is shared, when there is news of it
subscription    what one watcher holds: a cursor into the log of a feed
log             the log: events encoded once, in order; why a feed ends
diff            the events that tell how a chat differs from what is known of it   (pure)
events          what a watcher of a chat is told                                    (pure)
reading         reads a chat for its watchers, again if it fails
ports           what feeds ask of the store, the encoding and other processes
"""
