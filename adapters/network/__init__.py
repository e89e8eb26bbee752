"""How this machine reaches others.

names  of hosts, looked up in threads of their own
"""
