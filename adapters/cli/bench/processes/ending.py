"""The end of a process of a run: it has come when the command that started it is gone.

The command holds the other end of our standard input. The system closes it however the command
ends, SIGKILL included, so no process of a run outlives it.
"""

import os
import resource

import trio

READ_BYTES = 4096


async def until_input_ends(scope: "trio.CancelScope") -> None:
    """Wait for the end of standard input, then cancel the scope."""
    async with trio.lowlevel.FdStream(os.dup(0)) as stream:
        while await stream.receive_some(READ_BYTES):
            pass
    scope.cancel()


def allow_many_connections() -> None:
    """Raise the limit of open files as far as allowed: the default is meant for other programs."""
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
