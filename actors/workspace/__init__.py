"""Where a chat works: files and commands, asked for through a port.

editing   an edit of a text: where it fits, and what comes of it        (pure)
lines     texts as lines, their indents and endings                     (pure)
hints     why an edit fits nowhere                                      (pure)
"""
