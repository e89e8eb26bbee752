"""The law of the stored chat: what may happen to it, and what then holds. Pure, no I/O.

Read `states` and `table` first (which request is allowed where), then `transitions` (what each
does), then `change` (which counters move). The store applies the law inside its transactions; the
database only checks what the law computed.

For other rooms:
ids          the ids of users, chats, files and processes, and how they print
chat         a chat as it is stored: columns, messages, the queue, approvals
states       the status of a chat, and the state that follows from its columns
requests     what may be asked of a stored chat
transitions  what each request does: the whole of the law in one function
change       what a transition does, as data
closing      calls without a result, and results made up for them
table        which request is allowed from which state
refusals     why a request was refused
answers      the words of denied calls, and what follows from answers and decisions
parts/       the parts of a message, deltas, prompts
failures/    how a failed call of a provider is classified and worded
store/       the ports of the store, and the news of its commits

Inside:
queueing     the rules of the queue
log_events   every log entry of the actors
diagram/     draws docs/states.md from the table
"""
