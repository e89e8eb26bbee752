"""Several processes behind one address: `promptcorner serve --processes N`.

`sockets` the address, once for each of them · `membership` what a process knows of its parent, and
tells it · `family` the parent: starts them, starts them again, passes on what it is told to do.

The parent serves nobody, and knows no chat and no database.
"""
