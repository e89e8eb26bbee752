"""HTTP/1.1 and WebSocket on trio: bytes of clients in, requests out; responses in, bytes out.

Whatever the network does ends that connection, and nothing else.

bounds        what one client may cost, and all of them together
capacity      which connections have a place, and the share of file descriptors
conversation  one connection: h11, and a limit to every wait
listeners     where a server listens
responses     responses as bytes
server        all connections, and the way out
tls           TLS: its context, and the agreement with a client
websockets    how a connection becomes a WebSocket, how it lives, and its frames
"""
