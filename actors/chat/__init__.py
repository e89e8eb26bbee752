"""One leased chat: the actor that drives it from `running` to rest, and its turn.

For other rooms:
    actor             runs a chat: its mailbox, one piece of work at a time, the scope of that work
    api               the mail of a chat actor, and the functions that send it
    histories         the histories that this process has read, kept for the next turns
    turn.answering    asks a model once, and shows the answer as it comes
    turn.deps         what turns ask for, and their limits
    turn.next_action  the names by which tools may be called
    turn.ports        what a chat asks of models, tools, prompts, titles, costs and telemetry
    turn.spending     sets money aside for calls, under limits
    turn.retries      which failed attempts are made again, when, how often
    turn.steps        the messages that a step is committed as
    turn.work         what a task is given, how it ends, why it is stopped; an attempt

Inside:
    decide            the rules: what a new view of the stored chat means for the work in flight
    interruption      the task that ends an interrupted turn and keeps what was said
    waits             tasks that only wait: for a client or a person, for the next attempt
    turn/             what is done next in a turn, and doing it
"""
