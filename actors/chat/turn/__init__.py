"""A turn of a chat: what is done next, and doing it.

next_action  what comes next, read off the history                                 (pure)
generation   task: one attempt at one action
answering    ask a model, show its answer as it comes, under two guards
tool_batch   run the local calls of a step together, journalled
steps        the messages that a step is committed as                              (pure)
retries      which failed attempts are made again, when, how often                 (pure)
commits      every write fenced, its answer turned into what holds now
patience     a store that is away for a moment is asked again
work         what a task is given, and how it ends                                 (pure)
causes       why work is told to stop                                              (pure)
ports        what is asked of the deps
deps        all of it together, with the limits
"""
