"""Policy hooks: the server that is asked about prompts and calls.

wiring      the hooks, put together
dispatcher  asks the server, within its bounds, and counts
signing     what a question looks like on the wire, and the token that proves whose it is   (pure)
replies     reads the server's answers, strictly                                            (pure)
"""
