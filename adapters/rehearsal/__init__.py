"""The rehearsal: a fake provider that speaks the wire formats of four vendors.

It serves tests, benchmarks and demonstrations, as a process of its own (`promptcorner
fake-provider`) or within another (`server.serve`). It shares no code with
`adapters.models.providers`: a fake that shares code with what it tests proves little.

For other rooms:
behaviour  what the model says, how fast, and what goes wrong         (pure)
settings   the settings of a behaviour, as flags, JSON and markers    (pure)
server     the model behind a socket; the only module that waits

Inside:
rehearsal  the model: a request becomes the steps of its answer       (pure)
dialogue   a request and its answer in words of no vendor             (pure)
answers    the answer to a request under a behaviour                  (pure)
pacing     an answer as steps in time                                 (pure)
metronome  the one task that performs the timed steps of all answers
wires      the wire formats of the vendors                            (pure)

Costs, measured on one of two busy cores: a paced delta 20 us of CPU (1,000 streams, 20 deltas a
second each), 8 of them the kernel's; an unpaced one 9; a request 280 us; a connection that waits
for its first token 17 KB, 5,000 of them 1.7 % of a core.
"""
