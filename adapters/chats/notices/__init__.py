"""Notices: what users and other programs are told of without watching.

inbox         the inbox of a user, on PostgreSQL
inbox_feeds   inboxes as they are watched
inbox_routes  the inbox over the API
outbox        events on their way to webhooks and devices
preferences   kinds of notices that a user has switched off, stored and over the API
push          notices for browsers that do not show the page
webhooks      programs of others that are told of events
wiring        all parts, put together
wording       the words of notices                                                (pure)
"""
