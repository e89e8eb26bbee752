"""Chats whose parent is a step of another chat.

rules    who may spawn what, what a child is told, what is said of it to its parent   (pure)
places   how many children there may be, also where several are spawned at once       (pure)
ports    what is asked about a family of chats
waiting  until children have settled: by their news, never by asking again and again
"""
