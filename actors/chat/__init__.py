"""One leased chat: the actor that drives it from `running` to rest.

decide        what a new view of the stored chat means for the work in flight      (pure)
actor         the shell: mailbox, one task at a time, its scope
interruption  task: keep what was said, close what is open
partials      what is kept of an attempt that was cut short                        (pure)
awaiting      tasks that only wait: for a client, for the time of the next attempt
"""
