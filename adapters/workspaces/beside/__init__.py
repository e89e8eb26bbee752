"""Commands of chats that run in other processes on this machine: known to all that share its data
directory, as workspaces are.

wire   what two processes say to each other        (pure)
peers  asking the others, and answering them
"""
