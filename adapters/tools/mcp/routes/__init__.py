"""The endpoints of servers of tools: set up by administrators, connected to by users.

all_routes  all of them, with what they need
servers     the endpoints of servers, and of who may use one
schemas     the JSON of a server, the rules for what is written, and what is shown
oauth       the endpoints by which a user logs in at a server
"""
