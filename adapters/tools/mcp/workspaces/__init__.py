"""Servers of tools that a workspace names for itself, in its `.mcp.json`.

    config_file   the servers that the file names, and the variables in it          (pure)
    named_server  one server: what starts it with whose consent, and how it runs
    servers       those of all workspaces of this process

Everybody who can write to a workspace can write this file, so nothing is begun because of it that a
command could not do, and nothing without the consent that a command needs. Programs run where
commands do; addresses are followed only if commands have a network, and then as those of strangers
are.
"""
