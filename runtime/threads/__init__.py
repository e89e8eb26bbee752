"""Threads for work that blocks. Each kind of work has its own, so that none waits for another's.

trio has one limiter for all work that names no other: when forty threads hang on a dead disk, no
name is looked up any more. Here every kind says how many threads it may have, in all and for one
key (a host, a workspace), and how long its callers wait.

Work that only looks is *read*: a caller that is cancelled leaves at once. Work that changes
something is *written*: its caller waits a moment longer, so that mostly nothing is left behind
half done; what still runs then goes on to its end, and whatever comes for the same key waits for
it.

limits  how many threads each kind of work may have
work    what is run in them: `read`, `write`
"""
