"""What a chat is called: at once by its first words, a little later by what it is about.

fallback   the title that a chat is born with                                      (pure)
wording    how a model is asked for a better one, and what is made of its answer   (pure)
asking     until there is a title, or cannot be
automatic  the job that asks, once in a chat's life
ports      what it needs
"""
