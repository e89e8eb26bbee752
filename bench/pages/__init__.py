"""What `bench.web` measures in a browser, one module for each kind of thing that a person does.

tabs       the daemon, the browser, its tabs, and what a tab counts
reading    opening and scrolling a long chat, and what is loaded
lists      a list of ten thousand chats, and news of one of them
streaming  a fast answer, keys beside it, four columns, and a network that comes back
serving    what the daemon spends on pages
"""
