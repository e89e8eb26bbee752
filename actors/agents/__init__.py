"""Chats that another chat has spawned: its agents.

For other rooms:
rules    who may spawn what, how many there may be, what an agent is told, and what its parent reads
ports    what is asked about a family of chats
waiting  waiting until agents have settled, by the news of their commits
"""
