"""Measurements of `bench.web` in a browser, one module for each kind of use.

tabs       tabs of a browser, what a tab counts, and texts for the answers
reading    a long chat is opened and scrolled, and what that loads
lists      a list of ten thousand chats, and news of one of them
streaming  a fast answer, keys beside it, four columns, and a network that comes back
serving    the daemon's own share of the cost of pages
"""
