"""Sessions with servers: the official SDK, and what of ours cannot be without it.

clients  a session with a server, over HTTP, SSE, or a transport of ours
pipes    a program that is spoken with over its standard streams
loading  loads both when a server is spoken with for the first time

The SDK takes most of a second and 25 MB to import, and most starts of a daemon lead to no server.
So nothing else imports it, nor these two, when a daemon starts: elsewhere its types stand in
annotations only.
"""
