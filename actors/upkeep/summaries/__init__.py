"""What lists say of a chat: how its latest turn ended, in a few words, and what it is about.

ended       what the end of a turn asks for, and what it is made of   (pure)
wording     how a model is asked, and what is made of its answer      (pure)
automatic   the jobs that ask, beside everything else
ports       what they need
"""
