"""What the daemon does. Knows the kernel; asks for the world through ports.

ids        names of things, and how they print
parts      what is said: the pieces of a message
machine    the law of the stored chat: what may happen to it, and what then holds
store      what is asked of the store, and what it announces
"""
