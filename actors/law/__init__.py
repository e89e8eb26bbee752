"""The law of the stored chat: what may happen to it, and what then holds. Pure, no I/O.

Read `states` and `table` first (which request is allowed where), then `transitions` (what each
does), then `change` (which counters move). The store applies the law inside its transactions;
the database only checks what the law computed.
"""
