"""HTTP: what every route stands on.

For other rooms:
compression       large answers for clients that take them compressed
door              lets callers in, calls their handlers, and answers whatever happens
endpoints         the rows of the API: calls, callers, scopes, responses, sockets
files             names of files and media types of uploads
health            the probes, and what the deployment says of itself
host.bounds       what one client may cost, and all of them together
host.capacity     how many connections there may be
host.listeners    where a server listens
host.server       the server: connections, requests and sockets
host.tls          the TLS context of a certificate
host.websockets   frames of sockets
openapi_page      /openapi.json and /docs
origins           the addresses of clients, of this daemon, and of pages that may call it
refusals          refusals of requests, and the bodies of these answers
requests          a request before it is let in
routing           the row that a method and a path lead to
schemas           schemas of the document, as generators of types want them, and marks for them

Inside:
host              HTTP/1.1 and WebSocket on trio
openapi_document  the rows as an OpenAPI document
"""
