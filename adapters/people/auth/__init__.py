"""Authentication: tokens, passwords, sessions of browsers, tickets of streams.

callers       the callers of requests
open_streams  streams, which end with the token that opened them
passwords     hashes of passwords, and how often a login may be tried
signing       texts that we sign, and the cookies of a session
wiring        the parts of this room, put together
"""
