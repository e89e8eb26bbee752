"""The tools of servers that speak MCP, as a chat's tools.

source   which a chat has, and a call of one
turns    what is listed once for a turn
results  what a call comes to                                                           (pure)
finding  too many to tell the model of at once: a catalogue, a search, what was found   (pure)
"""
