"""The tools of servers that speak MCP, as a chat's tools.

source   the tools that a chat has, listed once for a turn, and a call of one
results  what a call comes to                                                              (pure)
search   a catalogue and a search, where there are too many to tell the model of at once   (pure)
"""
