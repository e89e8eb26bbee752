"""The endpoints of servers of tools: set up by administrators, connected to by users.

all_routes  all of them, with what they need
servers     the endpoints of servers, and of who may use one
checking    the rules for what is written of a server    (pure)
schemas     the JSON of a server, and what is shown of one
oauth       the endpoints by which a user logs in at a server
"""
