"""Chats: the routes by which users work with them, and what is stored for that.

For other rooms:
    as_tools.routes           chats as tools of an MCP server
    changes.overview          the state of users' tokens at forges
    changes.wiring            branches and pull requests of chats, put together
    files.routes              the routes of files
    files.store               files that users bring and chats make, and their contents for models
    housekeeping.erasing      erasing families of chats, and what else users have
    housekeeping.holds        legal holds, on PostgreSQL
    housekeeping.schemas      housekeeping as JSON
    housekeeping.wiring       housekeeping, put together
    notices.wiring            the inbox, pushed notices and webhooks, put together
    new_chats                 requests for new chats, field by field
    overview_rows             rows and records of overviews                               (pure)
    overviews                 chats as their users see them, pins, on PostgreSQL
    request_repeats           requests that come again under the name that they had before
    routes.chat_list          the list of chats and its search
    routes.chats              chats: created, shown, changed, their cost
    routes.desktop            the desktop of a chat, watched
    routes.messages           messages: read in pages, sent, edited
    routes.not_implemented    endpoints that clients know and that do nothing here
    routes.processes          the commands of a chat, followed while they run
    routes.pull_requests      the diffs that forges tell, and users' tokens there
    routes.queue              the queue of a chat
    routes.sharing            who may read a chat besides its owner
    routes.titles             titles asked of a model
    routes.turns              turns: interrupted, answered by the client's tools, compacted
    streams.events            the events of streams, encoded and packed
    streams.routes            the routes of streams
    streams.wiring            streams: all their parts, put together
    upkeep_stores             titles and summaries on PostgreSQL
    wire.chats                chats as clients see them
    wire.cutting              large results as lists show them
    wire.diffs                pull requests and branches as clients see them
    wire.messages             messages, parts and errors as clients see them
    wire.sending              pages of messages, and requests and responses around messages

Inside:
    as_tools/                 chats as tools of an MCP server
    changes/                  branches of chats, and what forges say of them
    content                   the content of a request made into the parts of a message
    files/                    files of chats
    housekeeping/             what goes when it is old, what may not go, what users have erased
    notices/                  what users and other programs are told of without watching
    routes/                   one module for each subject
    streams/                  chats and lists of chats as they are watched
    wire/                     schemas, and how they are made of our types                 (pure)
"""
