"""The relay: attempts that run in other processes, followed there and mirrored here.

exchange        what two processes say to each other, and the port of a connection  (pure)
relays          the links to all other processes
link            an actor that follows attempts at one process, and their mirrors here
peer_session    the attempts that another process follows here: cursors into their previews
"""
