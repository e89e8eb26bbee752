"""Terminals of people in workspaces: a shell in the sandbox in which commands of chats run.

wire        the messages between a terminal and its watchers, and its scroll-back    (pure)
terminal    one terminal: its shell, its watchers, and its end
terminals   the terminals that run in this process
sharing     terminals of other processes of this machine, reached over sockets
routes      the endpoints of terminals
"""
