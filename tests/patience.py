"""How long a test waits for what a real machine does in its own time: enough for a busy one.

It bounds a test that has gone wrong; a green one waits for much less. Where a test is about time
itself, it uses trio's virtual clock, or makes the product's own time so long that what comes within
this patience cannot have come because of it.
"""

PATIENCE_SECONDS = 60.0
