"""Servers of tools that a workspace names for itself, in its `.mcp.json`.

filling        variables in what stands in the file                     (pure)
named          what stands in the file                                  (pure)
server_starts  the tool by which a model starts one, and its consent    (pure)
server         one that is named: begun when it is needed, again when it broke, but not for ever
running        those of all workspaces of this process

Whoever can write to a workspace can write this file, so nothing is begun because of it that a
command could not do, and nothing without the consent that a command needs. Programs run where
commands do; addresses are followed only if commands have a network, and then as those of strangers
are.
"""
