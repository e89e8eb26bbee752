"""Commands that run in workspaces, on this machine.

process_groups  programs that end with this process, however it ends
bubblewrap      the arguments of bwrap, which say what a command sees of the machine    (pure)
sandbox         how commands are run: in the sandbox, without one, or not at all
processes       the commands that run in this process, and what they have written
peer_sockets    sockets by which the processes of this machine find each other
peers           commands that run in other processes of this machine
"""
