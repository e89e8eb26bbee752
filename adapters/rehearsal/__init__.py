"""The rehearsal model: a provider that is not one, on the real wire formats of four vendors.

It serves tests, benchmarks and demonstrations, as a process of its own (`promptcorner
fake-provider`) or within another (`server.serve`). It shares no code with
`adapters.models.providers`: a fake that shares code with what it tests proves little.

`behaviour` says what it does, as data; `settings` reads that from flags, JSON and markers in a
message; `answers` makes of a request what is said; `wires` write it as a vendor would; `pacing`
cuts that into steps of time; `server` is the only module that waits.

What it costs, measured on one of two busy cores: a paced delta 20 us of CPU (1,000 streams, 20
deltas a second each), 8 of them the kernel's; an unpaced one 9; a request 280 us; a connection
that waits for its first token 17 KB, 5,000 of them 1.7 % of a core.
"""
