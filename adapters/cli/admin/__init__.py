"""Commands for admins, which ask a running daemon over its API as any other client does.

connection    asks a daemon: its address, the token, requests and how answers are printed
users         runs `promptcorner users`
tokens        runs `promptcorner tokens`
providers     runs `promptcorner providers`
approvals     runs `promptcorner approvals`
workspaces    runs `promptcorner workspaces`
usage         runs `promptcorner usage`
housekeeping  runs `promptcorner housekeeping`
"""
