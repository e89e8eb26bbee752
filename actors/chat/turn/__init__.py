"""A turn of a chat: what is done next, and doing it.

next_action  what comes next, read off the history; pure
generation   the task of one attempt at one action
answering    asks a model and shows its answer as it comes, under two guards
tool_batch   runs the local calls of a step together, journalled
steps        the messages that a step is committed as; pure
hooks        the policy hooks: when they are asked, and what they make of a step
scribe       asks a model to sum up a conversation, plainly or in parts
spending     sets money aside for calls under limits, and says what follows from these; pure
retries      which failed attempts are made again, when, how often; pure
commits      writes for a chat, fenced, and returns what holds now
work         what a task is given, how it ends, why it is stopped; an attempt
ports        what a chat asks of the world
deps         all of it together, with the limits
"""
