"""The parent of several processes behind one address: `promptcorner serve --processes N`.

loop       starts the processes, restarts them, passes signals on, and ends with them
children   keeps what the parent knows of each of them
starting   starts a process: as a copy of the parent, or as a program
addresses  binds their sockets
"""
