"""Speaking the protocol: the official SDK, and what of ours cannot be without it.

clients  a session with a server, over HTTP, SSE, or a transport of ours
streams  a transport, with what servers answer made fit for the SDK
pipes    a program that is spoken with over its standard streams
loading  all of them, when a server is spoken with for the first time

The SDK takes most of a second and 25 MB to import, and most starts of a daemon lead to no server.
So nothing else imports it, nor these three, when a daemon starts: elsewhere its types stand in
annotations only.
"""
