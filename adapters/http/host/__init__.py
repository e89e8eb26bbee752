"""HTTP/1.1 and WebSocket on trio: bytes of strangers in, requests out; answers in, bytes out.

`bounds` what a client may cost · `requests` what is asked · `conversation` one connection: h11,
and a limit to every wait · `upgrading` who may become a WebSocket · `frames` bytes that all sockets
share · `sockets` one WebSocket · `answering` what was decided, as bytes · `securing` TLS ·
`server` all of them, and the way out · `capacity` how many there may be, and which gives way.

Whatever the network does is an end of that connection, and of nothing else.
"""
