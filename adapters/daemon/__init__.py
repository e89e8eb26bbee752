"""The daemon: how its parts are wired, its metrics, several processes behind one address, systemd.

For other rooms:
    daemon           runs the daemon: the composition root
    parent.loop       runs several processes and restarts them
    parent.addresses  binds their sockets
    parent.starting   starts one of them, as a copy of the parent or as a program
    listening.daemons        tells commands on this machine where a daemon listens
    listening.certificates   tells of the certificate that a daemon shows, and believes no other
    listening.trusted_files  tells whether such a file may be believed
    membership       tells a process its place among several
    systemd          tells systemd that the daemon is ready, stopping, alive

Inside:
    chat_wiring      puts together what runs chats
    store_wiring     puts together the durable store
    kept_memory      how much memory a process uses for what it keeps
    provider_wiring  puts together what speaks with providers
    entry            answers probes until the door is opened, and again at the end
    route_wiring     puts together the routes and the door before them
    relay_wiring     puts together the relay between processes
    text_values      says which texts of the API have only some values, and which
    listening/       keeps the files that say where daemons listen
    parent/          the parent of several processes
    metrics/         counts for Prometheus
"""
